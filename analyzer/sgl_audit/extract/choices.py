"""Choice lists: module-level collections of allowed values, and what changes them later."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sgl_audit.extract.literals import scalar
from sgl_audit.model.facts import Scalar
from sgl_audit.model.guard import ALWAYS, Guard
from sgl_audit.model.source import Place
from sgl_audit.syntax.cst import element_notes
from sgl_audit.syntax.parse import ParsedFile

_NAME_PARTS = ("CHOICES", "BACKEND")
_CONSTRUCTORS = frozenset({"list", "tuple", "set", "frozenset"})
_ADDERS = frozenset({"append", "add"})
_EXTENDERS = frozenset({"extend", "update"})


@dataclass(frozen=True, slots=True)
class Part:
    """One element of a collection: a value, or the name of a list spliced in."""

    value: Scalar
    place: Place
    splice: str | None = None
    note: str | None = None
    guard: Guard = ALWAYS


@dataclass(frozen=True, slots=True)
class RawList:
    """A collection as written in one file."""

    name: str
    parts: tuple[Part, ...]
    ordered: bool
    place: Place


@dataclass(frozen=True, slots=True)
class RawChange:
    """A later addition to a list, at module level."""

    name: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class RawExtension:
    """A function or a bound method through which a list can grow."""

    name: str
    target: str
    place: Place


def choice_name(name: str) -> bool:
    """Whether a module-level name reads like a list of choices."""
    return name.isupper() and any(part in name for part in _NAME_PARTS)


def assignments(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr, ast.stmt]]:
    """Module-level names with the expression they are bound to."""
    for statement in body:
        match statement:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    if isinstance(target, ast.Name):
                        yield target.id, value, statement
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                yield name, value, statement
            case ast.If(body=inner, orelse=orelse) | ast.Try(body=inner, orelse=orelse):
                yield from assignments(inner)
                yield from assignments(orelse)


def raw_lists(parsed: ParsedFile, wanted: frozenset[str] = frozenset()) -> list[RawList]:
    """The lists of choices of one file; `wanted` names more than their own name tells."""
    found: dict[str, RawList] = {}
    for name, value, statement in assignments(parsed.tree.body):
        if name.isupper() and (name in wanted or choice_name(name)):
            parts = parts_of(parsed, value)
            if parts is not None:
                found[name] = RawList(name, tuple(parts[0]), parts[1], parsed.place(statement))
    return list(found.values())


def with_notes(parsed: ParsedFile, lists: list[RawList]) -> list[RawList]:
    """The same lists, each value with the comment that trails it."""
    by_line = {node.lineno: node for node in parsed.tree.body}
    result: list[RawList] = []
    for item in lists:
        statement = by_line.get(item.place.line)
        notes = element_notes(parsed, statement) if statement is not None else {}
        parts = tuple(replace(part, note=notes.get(str(part.value))) for part in item.parts)
        result.append(replace(item, parts=parts) if notes else item)
    return result


def parts_of(parsed: ParsedFile, node: ast.expr) -> tuple[list[Part], bool] | None:
    """The elements of a collection and whether their order means anything; None if it is none."""
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            parts = _elements(parsed, items)
            return None if parts is None else (parts, True)
        case ast.Set(elts=items):
            parts = _elements(parsed, items)
            return None if parts is None else (parts, False)
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in _CONSTRUCTORS:
            ordered = name in ("list", "tuple")
            if not arguments:
                return [], ordered
            inner = parts_of(parsed, arguments[0])
            return None if inner is None else (inner[0], ordered and inner[1])
        case ast.BinOp(left=left, op=ast.Add() | ast.BitOr(), right=right):
            first, second = parts_of(parsed, left), parts_of(parsed, right)
            if first is None or second is None:
                return None
            return first[0] + second[0], first[1] and second[1]
        case ast.Name(id=name) if name.isupper():
            return [Part(None, parsed.place(node), name)], True
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="copy" | "keys")):
            return [Part(None, parsed.place(node), name)], True
        case ast.Dict(keys=keys) if keys and all(isinstance(key, ast.Constant) for key in keys):
            parts = _elements(parsed, [key for key in keys if key is not None])
            return None if parts is None else (parts, True)
    return None


def _elements(parsed: ParsedFile, items: list[ast.expr]) -> list[Part] | None:
    parts: list[Part] = []
    for item in items:
        value = scalar(item)
        match item:
            case ast.Starred(value=ast.Name(id=name)):
                parts.append(Part(None, parsed.place(item), name))
            case ast.Constant(value=None):
                parts.append(Part(None, parsed.place(item)))
            case _ if isinstance(value, (str, int)):
                parts.append(Part(value, parsed.place(item)))
            case _:
                return None
    strings = [part for part in parts if isinstance(part.value, str) or part.splice]
    return parts if strings or not parts else None


def change_of(parsed: ParsedFile, node: ast.stmt, guard: Guard) -> RawChange | None:
    """`X.append("a")`, `X.extend([...])` or `X += [...]` at module level."""
    match node:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=[item])
        ) if name.isupper() and method in _ADDERS | _EXTENDERS:
            wrapped = ast.List([item], ast.Load()) if method in _ADDERS else item
            parts = parts_of(parsed, wrapped)
        case ast.AugAssign(target=ast.Name(id=name), value=item) if name.isupper():
            parts = parts_of(parsed, item)
        case _:
            return None
    if parts is None:
        return None
    guarded = tuple(Part(p.value, p.place, p.splice, p.note, guard) for p in parts[0])
    return RawChange(name, guarded)


def extensions(parsed: ParsedFile) -> list[RawExtension]:
    """The extension points of one file."""
    found: list[RawExtension] = []
    for statement in parsed.tree.body:
        if isinstance(statement, ast.FunctionDef) and len(statement.args.args) == 1:
            parameter = statement.args.args[0].arg
            for inner in statement.body:
                match inner:
                    case ast.Expr(
                        value=ast.Call(
                            func=ast.Attribute(value=ast.Name(id=target), attr=method),
                            args=[ast.Name(id=given)],
                        )
                    ) if given == parameter and target.isupper():
                        if method in _ADDERS | _EXTENDERS:
                            place = parsed.place(statement)
                            found.append(RawExtension(statement.name, target, place))
    for name, value, statement in assignments(parsed.tree.body):
        match value:
            case ast.Attribute(value=ast.Name(id=target), attr=method) if target.isupper():
                if method in _ADDERS | _EXTENDERS:
                    found.append(RawExtension(name, target, parsed.place(statement)))
    return found
