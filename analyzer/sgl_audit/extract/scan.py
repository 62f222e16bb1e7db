"""The expressions of one statement, without those of nested blocks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_TESTING = (ast.Compare, ast.Call)
# Statements whose own expressions are few and sit in known fields.
_PLAIN = (ast.Pass, ast.Break, ast.Continue, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
_LEAF = (ast.Name, ast.Constant, ast.expr_context, ast.operator, ast.cmpop, ast.unaryop)


def own_expressions(node: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement that are not inside a nested block."""
    if isinstance(node, _PLAIN):
        return
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, ast.expr):
            yield value
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, ast.expr):
                    yield item
                elif isinstance(item, ast.withitem):
                    yield item.context_expr
                elif isinstance(item, ast.keyword):
                    yield item.value
                elif isinstance(item, ast.stmt):
                    break


def inner_nodes(node: ast.stmt) -> Iterator[ast.AST]:
    """Every node of a statement's own expressions, names and constants aside."""
    stack: list[ast.AST] = list(own_expressions(node))
    while stack:
        inner = stack.pop()
        if isinstance(inner, _LEAF):
            continue
        yield inner
        for name in inner._fields:
            value = getattr(inner, name, None)
            if isinstance(value, list):
                stack.extend(item for item in value if isinstance(item, ast.AST))
            elif isinstance(value, ast.AST):
                stack.append(value)


def tests_in(node: ast.stmt) -> list[ast.expr]:
    """The comparisons and `any(...)` tests a statement makes itself, in source order."""
    found: list[ast.expr] = []
    for inner in inner_nodes(node):
        match inner:
            case ast.Compare():
                found.append(inner)
            case ast.Call(func=ast.Name(id="any" | "all"), args=[ast.GeneratorExp()]):
                found.append(inner)
    inside = {
        id(part)
        for item in found
        if isinstance(item, ast.Call)
        for part in ast.walk(item)
        if part is not item
    }
    kept = [item for item in found if id(item) not in inside]
    return sorted(kept, key=lambda item: (item.lineno, item.col_offset))
