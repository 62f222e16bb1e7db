"""Lowering of statements into closures that take a frame and return a signal."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.blocks import (
    BREAK,
    CONTINUE,
    RETURN,
    STATEMENTS,
    Return,
    Split,
    lower_block,
    lower_statement,
    placed,
    sequence,
)
from sgl_audit.evaluate.closures import Frame, Run, lower_expression
from sgl_audit.evaluate.control import (
    lower_assert,
    lower_exit,
    lower_for,
    lower_handler,
    lower_if,
    lower_raise,
    lower_try,
    lower_while,
    lower_with,
    unbind_name,
)
from sgl_audit.evaluate.scopes import GLOBALS, Scope
from sgl_audit.evaluate.streams import Stream
from sgl_audit.evaluate.values import Instance, Raised, Undecidable, Value

if TYPE_CHECKING:
    from sgl_audit.evaluate.lowering import Lowering


def _expression(lowering: Lowering, node: ast.Expr, scope: Scope) -> Run | None:
    if isinstance(node.value, ast.Constant):
        return None
    value = silent_call(lowering, node.value, scope) or lower_expression(
        lowering, node.value, scope
    )
    place = lowering.place(node)

    def run(f: Frame) -> Value:
        try:
            value(f)
        except Raised as raised:
            if raised.place is None:
                raised.place = place
            raise
        except Undecidable as stop:
            if stop.where is None:
                stop.where = place
            raise
        return None

    return run


LOG_METHODS = frozenset(
    "debug info warning error exception critical log warning_once info_once warning_advice".split()
)


def silent_call(lowering: Lowering, node: ast.expr, scope: Scope) -> Run | None:
    """`logger.info(f"...")`: where the logger is silent its arguments run but no text is made."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return None
    if node.func.attr not in LOG_METHODS or any(isinstance(arg, ast.Starred) for arg in node.args):
        return None
    owner = lower_expression(lowering, node.func.value, scope)
    whole = lower_expression(lowering, node, scope)
    parts = [
        lower_expression(lowering, part, scope)
        for argument in (*node.args, *(keyword.value for keyword in node.keywords))
        for part in embedded(argument)
    ]

    def run(f: Frame) -> Value:
        logger = owner(f)
        if logger.__class__ is Instance and "silent" in logger.cls.data:
            for part in parts:
                part(f)
            return None
        return whole(f)

    return run


