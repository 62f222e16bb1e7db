"""Enums: members with their values, predicates, and what they do with a missing value."""

from __future__ import annotations

import ast

from sgl_audit.extract.literals import is_literal, json_value
from sgl_audit.model.facts import BackendEnum, EnumMember, JsonValue
from sgl_audit.syntax.parse import ParsedFile

_BACKEND_WORDS = ("backend", "runner", "gemm", "a2a", "algorithm", "deepep", "dispatch")


def enums_of(parsed: ParsedFile) -> list[BackendEnum]:
    """The module-level enums of one file, in source order."""
    return [
        _enum(parsed, node)
        for node in parsed.tree.body
        if isinstance(node, ast.ClassDef) and _is_enum(node)
    ]


def names_backends(enum: BackendEnum, values: frozenset[str]) -> bool:
    """Whether the members of an enum are backends: by its name, or by two values of options."""
    if any(word in enum.name.lower() for word in _BACKEND_WORDS):
        return True
    plain = [member.value for member in enum.members if isinstance(member.value, str)]
    return sum(value in values for value in plain) >= 2


def _is_enum(node: ast.ClassDef) -> bool:
    for base in node.bases:
        name = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
        if name.endswith(("Enum", "Flag")):
            return True
    return False


def _enum(parsed: ParsedFile, node: ast.ClassDef) -> BackendEnum:
    members: list[EnumMember] = []
    values: dict[str, str] = {}
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if not name.startswith("_"):
                members.append(_member(parsed, statement, name, value, values, len(members)))
    methods = [item.name for item in node.body if isinstance(item, ast.FunctionDef)]
    return BackendEnum(
        node.name,
        tuple(members),
        tuple(name for name in methods if name.startswith("is_")),
        "_missing_" in methods,
        parsed.place(node),
    )


def _member(
    parsed: ParsedFile,
    statement: ast.stmt,
    name: str,
    value: ast.expr,
    values: dict[str, str],
    earlier: int,
) -> EnumMember:
    place = parsed.place(statement)
    if isinstance(value, ast.Name) and value.id in values.values():
        original = value.id
        known = next(key for key, member in values.items() if member == original)
        return EnumMember(name, _undumped(known), place, original)
    if not is_literal(value):
        # auto() counts from one.
        auto = isinstance(value, ast.Call) and ast.unparse(value.func).endswith("auto")
        return EnumMember(name, earlier + 1 if auto else None, place)
    plain = json_value(value)
    key = repr(plain)
    original_name = values.setdefault(key, name)
    alias = original_name if original_name != name else None
    return EnumMember(name, plain, place, alias)


def _undumped(text: str) -> JsonValue:
    value: JsonValue = ast.literal_eval(text)
    return value
