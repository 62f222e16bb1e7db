"""Decisions: places where an option or a local backend value is set, chosen or replaced."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sgl_audit.extract.backends import is_member, is_text_choice, literal_of
from sgl_audit.extract.context import FileContext
from sgl_audit.extract.dispatch import Setting, dispatches, fallback
from sgl_audit.extract.guards import guard_of
from sgl_audit.extract.literals import called_name, scalar
from sgl_audit.extract.machine.scopes import Scope
from sgl_audit.extract.subjects import is_arguments
from sgl_audit.extract.walker import Condition, Visit
from sgl_audit.model.facts import Decision, DecisionKind
from sgl_audit.model.guard import Atom, AtomKind, Guard, atoms
from sgl_audit.syntax.text import one_line

_LOCAL_WORDS = ("backend", "runner", "impl", "default", "kernel")
# Values that mean something else outside an option.
_GENERIC = frozenset({"auto", "none", "default", "fp8", "cpu", "file", "torch", "static", "full"})


def decisions_at(context: FileContext, visit: Visit) -> Iterator[Decision]:
    """The decisions one statement makes."""
    scope = visit.function.scope
    for setting in _settings(context, visit, scope):
        for value, conditions in arms(setting.value, (*visit.conditions, *setting.conditions)):
            anchor = setting.place if value is setting.value else value
            yield _decision(context, visit, setting, value, conditions, anchor)


def arms(
    value: ast.expr, conditions: tuple[Condition, ...]
) -> Iterator[tuple[ast.expr, tuple[Condition, ...]]]:
    """The possible values of a conditional expression, each with its conditions."""
    if isinstance(value, ast.IfExp):
        yield from arms(value.body, (*conditions, Condition(value.test, True)))
        yield from arms(value.orelse, (*conditions, Condition(value.test, False)))
    else:
        yield value, conditions


def _decision(
    context: FileContext,
    visit: Visit,
    setting: Setting,
    value: ast.expr,
    conditions: tuple[Condition, ...],
    anchor: ast.expr | ast.stmt,
) -> Decision:
    guard = guard_of(context, conditions, visit.function.scope)
    unread = not_understood(guard)
    return Decision(
        setting.option,
        one_line(context.parsed, value),
        literal_of(context, value) if setting.literal is None else setting.literal,
        setting.kind,
        guard,
        context.parsed.place(anchor),
        visit.function.name,
        line_of(context, anchor),
        not unread,
        f"the machine test `{unread[0].text}` was not understood" if unread else None,
    )


def not_understood(guard: Guard) -> list[Atom]:
    """The machine tests of a guard whose capabilities are not known."""
    return [
        atom
        for atom in atoms(guard)
        if atom.kind in (AtomKind.GATE, AtomKind.PLATFORM) and atom.capabilities is None
    ]


def line_of(context: FileContext, node: ast.expr | ast.stmt) -> str:
    """The source line on which a node begins."""
    return context.parsed.lines[node.lineno - 1].decode(errors="replace").strip()


def _settings(context: FileContext, visit: Visit, scope: Scope) -> Iterator[Setting]:
    node = visit.node
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _assigned(context, node, target, value, scope)
        case ast.AnnAssign(target=target, value=value) if value is not None:
            if not isinstance(scope.node, ast.ClassDef):
                yield from _assigned(context, node, target, value, scope)
        case ast.Return(value=value) if value is not None:
            yield from _returned(context, visit, value)
            yield from fallback(context, visit, value)
        case ast.Expr(value=ast.Call() as call):
            yield from _called(context, call, scope)
        case ast.If():
            yield from dispatches(context, visit, node)


def _assigned(
    context: FileContext, node: ast.stmt, target: ast.expr, value: ast.expr, scope: Scope
) -> Iterator[Setting]:
    kind, name = _target(context, target, value, scope)
    if name is not None and kind is not None and not _copies(context, name, value, kind):
        yield Setting(name, value, kind, node)
    yield from _declared(context, value)


def _target(
    context: FileContext, target: ast.expr, value: ast.expr, scope: Scope
) -> tuple[DecisionKind | None, str | None]:
    index = context.index
    match target:
        case ast.Attribute(value=owner, attr=name) if name in index.options:
            if is_arguments(context, owner, scope):
                return DecisionKind.ASSIGNMENT, name
            if name in index.backend_options:
                return DecisionKind.LOCAL, name
        case ast.Subscript(slice=ast.Constant(value=str() as name)) if name in index.options:
            return DecisionKind.DECLARED, name
        case ast.Name(id=name) | ast.Attribute(attr=name):
            if _is_backend_name(context, name) or _chooses(context, name, value):
                return DecisionKind.LOCAL, name
    return None, None


def _is_backend_name(context: FileContext, name: str) -> bool:
    plain = name.lstrip("_").lower()
    return (
        plain in context.index.backend_options
        or plain.endswith(("_backend", "runner_backend"))
        or plain == "backend"
    )


def _chooses(context: FileContext, name: str, value: ast.expr) -> bool:
    word = any(part in name.lower() for part in _LOCAL_WORDS)
    return any(
        is_member(context, item) or (word and _is_choice(context, item))
        for item, _ in arms(value, ())
    )


def _is_choice(context: FileContext, node: ast.expr) -> bool:
    value = scalar(node)
    return isinstance(value, str) and value in context.index.values and value not in _GENERIC


def _copies(context: FileContext, name: str, value: ast.expr, kind: DecisionKind) -> bool:
    """Whether an assignment only hands a value on: `self.x = server_args.x`, `self.x = x`."""
    if kind is DecisionKind.ASSIGNMENT:
        return False
    match value:
        case ast.Name(id=other):
            return True if kind is DecisionKind.LOCAL else other == name
        case ast.Attribute() if not is_member(context, value):
            return kind is DecisionKind.LOCAL
        case ast.Call() | ast.Await() | ast.Lambda():
            enum = isinstance(value, ast.Call) and called_name(value) in context.index.backend_enums
            return kind is DecisionKind.LOCAL and not enum
        case ast.Constant(value=None):
            return kind is DecisionKind.LOCAL
    return False


def _returned(context: FileContext, visit: Visit, value: ast.expr) -> Iterator[Setting]:
    yield from _declared(context, value)
    function = visit.function.name.rpartition(".")[2]
    named = "backend" in function.lower() or "runner" in function.lower()
    for item, _ in arms(value, ()):
        if is_member(context, item) or (named and is_text_choice(context, item)):
            option = _option_of_function(context, function)
            yield Setting(option, value, DecisionKind.RETURNED, visit.node)
            return


def _option_of_function(context: FileContext, function: str) -> str:
    """The option a function chooses for, where its name says so; else the function itself."""
    plain = function.strip("_").lower()
    for prefix in ("get_default_", "get_", "select_", "resolve_", "default_"):
        plain = plain.removeprefix(prefix)
    candidates = (plain, plain.replace("attn", "attention"))
    found = next((name for name in candidates if name in context.index.options), None)
    return found or function


def _called(context: FileContext, call: ast.Call, scope: Scope) -> Iterator[Setting]:
    name = called_name(call)
    match call.func:
        case ast.Attribute(value=ast.Attribute(attr=variable), attr="set") if call.args:
            if variable in context.index.machines.variables:
                yield Setting(variable, call.args[0], DecisionKind.ASSIGNMENT, call)
                return
    if name == "setattr" and len(call.args) == 3:
        match call.args[1]:
            case ast.Constant(value=str() as option) if option in context.index.options:
                yield Setting(option, call.args[2], DecisionKind.ASSIGNMENT, call)
        return
    if name in ("setdefault", "update") and call.args:
        match call.args:
            case [ast.Constant(value=str() as option), value] if option in context.index.options:
                yield Setting(option, value, DecisionKind.DECLARED, call)
    given = any(is_arguments(context, item, scope) for item in call.args)
    if given or name in ("update", "override", "replace", "_replace"):
        for item in call.keywords:
            if item.arg in context.index.options and item.arg is not None:
                yield Setting(item.arg, item.value, DecisionKind.DECLARED, item.value)
    for argument in call.args:
        yield from _declared(context, argument)


def _declared(context: FileContext, value: ast.expr) -> Iterator[Setting]:
    """The options in a dictionary of overrides, written as `{...}` or `dict(...)`."""
    for item, _ in arms(value, ()):
        pairs: list[tuple[str, ast.expr]] = []
        match item:
            case ast.Dict(keys=keys, values=values):
                for key, inner in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        pairs.append((key.value, inner))
            case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
                pairs = [(word.arg, word.value) for word in keywords if word.arg is not None]
        if pairs and all(name in context.index.options for name, _ in pairs):
            for name, inner in pairs:
                yield Setting(name, inner, DecisionKind.DECLARED, inner)
