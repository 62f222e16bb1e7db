"""Enums: members with their values, predicates, and what they do with a missing value."""

from __future__ import annotations

import ast

from sgl_audit.extract.literals import is_literal, json_value
from sgl_audit.model.facts import BackendEnum, EnumMember, JsonValue
from sgl_audit.syntax.parse import ParsedFile

_BACKEND_WORDS = ("backend", "runner", "gemm", "a2a", "algorithm", "deepep", "dispatch")
# Bases whose members are made by calling them.
_BUILDS = frozenset({"IntEnum", "StrEnum", "IntFlag", "int", "str"})


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
    return any(_base_name(base).endswith(("Enum", "Flag")) for base in node.bases)


def _base_name(base: ast.expr) -> str:
    return base.attr if isinstance(base, ast.Attribute) else str(getattr(base, "id", ""))


def _enum(parsed: ParsedFile, node: ast.ClassDef) -> BackendEnum:
    members: list[EnumMember] = []
    values: dict[str, str] = {}
    built = any(_base_name(base) in _BUILDS for base in node.bases)
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if not name.startswith("_"):
                members.append(_member(parsed, statement, name, value, values, len(members), built))
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
    built: bool,
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
    if built and isinstance(plain, list) and len(plain) == 1:
        # `X = (0,)` in an enum of numbers or strings: the tuple holds the constructor's arguments.
        plain = plain[0]
    key = repr(plain)
    original_name = values.setdefault(key, name)
    alias = original_name if original_name != name else None
    return EnumMember(name, plain, place, alias)


def _undumped(text: str) -> JsonValue:
    value: JsonValue = ast.literal_eval(text)
    return value
