"""What `and`, `or` and conditional expressions ask before a name in them is read."""

from __future__ import annotations

import ast

from sgl_audit.model.guard import ALWAYS, Guard, all_of, negate
from sgl_audit.model.source import Place
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.conditions import guard_of
from sgl_audit.rules.sources import syntax_of


def asked_before(context: RuleContext, place: Place) -> Guard:
    """The condition under which the name at a place is read, inside its own expression."""
    node: ast.AST | None = syntax_of(context, place.file)
    found: Guard = ALWAYS
    while node is not None:
        child = next((c for c in ast.iter_child_nodes(node) if _holds(c, place)), None)
        found = all_of(found, _between(context, node, child))
        node = child
    return found


def _holds(node: ast.AST, place: Place) -> bool:
    first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    if first is None or last is None:
        return any(_holds(child, place) for child in ast.iter_child_nodes(node))
    start = (first, getattr(node, "col_offset", 0))
    end = (last, getattr(node, "end_col_offset", 0))
    return start <= (place.line, place.column) < end


def _between(context: RuleContext, node: ast.AST, child: ast.AST | None) -> Guard:
    match node:
        case ast.BoolOp(op=op, values=values) if isinstance(child, ast.expr) and child in values:
            before = [guard_of(context, item) for item in values[: values.index(child)]]
            wanted = isinstance(op, ast.And)
            return all_of(*(item if wanted else negate(item) for item in before))
        case ast.IfExp(test=test, body=body) if child is not test and child is not None:
            asked = guard_of(context, test)
            return asked if child is body else negate(asked)
    return ALWAYS
