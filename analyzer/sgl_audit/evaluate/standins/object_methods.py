"""Methods that `object` gives to everything, and those of built-in containers by their names.

Assumes: CPython's own behaviour. None of them looks at what the program overrides: they are what
`super().__str__()` reaches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.classes import new_instance
from sgl_audit.evaluate.values import (
    INSTANCE_TYPES,
    MISSING,
    Class,
    Native,
    Undecidable,
    Value,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine


def object_methods(machine: Machine) -> dict[str, Native]:
    """Methods that `object` gives to everything."""

    def method(name: str, run: Callable[..., Value]) -> Native:
        return Native(f"object.{name}", lambda args, kw: run(*args, **kw), raw=True, method=True)

    def init_nothing(owner: Value, *args: Value, **kwargs: Value) -> None:
        return None

    def init_subclass(owner: Value, *args: Value, **kwargs: Value) -> None:
        if kwargs and not (isinstance(owner, Class) and owner.opaque_base is not None):
            text = f"{machine.type_name(owner) if not isinstance(owner, Class) else owner.name}"
            raise machine.error(
                "TypeError", f"{text}.__init_subclass__() takes no keyword arguments"
            )

    def get_raw(owner: Value, name: str) -> Value:
        if isinstance(owner, INSTANCE_TYPES):
            value = machine.plain_attribute(owner, name, use_getattr=False)
        else:
            value = machine.lookup(owner, name)
        if value is MISSING:
            raise machine.attribute_error(owner, name)
        return value

    def reduce(owner: Value, *rest: Value) -> Value:
        raise Undecidable("pickling is not evaluated")

    def same(owner: Value, other: Value) -> Value:
        return True if owner is other else NotImplemented

    def differs(owner: Value, other: Value) -> Value:
        return False if owner is other else NotImplemented

    table: dict[str, Callable[..., Value]] = {
        "__init__": init_nothing,
        "__setattr__": machine.plain_setattr,
        "__getattribute__": get_raw,
        "__delattr__": machine.plain_delattr,
        "__repr__": machine.default_repr,
        "__str__": machine.default_text,
        "__eq__": same,
        "__ne__": differs,
        "__hash__": _identity,
        "__new__": lambda cls, *args, **kwargs: _make(machine, cls, args),
        "__init_subclass__": init_subclass,
        "__subclasshook__": lambda *args: NotImplemented,
        "__format__": machine.default_format,
        "__reduce__": reduce,
        "__reduce_ex__": reduce,
        "__sizeof__": lambda owner: 0,
        "__dir__": lambda owner: _names(machine, owner),
    }
    return {name: method(name, run) for name, run in table.items()}


def _identity(owner: Value) -> int:
    return id(owner) >> 4


def _make(machine: Machine, cls: Class, args: tuple[Value, ...]) -> Value:
    if cls.data.get("abstract_names") and cls.opaque_base is None:
        machine.refuse_abstract(cls)
    return new_instance(cls, *args[:1]) if cls.layout is not None else new_instance(cls)


def _names(machine: Machine, owner: Value) -> Any:
    from sgl_audit.evaluate.standins.functions import directory

    return directory(machine, owner)