def embedded(node: ast.expr) -> list[ast.expr]:
    """The expressions inside a text, or the expression itself."""
    if isinstance(node, ast.JoinedStr):
        return [v.value for v in node.values if isinstance(v, ast.FormattedValue)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return embedded(node.left) + embedded(node.right)
    return [] if isinstance(node, ast.Constant) else [node]


def _assign(lowering: Lowering, node: ast.Assign, scope: Scope) -> Run:
    value = lower_expression(lowering, node.value, scope)
    stores = [lowering.assign(target, scope) for target in node.targets]
    place = lowering.place(node)
    if len(stores) == 1:
        (store,) = stores

        def single(f: Frame) -> Value:
            try:
                store(f, value(f))
            except Raised as raised:
                if raised.place is None:
                    raised.place = place
                raise
            except Undecidable as stop:
                if stop.where is None:
                    stop.where = place
                raise
            return None

        return single

    def several(f: Frame) -> Value:
        item = value(f)
        for store in stores:
            store(f, item)

    return placed(lowering, node, several)


def _annotated(lowering: Lowering, node: ast.AnnAssign, scope: Scope) -> Run:
    store = lowering.assign(node.target, scope) if node.value is not None else None
    value = lower_expression(lowering, node.value, scope) if node.value is not None else None
    name = node.target.id if isinstance(node.target, ast.Name) else None
    keep = scope.kind in ("class", "module")
    touch = lowering.machine.touch

    def run(f: Frame) -> Value:
        if keep and name is not None:
            owner: dict[str, Any] = f if scope.kind == "class" else f[GLOBALS]
            annotations = owner.get("__annotations__")
            if annotations is None:
                touch(owner)
                annotations = owner["__annotations__"] = {}
            touch(annotations)
            annotations[name] = lowering.annotation(node.annotation, scope, f)
        if store is not None and value is not None:
            store(f, value(f))

    return placed(lowering, node, run)


def _augmented(lowering: Lowering, node: ast.AugAssign, scope: Scope) -> Run:
    machine = lowering.machine
    value = lower_expression(lowering, node.value, scope)
    symbol = type(node.op).__name__
    target = node.target
    if isinstance(target, ast.Name):
        load = lowering.load(target.id, scope)
        store = lowering.assign(target, scope)

        def name(f: Frame) -> Value:
            store(f, machine.inplace(symbol, load(f), value(f)))

        return placed(lowering, node, name)
    base = lower_expression(lowering, target.value, scope)
    if isinstance(target, ast.Attribute):
        attr = target.attr

        def attribute(f: Frame) -> Value:
            owner = base(f)
            machine.setattr(
                owner, attr, machine.inplace(symbol, machine.getattr(owner, attr), value(f))
            )

        return placed(lowering, node, attribute)
    index = lower_expression(lowering, target.slice, scope)

    def item(f: Frame) -> Value:
        owner, key = base(f), index(f)
        machine.setitem(owner, key, machine.inplace(symbol, machine.getitem(owner, key), value(f)))

    return placed(lowering, node, item)


def _return(lowering: Lowering, node: ast.Return, scope: Scope) -> Run:
    if node.value is None:
        nothing = Return(None)
        return lambda f: nothing
    value = lower_expression(lowering, node.value, scope)
    place = lowering.place(node)

    def run(f: Frame) -> Value:
        try:
            return Return(value(f))
        except Raised as raised:
            if raised.place is None:
                raised.place = place
            raise
        except Undecidable as stop:
            if stop.where is None:
                stop.where = place
            raise

    return run


def _delete(lowering: Lowering, node: ast.Delete, scope: Scope) -> Run:
    machine = lowering.machine
    actions: list[Callable[[Frame], None]] = []
    for target in node.targets:
        if isinstance(target, ast.Name):
            actions.append(unbind_name(lowering, target.id, scope))
        elif isinstance(target, ast.Attribute):
            owner = lower_expression(lowering, target.value, scope)
            actions.append(lambda f, owner=owner, name=target.attr: machine.delattr(owner(f), name))  # type: ignore[misc]
        elif isinstance(target, ast.Subscript):
            owner = lower_expression(lowering, target.value, scope)
            key = lower_expression(lowering, target.slice, scope)
            actions.append(lambda f, owner=owner, key=key: machine.delitem(owner(f), key(f)))  # type: ignore[misc]

    def run(f: Frame) -> Value:
        for action in actions:
            action(f)

    return placed(lowering, node, run)


def _function(lowering: Lowering, node: Any, scope: Scope) -> Run:
    machine = lowering.machine
    make = lowering.function(node, scope)
    decorators = [lower_expression(lowering, item, scope) for item in node.decorator_list]
    store = lowering.store_name(node.name, scope)

    def run(f: Frame) -> Value:
        applied = [decorator(f) for decorator in decorators]
        value = make(f)
        for decorator in reversed(applied):
            value = machine.decorate(decorator, value)
        store(f, value)

    return placed(lowering, node, run)


def _class(lowering: Lowering, node: ast.ClassDef, scope: Scope) -> Run:
    from sgl_audit.evaluate.classes import lower_class

    return placed(lowering, node, lower_class(lowering, node, scope))


def _import(lowering: Lowering, node: ast.Import, scope: Scope) -> Run:
    machine = lowering.machine
    actions = [
        (
            alias.name,
            alias.asname,
            lowering.store_name(alias.asname or alias.name.split(".")[0], scope),
        )
        for alias in node.names
    ]

    def run(f: Frame) -> Value:
        for name, asname, store in actions:
            module = machine.imports.load(name)
            store(f, module if asname else machine.imports.load(name.split(".")[0]))

    return placed(lowering, node, run)


def _import_from(lowering: Lowering, node: ast.ImportFrom, scope: Scope) -> Run:
    machine = lowering.machine
    names = [(alias.name, alias.asname) for alias in node.names]
    stores = [
        None if name == "*" else lowering.store_name(asname or name, scope)
        for name, asname in names
    ]
    where = (lowering.file, node.lineno)
    module = lowering.module
    is_package = lowering.file.endswith("__init__.py")
    if node.module == "__future__" and ("annotations", None) in names:
        lowering.postponed = True

    def run(f: Frame) -> Value:
        target = machine.imports.absolute(module, is_package, node.module, node.level)
        for (name, _), store in zip(names, stores, strict=True):
            if store is None:
                machine.imports.star(target, f)
            else:
                store(f, machine.imports.name_from(target, name, where))

    return placed(lowering, node, run)


def _nothing(lowering: Lowering, node: ast.stmt, scope: Scope) -> Run | None:
    return None


def _unsupported(lowering: Lowering, node: ast.stmt, scope: Scope) -> Run:
    kind = type(node).__name__

    def run(f: Frame) -> Value:
        raise Undecidable(f"{kind} statements are not evaluated")

    return placed(lowering, node, run)


def lower_generator(lowering: Lowering, body: list[ast.stmt], scope: Scope) -> Run:
    """A generator function: the frame goes in, a Return of an iterator comes out."""
    from sgl_audit.evaluate.generators import lower_generator_block, run_generator

    block = lower_generator_block(lowering, body, scope)
    machine = lowering.machine
    return lambda f: Return(Stream(machine, run_generator(machine, block, f)))


STATEMENTS |= {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Return: _return,
    ast.If: lower_if,
    ast.While: lower_while,
    ast.For: lower_for,
    ast.Try: lower_try,
    ast.Raise: lower_raise,
    ast.Assert: lower_assert,
    ast.With: lower_with,
    ast.Delete: _delete,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Global: _nothing,
    ast.Nonlocal: _nothing,
    ast.Pass: _nothing,
    ast.Break: lower_exit,
    ast.Continue: lower_exit,
    ast.AsyncFor: _unsupported,
    ast.AsyncWith: _unsupported,
    ast.Match: _unsupported,
    ast.TryStar: _unsupported,
}


__all__ = [
    "BREAK",
    "CONTINUE",
    "RETURN",
    "Return",
    "Split",
    "lower_block",
    "lower_generator",
    "lower_handler",
    "lower_statement",
    "placed",
    "sequence",
]
