"""Attributes and construction of objects whose class is in the tree."""

from __future__ import annotations

import ast

from sgl_audit.extract.machine.reader import Reader
from sgl_audit.extract.machine.scopes import ClassInfo, FunctionNode, Scope
from sgl_audit.extract.machine.values import (
    UNKNOWN,
    ClassValue,
    EnumValue,
    External,
    Function,
    Instance,
    TreeModule,
    Value,
    join,
    settled,
)

_PROPERTIES = ("property", "cached_property")


def bases(reader: Reader, info: ClassInfo) -> list[Value]:
    """The base classes of a class, as far as they are known."""
    return [reader.value(base, info.scope) for base in info.node.bases]


def is_enum(reader: Reader, info: ClassInfo, depth: int = 4) -> bool:
    """Whether a class derives from an enum of the standard library."""
    for base in bases(reader, info):
        if isinstance(base, External) and base.name.rpartition(".")[2].endswith("Enum"):
            return True
        if isinstance(base, ClassValue) and depth and is_enum(reader, base.info, depth - 1):
            return True
    return False


def class_attribute(reader: Reader, owner: ClassValue, name: str) -> Value:
    """An attribute read on a class."""
    if is_enum(reader, owner.info):
        body = owner.info.body
        if body is not None and name in body.names and name not in owner.info.methods:
            return EnumValue(owner.info.name, name)
    return instance_attribute(reader, Instance(owner.info), name)


def instance_attribute(reader: Reader, owner: Instance, name: str) -> Value:
    """An attribute read on an object, through its class and its bases."""
    if name in owner.fields:
        return owner.fields[name]
    value = _in_class(reader, owner, owner.info, name, 6)
    if value is not UNKNOWN:
        return value
    value = _forwarded(reader, owner.info, name)
    return value if value is not UNKNOWN else reader.world.attribute(reader, name)


def _in_class(reader: Reader, owner: Instance, info: ClassInfo, name: str, depth: int) -> Value:
    if name in info.methods:
        function = Function(info.methods[name], info.body or info.scope, owner)
        if _is_property(info.methods[name]):
            return reader.call(function, (), {})
        return function
    if name in info.assigned:
        return _assigned(reader, info, name)
    if info.body is not None and name in info.body.names:
        from sgl_audit.extract.machine.names import bound

        return bound(reader, info.body, name, None)
    for base in bases(reader, info):
        if isinstance(base, ClassValue) and depth and base.info is not info:
            value = _in_class(reader, owner, base.info, name, depth - 1)
            if value is not UNKNOWN:
                return value
    return UNKNOWN


def _assigned(reader: Reader, info: ClassInfo, name: str) -> Value:
    key = (id(info), name)
    if key in reader.active:
        return UNKNOWN
    outer, reader.flags = reader.flags, set()
    reader.active.add(key)
    try:
        values = [reader.value(node, scope) for node, scope, _ in info.assigned[name]]
        result = values[0]
        for value in values[1:]:
            result = join(result, value)
        entry = settled(result, frozenset(reader.flags))
    finally:
        reader.active.discard(key)
        reader.flags = outer
    return reader.take(entry)


def _is_property(node: FunctionNode) -> bool:
    names = [item.attr if isinstance(item, ast.Attribute) else item for item in node.decorator_list]
    return any((item.id if isinstance(item, ast.Name) else item) in _PROPERTIES for item in names)


def _forwarded(reader: Reader, info: ClassInfo, name: str) -> Value:
    """Follow a `__getattr__` that looks the name up in a table and calls what the table names."""
    method = info.methods.get("__getattr__")
    if method is None:
        return UNKNOWN
    target = forwarding_table(reader, info, method).get(name)
    module = forwarding_module(reader, info, method)
    if target is None or module is None:
        return UNKNOWN
    return reader.call(reader.world.member(reader, module, target), (), {})


def forwarding_table(reader: Reader, info: ClassInfo, method: FunctionNode) -> dict[str, str]:
    """The string tables of the module that a `__getattr__` reads, merged."""
    used = {node.id for node in ast.walk(method) if isinstance(node, ast.Name)}
    merged: dict[str, str] = {}
    for name in sorted(used & info.scope.module.names.keys()):
        table = reader.value(ast.Name(name, ast.Load(), lineno=0, col_offset=0), info.scope)
        words = [*table, *table.values()] if isinstance(table, dict) else [None]
        if all(isinstance(word, str) for word in words):
            merged |= table
    return merged


def forwarding_module(reader: Reader, info: ClassInfo, method: FunctionNode) -> str | None:
    """The tree module in which a `__getattr__` looks names up."""
    from sgl_audit.extract.machine.scopes import collect

    local = Scope(info.scope.path, method, info.scope)
    collect(local, method.body, ())
    for name in local.names:
        value = reader.value(ast.Name(name, ast.Load(), lineno=10**6, col_offset=0), local)
        if isinstance(value, TreeModule):
            return value.path
    return None


def construct(
    reader: Reader, callee: ClassValue, arguments: tuple[Value, ...], named: dict[str, Value]
) -> Value:
    """An object of a class: a record by its annotated fields, else by running its constructor."""
    info = callee.info
    if is_enum(reader, info):
        return UNKNOWN
    instance = Instance(info)
    if "__init__" in info.methods:
        function = Function(info.methods["__init__"], info.body or info.scope, instance)
        reader.call(function, arguments, named)
        return instance
    fields = [
        item.target.id
        for item in info.node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    ]
    instance.fields.update(zip(fields, arguments, strict=False))
    instance.fields.update(named)
    if any(isinstance(b, External) and b.name.endswith("NamedTuple") for b in bases(reader, info)):
        instance.sequence = tuple(instance.fields.get(name, UNKNOWN) for name in fields)
    return instance
