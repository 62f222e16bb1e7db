"""Decisions: places where an option or a local backend value is set, chosen or replaced."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from sgl_audit.extract.context import FileContext
from sgl_audit.extract.guards import guard_of
from sgl_audit.extract.literals import called_name, scalar
from sgl_audit.extract.machine.scopes import Scope
from sgl_audit.extract.subjects import is_arguments, option_of
from sgl_audit.extract.walker import Condition, Visit
from sgl_audit.model.facts import Decision, DecisionKind, Scalar
from sgl_audit.model.guard import Atom, AtomKind, Guard, atoms
from sgl_audit.syntax.text import one_line

_LOCAL_WORDS = ("backend", "runner", "impl", "default", "kernel")
# Values that mean something else outside an option.
_GENERIC = frozenset({"auto", "none", "default", "fp8", "cpu", "file", "torch", "static", "full"})


@dataclass(frozen=True, slots=True)
class _Setting:
    """One value given to one name, before its arms are told apart."""

    option: str
    value: ast.expr
    kind: DecisionKind
    place: ast.expr | ast.stmt


def decisions_at(context: FileContext, visit: Visit) -> Iterator[Decision]:
    """The decisions one statement makes."""
    scope = visit.function.scope
    for setting in _settings(context, visit, scope):
        for value, conditions in arms(setting.value, visit.conditions):
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
    setting: _Setting,
    value: ast.expr,
    conditions: tuple[Condition, ...],
    anchor: ast.expr | ast.stmt,
) -> Decision:
    guard = guard_of(context, conditions, visit.function.scope)
    unread = not_understood(guard)
    return Decision(
        setting.option,
        one_line(context.parsed, value),
        literal_of(context, value),
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


def literal_of(context: FileContext, node: ast.expr) -> Scalar:
    """The value of a constant or of an enum member."""
    match node:
        case ast.Attribute(value=ast.Name(id=enum), attr=member) if enum in context.index.enums:
            return context.index.enums[enum].get(member) or member
        case ast.Attribute(value=ast.Attribute(value=inner), attr="value"):
            return literal_of(context, inner)
        case ast.Call(func=ast.Name(id=enum), args=[inner]) if enum in context.index.enums:
            return literal_of(context, inner)
    return scalar(node)


def _settings(context: FileContext, visit: Visit, scope: Scope) -> Iterator[_Setting]:
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
        case ast.Expr(value=ast.Call() as call):
            yield from _called(context, call, scope)
        case ast.If():
            yield from _dispatched(context, node, scope)


def _assigned(
    context: FileContext, node: ast.stmt, target: ast.expr, value: ast.expr, scope: Scope
) -> Iterator[_Setting]:
    kind, name = _target(context, target, value, scope)
    if name is not None and kind is not None and not _copies(context, name, value, kind):
        yield _Setting(name, value, kind, node)
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
        _is_member(context, item) or (word and _is_choice(context, item))
        for item, _ in arms(value, ())
    )


def _is_member(context: FileContext, node: ast.expr) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id=enum), attr=member):
            members = context.index.enums.get(enum, {})
            return enum in context.index.backend_enums and member in members
    return False


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
        case ast.Attribute() if not _is_member(context, value):
            return kind is DecisionKind.LOCAL
        case ast.Call() | ast.Await() | ast.Lambda():
            enum = isinstance(value, ast.Call) and called_name(value) in context.index.backend_enums
            return kind is DecisionKind.LOCAL and not enum
        case ast.Constant(value=None):
            return kind is DecisionKind.LOCAL
    return False


def _returned(context: FileContext, visit: Visit, value: ast.expr) -> Iterator[_Setting]:
    yield from _declared(context, value)
    function = visit.function.name.rpartition(".")[2]
    named = "backend" in function.lower() or "runner" in function.lower()
    for item, _ in arms(value, ()):
        if _is_member(context, item) or (named and _is_text_choice(context, item)):
            option = _option_of_function(context, function)
            yield _Setting(option, value, DecisionKind.RETURNED, visit.node)
            return


def _is_text_choice(context: FileContext, node: ast.expr) -> bool:
    value = scalar(node)
    return isinstance(value, str) and value in context.index.values


def _option_of_function(context: FileContext, function: str) -> str:
    """The option a function chooses for, where its name says so; else the function itself."""
    plain = function.strip("_").lower()
    for prefix in ("get_default_", "get_", "select_", "resolve_", "default_"):
        plain = plain.removeprefix(prefix)
    candidates = (plain, plain.replace("attn", "attention"))
    found = next((name for name in candidates if name in context.index.options), None)
    return found or function


def _called(context: FileContext, call: ast.Call, scope: Scope) -> Iterator[_Setting]:
    name = called_name(call)
    if name == "setattr" and len(call.args) == 3:
        match call.args[1]:
            case ast.Constant(value=str() as option) if option in context.index.options:
                yield _Setting(option, call.args[2], DecisionKind.ASSIGNMENT, call)
        return
    if name in ("setdefault", "update") and call.args:
        match call.args:
            case [ast.Constant(value=str() as option), value] if option in context.index.options:
                yield _Setting(option, value, DecisionKind.DECLARED, call)
    given = any(is_arguments(context, item, scope) for item in call.args)
    if given or name in ("update", "override", "replace", "_replace"):
        for item in call.keywords:
            if item.arg in context.index.options and item.arg is not None:
                yield _Setting(item.arg, item.value, DecisionKind.DECLARED, item.value)
    for argument in call.args:
        yield from _declared(context, argument)


def _declared(context: FileContext, value: ast.expr) -> Iterator[_Setting]:
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
                yield _Setting(name, inner, DecisionKind.DECLARED, inner)


def _dispatched(context: FileContext, node: ast.If, scope: Scope) -> Iterator[_Setting]:
    asked = _asked_backend(context, node.test, scope)
    if asked is None:
        return
    subject, member = asked
    first = node.body[0]
    match first:
        case (
            ast.Return(value=ast.expr() as value) | ast.Assign(value=value) | ast.Expr(value=value)
        ):
            if any(isinstance(item, (ast.Call, ast.Name)) for item in ast.walk(value)):
                if not isinstance(value, ast.Constant):
                    yield _Setting(subject, member, DecisionKind.DISPATCH, node)
        case ast.If() | ast.With() | ast.ImportFrom() | ast.Import() | ast.For():
            yield _Setting(subject, member, DecisionKind.DISPATCH, node)


def _asked_backend(
    context: FileContext, test: ast.expr, scope: Scope
) -> tuple[str, ast.expr] | None:
    """The backend a test asks for: its subject and the expression that names the member."""
    for inner in [test, *(test.values if isinstance(test, ast.BoolOp) else [])]:
        match inner:
            case ast.Call(func=ast.Attribute(value=owner, attr=name)):
                if context.index.predicates.get(name):
                    return _subject(context, owner, scope), inner
            case ast.Compare(left=left, ops=[ast.Eq() | ast.In()], comparators=[right]):
                if _is_member(context, right) or (
                    _is_text_choice(context, right) and option_of(context, left, scope)
                ):
                    return _subject(context, left, scope), right
    return None


def _subject(context: FileContext, owner: ast.expr, scope: Scope) -> str:
    name = option_of(context, owner, scope)
    if name is not None:
        return name
    match owner:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call():
            return called_name(owner).removeprefix("get_")
    return one_line(context.parsed, owner)
