"""What calling a built-in type gives.

Assumes: CPython's own conversions. An unknown argument makes the result unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.classes import build_class, make_class, new_instance
from sgl_audit.evaluate.values import (
    INSTANCE_TYPES,
    MISSING,
    Cases,
    Class,
    ClassMethod,
    Instance,
    Module,
    Native,
    Opaque,
    Property,
    StaticMethod,
    Unknown,
    Value,
    freeze,
    is_instance,
    short,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine

Run = Callable[[list[Value], dict[str, Value]], Value]


def install_constructors(machine: Machine) -> None:
    """Give every built-in type its constructor."""
    types = machine.types

    def new(kind: type, run: Run) -> None:
        def construct(args: list[Value], kwargs: dict[str, Value]) -> Value:
            cls = args[0]
            value = run(args[1:], kwargs)
            if cls is types[kind] or isinstance(value, Unknown):
                return value
            return new_instance(cls, value)

        types[kind].data["new"] = Native(kind.__name__, construct, raw=True)

    new(str, lambda args, kw: _to_text(machine, args, kw))
    new(int, lambda args, kw: _number(machine, int, args, kw))
    new(float, lambda args, kw: _number(machine, float, args, kw))
    new(bool, lambda args, kw: _to_bool(machine, args))
    new(list, lambda args, kw: _collect(machine, list, args))
    new(tuple, lambda args, kw: _collect(machine, tuple, args))
    new(set, lambda args, kw: _collect(machine, machine.make_set, args))
    new(frozenset, lambda args, kw: _collect(machine, lambda v: _frozen(machine, v), args))
    new(dict, lambda args, kw: to_dict(machine, args, kw))
    new(bytes, lambda args, kw: _bytes(machine, bytes, args, kw))
    new(bytearray, lambda args, kw: _bytes(machine, bytearray, args, kw))
    new(complex, lambda args, kw: complex(*args))
    new(range, lambda args, kw: _range(machine, args))
    new(slice, lambda args, kw: slice(*args))
    _install_fillers(machine)
    types[type].data["new"] = Native("type", lambda args, kw: _type(machine, args, kw), raw=True)
    types[Property].data["new"] = Native("property", _property, raw=True)
    types[StaticMethod].data["new"] = Native(
        "staticmethod", lambda args, kw: StaticMethod(args[1]), raw=True
    )
    types[ClassMethod].data["new"] = Native(
        "classmethod", lambda args, kw: ClassMethod(args[1]), raw=True
    )
    machine.object_class.data["new_object"] = True


def _install_fillers(machine: Machine) -> None:
    """`dict.__init__` and its kin, for classes that derive from them."""

    def fill(args: list[Value], kwargs: dict[str, Value]) -> None:
        owner = args[0]
        machine.touch(owner)
        if isinstance(owner, dict):
            dict.update(owner, to_dict(machine, args[1:], kwargs))
        elif args[1:]:
            items = list(machine.iterate(args[1]))
            if isinstance(owner, list):
                list.__setitem__(owner, slice(None), items)
            else:
                owner.update(machine.make_set(items))

    for kind in (dict, list, set):
        machine.types[kind].ns["__init__"] = Native(
            f"{kind.__name__}.__init__", fill, raw=True, method=True
        )


def _property(args: list[Value], kwargs: dict[str, Value]) -> Value:
    parts = dict(zip(("fget", "fset", "fdel"), args[1:], strict=False)) | kwargs
    return Property(parts.get("fget"), parts.get("fset"), deleter=parts.get("fdel"))


def _frozen(machine: Machine, items: Value) -> Value:
    return frozenset(machine.make_set(list(items)))


def _to_text(machine: Machine, args: list[Value], kwargs: dict[str, Value]) -> Value:
    value = args[0] if args else kwargs.get("object", "")
    if isinstance(value, (bytes, bytearray)) and (len(args) > 1 or kwargs):
        return str(value, *args[1:], **{k: v for k, v in kwargs.items() if k != "object"})
    return machine.as_text(value)


def _number(machine: Machine, kind: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if not args:
        return kind()
    value = args[0]
    if isinstance(value, Cases):
        return machine.over_cases(
            value, lambda case: _number(machine, kind, [case, *args[1:]], kwargs)
        )
    if isinstance(value, Unknown):
        return value.derive(f"{kind.__name__}({value.name})", kind.__name__, freeze(args[1:]))
    if is_instance(value):
        for name in (f"__{kind.__name__}__", "__index__"):
            hook = value.cls.find(name)
            if hook is not MISSING:
                return machine.call(machine.bind(hook, value, value.cls), [], {})
    if isinstance(value, Opaque):
        return Unknown(
            f"{kind.__name__}({short(value)})", "outside the tree", (kind.__name__, freeze(value))
        )
    try:
        return kind(*args, **kwargs)
    except TypeError:
        if isinstance(value, (Class, Instance, Module)) or not isinstance(
            value, (str, int, float, list, dict, tuple, type(None))
        ):
            wanted = (
                "a string, a bytes-like object or a real number"
                if kind is int
                else "a string or a real number"
            )
            text = f"{kind.__name__}() argument must be {wanted}, not {machine.type_name(value)!r}"
            raise machine.error("TypeError", text) from None
        raise


def _to_bool(machine: Machine, args: list[Value]) -> Value:
    return machine.truth_value(args[0]) if args else False


def _bytes(machine: Machine, kind: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    doubt = next((arg for arg in args if isinstance(arg, Unknown)), None)
    if doubt is not None:
        return doubt.derive(f"{kind.__name__}({doubt.name})", kind.__name__)
    if args and isinstance(args[0], int) and args[0] > 1_000_000:
        raise machine.error("MemoryError")
    return kind(*args, **kwargs)


def _collect(machine: Machine, build: Callable[[Any], Value], args: list[Value]) -> Value:
    if not args:
        return build([])
    value = args[0]
    if isinstance(value, Unknown):
        if isinstance(value, Cases):
            return machine.fork_case(value, lambda case: _collect(machine, build, [case]))
        return value.derive(f"items of {value.name}", "items")
    return build(list(machine.iterate_counted(value)))


def to_dict(machine: Machine, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """`dict(*args, **kwargs)`."""
    result: dict[Value, Value] = {}
    for arg in args:
        if isinstance(arg, Cases):
            return machine.fork_case(arg, lambda case: to_dict(machine, [case], kwargs))
        if isinstance(arg, Unknown):
            return arg.derive(f"dict({arg.name})", "dict")
        if isinstance(arg, dict) or machine.lookup(arg, "keys") is not MISSING:
            result.update(machine.mapping(arg))
        else:
            _add_pairs(machine, result, arg)
    result.update(kwargs)
    return result


def _add_pairs(machine: Machine, result: dict[Value, Value], pairs: Value) -> None:
    for index, pair in enumerate(machine.iterate(pairs)):
        if not isinstance(pair, Unknown):
            if not machine.is_iterable(pair):
                text = f"cannot convert dictionary update sequence element #{index} to a sequence"
                raise machine.error("TypeError", text)
            items = list(machine.iterate(pair))
            if len(items) != 2:
                text = f"dictionary update sequence element #{index} has length {len(items)}; "
                raise machine.error("ValueError", text + "2 is required")
        key, value = machine.unpack(pair, 2, None)
        if isinstance(key, Unknown):
            machine.make_dict([(key, value)])
        result[key] = value


def _range(machine: Machine, args: list[Value]) -> Value:
    for index, arg in enumerate(args):
        if isinstance(arg, Cases):
            return machine.over_cases(
                arg,
                lambda case, at=index: _range(machine, [*args[:at], case, *args[at + 1 :]]),
            )
    doubt = next((arg for arg in args if isinstance(arg, Unknown)), None)
    if doubt is not None:
        return doubt.derive(f"range({doubt.name})", "range", *(freeze(arg) for arg in args))
    return range(*[machine.as_index(arg) for arg in args])


def _type(machine: Machine, args: list[Value], kwargs: dict[str, Value]) -> Value:
    cls = args[0]
    if len(args) == 2 and cls is machine.types[type]:
        return machine.type_of(args[1])
    if len(args) != 4:
        raise machine.error("TypeError", "type() takes 1 or 3 arguments")
    name, bases, ns = args[1], tuple(args[2]), dict(args[3])
    if cls is machine.types[type]:
        return make_class(machine, name, bases, ns, kwargs)
    return build_class(machine, name, bases, ns, kwargs, cls)


__all__ = ["INSTANCE_TYPES", "install_constructors", "to_dict"]
