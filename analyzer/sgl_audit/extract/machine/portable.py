"""Reducing a value to what other files may need of it, so that it can cross processes."""

from __future__ import annotations

import ast
from collections.abc import Callable

from sgl_audit.extract.machine.calls import needs_arguments, only_devices
from sgl_audit.extract.machine.objects import bases
from sgl_audit.extract.machine.reader import Budget, Reader
from sgl_audit.extract.machine.scopes import ClassInfo, FunctionNode, Scope
from sgl_audit.extract.machine.values import (
    MACHINE_FLAGS,
    UNBOUND,
    UNKNOWN,
    ClassValue,
    Entry,
    EnumValue,
    External,
    Function,
    Instance,
    Partial,
    Record,
    TableFunction,
    Value,
)

_SCALARS = (bool, int, float, str, EnumValue, External, TableFunction, Record)


def portable(reader: Reader, value: Value) -> Value:
    """The value without syntax in it: functions by their result, objects by what they answer."""
    if value is UNBOUND:
        return UNBOUND
    match value:
        case None | bool() | int() | float() | str():
            return value
        case tuple():
            return tuple(portable(reader, item) for item in value)
        case list():
            return [portable(reader, item) for item in value]
        case frozenset():
            return value if all(isinstance(item, _SCALARS) for item in value) else UNKNOWN
        case Function(node=node) if not needs_arguments(node):
            return TableFunction(result(reader, value), only_devices(node))
        case Partial():
            return TableFunction(result(reader, value))
        case Instance():
            return record_of(reader, value)
    return value if isinstance(value, _SCALARS) else UNKNOWN


def result(reader: Reader, callee: Value) -> Entry:
    """What a call without arguments gives, and what that rests on."""
    outer, reader.flags = reader.flags, set()
    reader.refill()
    try:
        value = portable(reader, reader.call(callee, (), {}))
    except (Budget, RecursionError):
        value = UNKNOWN
    entry = Entry(value, frozenset(reader.flags))
    reader.flags = outer
    return entry


def name_entries(
    readers: tuple[Reader, ...], name: str, scope: Scope, wanted: Callable[[Entry], bool]
) -> tuple[Entry, ...] | None:
    """What a name of a module is on every machine; None where no entry is wanted."""
    node = ast.Name(name, ast.Load(), lineno=0, col_offset=0)
    entries: list[Entry] = []
    for reader in readers:
        entry = reader.evaluate(node, scope)
        entries.append(Entry(portable(reader, entry.value), entry.flags))
    return tuple(entries) if any(wanted(entry) for entry in entries) else None


def touches(entry: Entry) -> bool:
    """Whether an entry rests on the machine, itself or by what it returns."""
    if isinstance(entry.value, TableFunction):
        return touches(entry.value.entry)
    return bool(entry.flags & MACHINE_FLAGS) or isinstance(entry.value, Record)


def rests_on_anything(entry: Entry) -> bool:
    """Whether an entry rests on anything outside the tree, and is known."""
    if isinstance(entry.value, TableFunction):
        return rests_on_anything(entry.value.entry)
    known = entry.value is not UNKNOWN or bool(entry.flags & MACHINE_FLAGS)
    return (bool(entry.flags) and known) or isinstance(entry.value, Record)


def least_of(node: FunctionNode) -> int | None:
    """The number a method returns where that is all it does."""
    match node.body[-1]:
        case ast.Return(value=ast.Constant(value=int() as least)):
            return least
    return None


def record_of(reader: Reader, instance: Instance) -> Record:
    """An object by its fields and by what its methods without arguments return."""
    fields = {name: Entry(portable(reader, item)) for name, item in instance.fields.items()}
    methods: dict[str, Entry] = {}
    for info in _lineage(reader, instance.info, 6):
        for name, node in info.methods.items():
            if name.startswith("__") or name in methods or name in fields:
                continue
            if needs_arguments(node) or isinstance(node, ast.AsyncFunctionDef):
                continue
            entry = result(reader, Function(node, info.body or info.scope, instance))
            known = entry.value is not UNKNOWN or entry.flags
            if known and _is_property(node):
                fields[name] = entry
            elif known:
                methods[name] = entry
    fields |= {key: item for key, item in _forwarded(reader, instance).items() if key not in fields}
    return Record(
        instance.info.name,
        tuple(sorted(fields.items())),
        tuple(sorted(methods.items())),
        None if instance.sequence is None else portable(reader, tuple(instance.sequence)),
    )


def _lineage(reader: Reader, info: ClassInfo, depth: int) -> list[ClassInfo]:
    found = [info]
    if depth:
        for base in bases(reader, info):
            if isinstance(base, ClassValue) and base.info is not info:
                found += _lineage(reader, base.info, depth - 1)
    return found


def _is_property(node: ast.AST) -> bool:
    return any(
        isinstance(item, ast.Name) and item.id in ("property", "cached_property")
        for item in getattr(node, "decorator_list", ())
    )


def _forwarded(reader: Reader, instance: Instance) -> dict[str, Entry]:
    from sgl_audit.extract.machine.objects import forwarding_module, forwarding_table

    method = instance.info.methods.get("__getattr__")
    if method is None:
        return {}
    module = forwarding_module(reader, instance.info, method)
    if module is None:
        return {}
    table = forwarding_table(reader, instance.info, method)
    return {
        name: result(reader, reader.world.member(reader, module, target))
        for name, target in table.items()
    }
