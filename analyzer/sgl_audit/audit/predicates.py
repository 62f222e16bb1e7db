"""What the question methods of backend enums say, by their definitions."""

from __future__ import annotations

import ast

from sgl_audit.audit.places import parsed_file
from sgl_audit.audit.vocabulary import vocabulary
from sgl_audit.model.facts import BackendEnum, Facts
from sgl_audit.model.source import SourceTree


def read_predicates(
    tree: SourceTree, facts: Facts, modules: dict[str, ast.Module]
) -> dict[tuple[str, str], frozenset[str] | None]:
    """The members for which each question method of an enum holds, by its definition."""
    found: dict[tuple[str, str], frozenset[str] | None] = {}
    words = vocabulary(facts)
    for name in sorted(set(words.enum_of.values())):
        enum = words.enums[name]
        file = enum.place.file
        if file not in modules:
            module = parsed_file(tree, file)
            if module is None:
                continue
            modules[file] = module
        classes = {node.name: node for node in modules[file].body if isinstance(node, ast.ClassDef)}
        if enum.name in classes:
            found.update(_predicates(_bodies(enum.name, classes, 4), enum))
    return found


def _bodies(name: str, classes: dict[str, ast.ClassDef], depth: int) -> dict[str, ast.expr]:
    """What each method of one expression returns, those of bases in the same file included."""
    node = classes.get(name)
    if node is None or depth == 0:
        return {}
    found: dict[str, ast.expr] = {}
    for base in reversed(node.bases):
        if isinstance(base, ast.Name):
            found.update(_bodies(base.id, classes, depth - 1))
    for item in node.body:
        if isinstance(item, ast.FunctionDef):
            found.pop(item.name, None)
            parts = [part for part in item.body if not _is_docstring(part)]
            match parts:
                case [ast.Return(value=ast.expr() as value)] if len(item.args.args) == 1:
                    found[item.name] = value
    return found


def _predicates(
    bodies: dict[str, ast.expr], enum: BackendEnum
) -> dict[tuple[str, str], frozenset[str] | None]:
    found: dict[tuple[str, str], frozenset[str] | None] = {}
    for name, body in bodies.items():
        truths = {m.name: _asked(body, m.name, bodies, 4) for m in enum.members}
        held = frozenset(member for member, truth in truths.items() if truth)
        found[enum.name, name] = None if None in truths.values() else held
    return found


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _asked(
    node: ast.expr | None, member: str, bodies: dict[str, ast.expr], depth: int
) -> bool | None:
    """Whether the body of a predicate holds for a member."""
    match node:
        case ast.BoolOp(op=op, values=values):
            parts = [_asked(value, member, bodies, depth) for value in values]
            ending = isinstance(op, ast.Or)
            if ending in parts:
                return ending
            return None if None in parts else not ending
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _asked(operand, member, bodies, depth)
            return None if inner is None else not inner
        case ast.Compare(left=left, ops=[op], comparators=[right]) if _is_self(left):
            named = _members(right)
            if named is None:
                return None
            return (member in named) is isinstance(op, (ast.Eq, ast.In, ast.Is))
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name), args=[]) if depth:
            return _asked(bodies.get(name), member, bodies, depth - 1)
    return None


def _is_self(node: ast.expr) -> bool:
    match node:
        case ast.Name(id="self") | ast.Attribute(value=ast.Name(id="self"), attr="value" | "name"):
            return True
    return False


def _members(node: ast.expr) -> set[str] | None:
    match node:
        case ast.Attribute(value=ast.Attribute() as inner, attr="value" | "name"):
            return _members(inner)
        case ast.Attribute(value=ast.Name(), attr=name):
            return {name}
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
            parts = [_members(item) for item in items]
            known = [part for part in parts if part is not None]
            return set().union(*known) if len(known) == len(parts) else None
    return None
