"""What lowering makes of expressions: closures that take a frame; and the reading of names."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.scopes import GLOBALS, PARENT, Scope
from sgl_audit.evaluate.values import (
    Lazy,
    Value,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.lowering import Lowering

Frame = dict[str, Value]
Run = Callable[[Frame], Value]

# Kind of expression -> what lowers it; `expressions` fills it.
EXPRESSIONS: dict[type, Callable[[Any, Any, Scope], Run]] = {}


def lower_expression(lowering: Lowering, node: ast.expr, scope: Scope) -> Run:
    """The closure for one expression."""
    return EXPRESSIONS[type(node)](lowering, node, scope)


def unbound_local(name: str) -> str:
    """The message for a local name without a value."""
    return f"cannot access local variable {name!r} where it is not associated with a value"


def unbound_free(name: str) -> str:
    """The message for a name of an enclosing function without a value."""
    return (
        f"cannot access free variable {name!r} where it is not associated with a value in "
        "enclosing scope"
    )


def load_name(lowering: Lowering, name: str, scope: Scope) -> Run:
    """Reading a name, wherever it is bound."""
    where, depth = scope.resolve(name)
    machine = lowering.machine
    if where == "local":

        def local(f: Frame) -> Value:
            try:
                value = f[name]
            except KeyError:
                raise machine.error("UnboundLocalError", unbound_local(name)) from None
            return machine.force(f, name, value) if value.__class__ is Lazy else value

        return local
    if where == "up":
        return _load_up(lowering, name, depth)
    missing = machine.global_missing

    def from_globals(f: Frame) -> Value:
        ns = f[GLOBALS]
        value = ns.get(name, ns)
        if value is ns:
            return missing(ns, name)
        return machine.force(ns, name, value) if value.__class__ is Lazy else value

    if where == "global":
        return from_globals
    outer = _class_fallback(lowering, name, scope)

    def from_class(f: Frame) -> Value:
        return f[name] if name in f else outer(f)

    return from_class


def _class_fallback(lowering: Lowering, name: str, scope: Scope) -> Run:
    probe = Scope("class", scope.parent, set(), scope.qualname)
    return load_name(lowering, name, probe)


def _load_up(lowering: Lowering, name: str, depth: int) -> Run:
    machine = lowering.machine

    def up(f: Frame) -> Value:
        for _ in range(depth):
            f = f[PARENT]
        try:
            value = f[name]
        except KeyError:
            raise machine.error("NameError", unbound_free(name)) from None
        return machine.force(f, name, value) if value.__class__ is Lazy else value

    if depth != 1:
        return up

    def up_one(f: Frame) -> Value:
        value = f[PARENT].get(name, f)
        if value is f:
            raise machine.error("NameError", unbound_free(name))
        return machine.force(f[PARENT], name, value) if value.__class__ is Lazy else value

    return up_one
