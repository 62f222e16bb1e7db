"""Conditions as guards: `and`, `or`, `not` and names that stand for a test are taken apart."""

from __future__ import annotations

import ast
from dataclasses import replace

from sgl_audit.extract.atoms import atom_of
from sgl_audit.extract.context import FileContext
from sgl_audit.extract.machine.scopes import Binding, How, ImportFails, Scope
from sgl_audit.extract.walker import Condition
from sgl_audit.model.guard import ALWAYS, NEVER, Atom, AtomKind, Guard, all_of, any_of, negate
from sgl_audit.syntax.text import one_line

_DEPTH = 4
# How a comparison is written, and whether that is the comparison itself or its negation.
_WORDS: dict[type[ast.cmpop], tuple[str, bool]] = {
    ast.Eq: ("==", True),
    ast.NotEq: ("==", False),
    ast.In: ("in", True),
    ast.NotIn: ("in", False),
    ast.Is: ("is", True),
    ast.IsNot: ("is", False),
    ast.Lt: ("<", True),
    ast.GtE: (">=", True),
    ast.Gt: (">", True),
    ast.LtE: ("<=", True),
}
_SHAPES = (ast.BoolOp, ast.UnaryOp, ast.IfExp)


def guard_of(context: FileContext, conditions: tuple[Condition, ...], scope: Scope) -> Guard:
    """The conjunction of the conditions on the way to a place."""
    return all_of(*(_condition(context, item, scope) for item in conditions))


def test_guard(context: FileContext, node: ast.expr, scope: Scope) -> Guard:
    """One test as a guard; remembered per node."""
    key = (id(node), id(scope))
    known = context.guards.get(key)
    if known is None:
        known = _convert(context, node, scope, _DEPTH)
        context.guards[key] = known
    return known


def _condition(context: FileContext, item: Condition, scope: Scope) -> Guard:
    if isinstance(item.test, ImportFails):
        missing = " or ".join(item.test.modules)
        guard: Guard = Atom(AtomKind.OPAQUE, f"import of {missing} fails")
    elif isinstance(item.test, str):
        guard = Atom(AtomKind.OPAQUE, item.test)
    else:
        guard = test_guard(context, item.test, scope)
    return guard if item.holds else negate(guard)


def _convert(context: FileContext, node: ast.expr, scope: Scope, depth: int) -> Guard:
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            return all_of(*(_convert(context, item, scope, depth) for item in values))
        case ast.BoolOp(values=values):
            return any_of(*(_convert(context, item, scope, depth) for item in values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return negate(_convert(context, operand, scope, depth))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            asked = _convert(context, test, scope, depth)
            return any_of(
                all_of(asked, _convert(context, body, scope, depth)),
                all_of(negate(asked), _convert(context, orelse, scope, depth)),
            )
        case ast.Constant(value=value):
            return ALWAYS if value else NEVER
        case ast.Call(func=ast.Name(id="bool"), args=[inner]):
            return _convert(context, inner, scope, depth)
        case ast.NamedExpr(value=inner):
            return _convert(context, inner, scope, depth)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compare(context, node, left, op, right, scope)
        case ast.Name(id=name) if depth and (found := _definition(scope, name, node.lineno)):
            definition, where = found
            return _convert(context, definition, where, depth - 1)
        case ast.Attribute() if depth and (found := _self_definition(scope, node)):
            definition, where = found
            return _convert(context, definition, where, depth - 1)
    return atom_of(context, node, scope)


def _compare(
    context: FileContext,
    node: ast.Compare,
    left: ast.expr,
    op: ast.cmpop,
    right: ast.expr,
    scope: Scope,
) -> Guard:
    """One spelling for both sides of a test, so that `==` and `!=` contradict each other."""
    word, positive = _WORDS[type(op)]
    text = f"{one_line(context.parsed, left)} {word} {one_line(context.parsed, right)}"
    atom = replace(atom_of(context, node, scope), text=text)
    if positive:
        return atom
    if atom.capabilities is not None:
        atom = replace(atom, capabilities=frozenset(context.capabilities) - atom.capabilities)
    return negate(atom)


def _definition(scope: Scope, name: str, line: int) -> tuple[ast.expr, Scope] | None:
    """The one expression a name stands for, where it is a combination of tests."""
    current: Scope | None = scope
    inner = True
    while current is not None:
        bindings = current.names.get(name)
        if bindings is not None and (inner or not isinstance(current.node, ast.ClassDef)):
            return _single(bindings, current)
        inner = False
        current = current.parent
    return None


def _single(bindings: list[Binding], scope: Scope) -> tuple[ast.expr, Scope] | None:
    if len(bindings) != 1 or bindings[0].how is not How.EXPRESSION:
        return None
    node = bindings[0].node
    return (node, scope) if isinstance(node, _SHAPES) else None


def _self_definition(scope: Scope, node: ast.Attribute) -> tuple[ast.expr, Scope] | None:
    if scope.owner is None or not isinstance(node.value, ast.Name) or node.value.id != "self":
        return None
    assigned = scope.owner.assigned.get(node.attr, [])
    if len(assigned) != 1 or not isinstance(assigned[0][0], _SHAPES):
        return None
    return assigned[0][0], assigned[0][1]
