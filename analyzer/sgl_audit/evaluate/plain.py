"""Interpreter values as plain JSON values, for answers."""

from __future__ import annotations

from typing import Any

from sgl_audit.evaluate.values import (
    Cases,
    Class,
    Function,
    Instance,
    Opaque,
    Unknown,
    Value,
    is_instance,
)
from sgl_audit.model.facts import JsonValue

DEPTH = 12


class NotPlainError(Exception):
    """A value has no plain form; the text says what it is."""


def plain(value: Value, depth: int = 0) -> JsonValue:
    """The JSON form of a value: enum members by value, objects by their fields.

    Raises:
        NotPlainError: the value, or a part of it, is unknown or has no such form.
    """
    if depth > DEPTH:
        raise NotPlainError("nested too deeply")
    if value is None or isinstance(value, bool):
        return value
    if is_instance(value):
        return _instance(value, depth)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item, depth + 1) for item in value), key=str)
    if isinstance(value, dict):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, Opaque):
        return value.name
    if isinstance(value, Unknown):
        raise NotPlainError(f"{value.name}: {value.reason}")
    if isinstance(value, (Class, Function)):
        return value.qualname
    raise NotPlainError(f"a {type(value).__name__}")


def _instance(value: Any, depth: int) -> JsonValue:
    if "_value_" in value.d:
        return plain(value.d["_value_"], depth + 1)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Instance):
        if "_path" in value.d:
            return plain(value.d["_path"])
        return {
            str(name): plain(item, depth + 1)
            for name, item in value.d.items()
            if not str(name).startswith("_")
        }
    if isinstance(value, dict):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    return value  # type: ignore[no-any-return]


def is_cases(value: Value) -> bool:
    """Whether a value has several cases."""
    return isinstance(value, Cases)
