"""Python's own functions and methods, on known values."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, KeysView, ValuesView
from typing import Any

from sgl_audit.extract.machine.outside import has_attribute
from sgl_audit.extract.machine.reader import Reader
from sgl_audit.extract.machine.values import (
    UNBOUND,
    UNKNOWN,
    ClassValue,
    External,
    Function,
    Method,
    Partial,
    Value,
    VersionText,
    truth,
)

_PURE: dict[str, Callable[..., Any]] = {
    "len": len,
    "int": int,
    "str": str,
    "tuple": tuple,
    "list": list,
    "set": frozenset,
    "frozenset": frozenset,
    "max": max,
    "min": min,
    "abs": abs,
    "sorted": sorted,
    "range": lambda *bounds: list(range(*bounds)),
    "dict": dict,
}
_METHODS = frozenset(
    [
        "lower",
        "upper",
        "split",
        "strip",
        "startswith",
        "endswith",
        "replace",
        "partition",
        "rpartition",
        "get",
        "items",
        "keys",
        "values",
        "removeprefix",
        "removesuffix",
        "count",
        "index",
        "union",
        "intersection",
    ]
)


def call_builtin(
    reader: Reader, name: str, arguments: tuple[Value, ...], named: dict[str, Value]
) -> Value:
    """A call of one of Python's own functions."""
    match name:
        case "bool":
            holds = truth(arguments[0]) if arguments else False
            return UNKNOWN if holds is None else holds
        case "any" | "all" if arguments:
            return _quantified(name, arguments[0])
        case "hasattr" if len(arguments) == 2:
            return _hasattr(reader, arguments[0], arguments[1])
        case "getattr" if len(arguments) >= 2 and isinstance(arguments[1], str):
            return _getattr(reader, arguments)
        case "callable" if arguments:
            known = isinstance(arguments[0], (Function, Partial, ClassValue))
            return UNKNOWN if arguments[0] is UNKNOWN else known
        case "map" if len(arguments) == 2 and isinstance(arguments[1], (list, tuple)):
            return [reader.call(arguments[0], (item,), {}) for item in arguments[1]]
    function = _PURE.get(name)
    if function is None or not _known(arguments):
        return UNKNOWN
    try:
        return function(*arguments, **named)
    except (TypeError, ValueError, OverflowError):
        return UNKNOWN


def _known(values: tuple[Value, ...]) -> bool:
    return all(
        isinstance(value, (str, int, float, tuple, list, dict, frozenset)) for value in values
    )


def _quantified(name: str, items: Value) -> Value:
    if not isinstance(items, (list, tuple, frozenset)):
        return UNKNOWN
    if any(item is UNBOUND for item in items):
        return UNBOUND
    holds = [truth(item) for item in items]
    decides = name == "any"
    if decides in holds:
        return decides
    return UNKNOWN if None in holds else not decides


def _hasattr(reader: Reader, owner: Value, name: Value) -> Value:
    if isinstance(owner, External) and isinstance(name, str):
        entry = has_attribute(owner.name, name)
        if entry is not None:
            return reader.take(entry)
    return UNKNOWN


def _getattr(reader: Reader, arguments: tuple[Value, ...]) -> Value:
    from sgl_audit.extract.machine.names import attribute_of

    owner, name = arguments[0], arguments[1]
    if isinstance(owner, External):
        entry = has_attribute(owner.name, name)
        if entry is not None and entry.value is False:
            reader.take(entry)
            return arguments[2] if len(arguments) > 2 else UNKNOWN
    return attribute_of(reader, owner, name)


def call_method(
    reader: Reader, method: Method, arguments: tuple[Value, ...], named: dict[str, Value]
) -> Value:
    """A call of a method of a known value."""
    owner = method.owner
    if method.name not in _METHODS or any(value is UNKNOWN for value in arguments):
        return UNKNOWN
    if isinstance(owner, VersionText):
        reader.flags.add("version")
    try:
        result = getattr(owner, method.name)(*arguments, **named)
    except (AttributeError, TypeError, ValueError):
        return UNKNOWN
    return list(result) if isinstance(result, (KeysView, ValuesView, ItemsView)) else result
