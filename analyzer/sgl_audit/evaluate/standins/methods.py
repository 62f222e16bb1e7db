"""Methods of built-in types on interpreter values.

Assumes: CPython's own methods. Arguments that are stored may be unknown; arguments that are
looked up may not, and then the result is unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.operators import SIZE_BUDGET
from sgl_audit.evaluate.streams import Stream
from sgl_audit.evaluate.values import (
    MISSING,
    Cases,
    Raised,
    Undecidable,
    Unknown,
    Value,
    freeze,
    is_instance,
    short,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine

Method = Callable[["Machine", Any, list[Value], dict[str, Value]], Value]

# Types all of whose methods leave their owner as it is.
PURE: tuple[type, ...] = (str, bytes, int, float, tuple, frozenset)
BUILT_IN: tuple[type, ...] = (dict, list, set, tuple, str, int, float, frozenset, bytes)
STORING = {"append", "insert", "setdefault", "add", "extend"}
# What `object` has too, or what is not a method to call.
NOT_COPIED = {
    *("__class__", "__init__", "__new__", "__init_subclass__", "__subclasshook__", "__doc__"),
    *("__class_getitem__", "__reduce__", "__reduce_ex__", "__getattribute__", "__setattr__"),
    *("__delattr__", "__dir__", "__sizeof__", "__repr__", "__str__", "__format__", "__hash__"),
    *("__getnewargs__", "__getstate__", "__eq__", "__ne__"),
}
PADDING = {"center", "ljust", "rjust", "zfill", "expandtabs"}


def plain(name: str, kind: type | None = None) -> Method:
    """A method without side effects: the built-in one on known arguments."""

    def run(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        for arg in (*args, *kwargs.values()):
            if isinstance(arg, Cases):
                return machine.over_cases(
                    arg,
                    lambda case, arg=arg: run(
                        machine, owner, [case if a is arg else a for a in args], kwargs
                    ),
                )
            if isinstance(arg, Unknown):
                keys = ("method", name, freeze(owner), *(freeze(a) for a in args))
                return Unknown(f"{short(owner)}.{name}({arg.name})", arg.reason, keys, arg.kind)
        if name in PADDING and args and isinstance(args[0], int) and args[0] > SIZE_BUDGET:
            raise Undecidable("a text too long to build")
        if name == "replace" and len(args) > 1 and len(args[1]) * len(owner) > SIZE_BUDGET:
            raise Undecidable("a text too long to build")
        try:
            function = getattr(owner if kind is None else kind, name)
            return function(*args, **kwargs) if kind is None else function(owner, *args, **kwargs)
        except (Raised, Undecidable):
            raise
        except Exception as error:
            raise machine.convert(error) from None

    return run


def _join(machine: Machine, owner: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if len(args) != 1:
        text = f"str.join() takes exactly one argument ({len(args)} given)"
        raise machine.error("TypeError", text)
    if isinstance(args[0], Cases):
        return machine.fork_case(args[0], lambda case: _join(machine, owner, [case], kwargs))
    if not machine.is_iterable(args[0]):
        raise machine.error("TypeError", "can only join an iterable")
    items = list(machine.iterate_counted(args[0]))
    parts: list[Value] = []
    for index, item in enumerate(items):
        if not isinstance(item, (str, Unknown)):
            kind = machine.type_name(item)
            text = f"sequence item {index}: expected str instance, {kind} found"
            raise machine.error("TypeError", text)
        parts += [item, owner] if index < len(items) - 1 else [item]
    return machine.assemble(parts)


def _format(machine: Machine, owner: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return machine.format_method(owner, args, kwargs)


def changing(name: str) -> Method:
    """A method that changes its owner."""

    def run(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name not in STORING or name in ("setdefault", "add"):
            first = args[0] if args else None
            if isinstance(first, Cases):
                return machine.fork_case(
                    first, lambda case: run(machine, owner, [case, *args[1:]], kwargs)
                )
            if isinstance(first, Unknown):
                raise Undecidable(f"{name} with {first.name}: {first.reason}")
        if name == "extend" or "update" in name:
            first = next((arg for arg in args if isinstance(arg, Cases)), None)
            if first is not None:
                return machine.fork_case(
                    first,
                    lambda case: run(machine, owner, [case if a is first else a for a in args], {}),
                )
            args = [_listed(machine, arg) for arg in args]
            if len(owner) + sum(len(arg) for arg in args) > SIZE_BUDGET:
                raise Undecidable("a sequence too large to build")
        if name in ("append", "insert") and len(owner) >= SIZE_BUDGET:
            raise Undecidable("a sequence too large to build")
        if isinstance(owner, list) and name == "pop" and args:
            args = [machine.as_index(args[0])]
        machine.touch(owner)
        if machine.tracer is not None and args and name in ("append", "extend"):
            for value in args if name == "append" else args[0]:
                machine.tracer.appended(owner, value)
        try:
            return getattr(builtin_kind(owner), name)(owner, *args, **kwargs)
        except (Raised, Undecidable):
            raise
        except Exception as error:
            raise machine.convert(error) from None

    return run


def changing_dunder(name: str) -> Method:
    """`__setitem__` and its kin, as `super()` reaches them."""

    def run(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        for arg in args[:1]:
            if isinstance(arg, Unknown):
                raise Undecidable(f"{name} with {arg.name}: {arg.reason}")
        machine.touch(owner)
        try:
            return getattr(builtin_kind(owner), name)(owner, *args)
        except Exception as error:
            raise machine.convert(error) from None

    return run


def builtin_kind(owner: Any) -> type:
    """The built-in type underneath a value."""
    return next(kind for kind in BUILT_IN if isinstance(owner, kind))


def _listed(machine: Machine, arg: Value) -> Value:
    if isinstance(arg, (dict, set, frozenset, list, tuple)):
        return arg
    return list(machine.iterate_counted(arg))


def _update(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    from sgl_audit.evaluate.standins.constructors import to_dict

    for arg in args:
        if isinstance(arg, Cases):
            return machine.fork_case(arg, lambda case: _update(machine, owner, [case], kwargs))
        if isinstance(arg, Unknown):
            raise Undecidable(f"update with {arg.name}: {arg.reason}")
    pairs = args[0] if args and isinstance(args[0], dict) and not kwargs else None
    if pairs is None:
        pairs = to_dict(machine, args, kwargs)
    machine.touch(owner)
    for key, value in list(pairs.items()):
        dict.__setitem__(owner, key, value)
    return None


def _get(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if not args or kwargs or len(args) > 2:
        try:
            return dict.get(owner, *args, **kwargs)
        except TypeError as error:
            raise machine.convert(error) from None
    key = args[0]
    if isinstance(key, Cases):
        return machine.over_cases(key, lambda case: _get(machine, owner, [case, *args[1:]], {}))
    default = args[1] if len(args) > 1 else None
    if isinstance(key, Unknown):
        if not owner:
            return default
        keys = ("get", id(owner), key.key, freeze(default))
        return Unknown(f"entry {key.name}", key.reason, keys, key.kind)
    try:
        return dict.get(owner, key, default)
    except TypeError as error:
        raise machine.convert(error) from None


def _sort(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    from sgl_audit.evaluate.standins.aggregates import sort_values

    ordered = sort_values(machine, list(owner), kwargs)
    if isinstance(ordered, Unknown):
        raise Undecidable(f"sorts by {ordered.name}")
    machine.touch(owner)
    owner[:] = ordered
    return None


def _copy(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    from sgl_audit.evaluate.standins.copying import shallow

    if is_instance(owner) and owner.cls.module != "collections" and not isinstance(owner, set):
        return builtin_kind(owner)(owner)
    return shallow(machine, owner)


def _views(name: str) -> Method:
    def run(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return getattr(dict, name)(owner)

    return run


def _from_keys(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    value = args[1] if len(args) > 1 else None
    return machine.make_dict((key, value) for key in machine.iterate_counted(args[0]))


def _set_pop(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if not owner:
        raise machine.error("KeyError", "pop from an empty set")
    machine.touch(owner)
    item = next(iter(machine.iterate_set(owner)))
    set.discard(owner, item)
    return item


def _item(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    key = args[0]
    if isinstance(key, Unknown):
        return key.derive(f"item {key.name}", "item-of", id(owner))
    try:
        kind: Any = builtin_kind(owner)
        return kind.__getitem__(owner, machine.as_index(key))
    except KeyError as error:
        hook = machine.class_hook(owner, "__missing__")
        if hook is not MISSING:
            return machine.call(machine.bind(hook, owner, owner.cls), [key], {})
        raise machine.convert(error) from None
    except Exception as error:
        raise machine.convert(error) from None


def _contains(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    kind = builtin_kind(owner)
    if kind in (list, tuple) or isinstance(args[0], Unknown):
        return machine.contains(args[0], kind(owner))
    return plain("__contains__", kind)(machine, owner, args, kwargs)


def _iterator(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return Stream(machine, iter(machine.iterate(builtin_kind(owner)(owner))))


def _length(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return builtin_kind(owner).__len__(owner)  # type: ignore[attr-defined]


def plain_iterables(name: str) -> Method:
    """A set operation whose arguments may be any iterable."""
    operation = plain(name)

    def run(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        listed = [arg if isinstance(arg, Unknown) else _listed(machine, arg) for arg in args]
        return operation(machine, owner, listed, kwargs)

    return run


SET_OPERATIONS = (
    *("union", "intersection", "difference", "symmetric_difference"),
    *("issubset", "issuperset", "isdisjoint"),
)


def method_tables() -> dict[type, dict[str, Method]]:
    """Type -> method name -> stand-in."""
    tables: dict[type, dict[str, Method]] = {kind: _copied(kind) for kind in BUILT_IN}
    tables[str] |= {"join": _join, "format": _format}
    lists = ("append", "extend", "insert", "pop", "remove", "reverse", "clear")
    tables[list] |= {name: changing(name) for name in lists}
    tables[list] |= {"sort": _sort, "index": plain("index"), "count": plain("count")}
    tables[dict] |= {name: changing(name) for name in ("pop", "popitem", "clear", "setdefault")}
    tables[dict] |= {name: _views(name) for name in ("keys", "values", "items")}
    tables[dict] |= {"get": _get, "update": _update, "fromkeys": _from_keys}
    sets: tuple[str, ...] = ("add", "discard", "remove", "clear", "update", "intersection_update")
    sets += ("difference_update", "symmetric_difference_update")
    tables[set] |= {name: changing(name) for name in sets} | {"pop": _set_pop}
    for kind in (set, frozenset):
        tables[kind] |= {name: plain_iterables(name) for name in SET_OPERATIONS}
    for copied in (list, dict, set, frozenset):
        tables[copied]["copy"] = _copy
    for written in (list, dict):
        tables[written] |= {name: changing_dunder(name) for name in ("__setitem__", "__delitem__")}
    return tables


def _copied(kind: type) -> dict[str, Method]:
    """Methods that CPython's own serve for: all of a pure type, the special ones of the others."""
    made: dict[str, Method] = {}
    for name in dir(kind):
        special = name.startswith("__")
        if name in NOT_COPIED or not callable(getattr(kind, name)):
            continue
        if kind in PURE or special:
            made[name] = plain(name, kind if special else None)
    replaced = {
        "__len__": _length,
        "__getitem__": _item,
        "__contains__": _contains,
        "__iter__": _iterator,
    }
    made |= {name: run for name, run in replaced.items() if name in made}
    for name in ("__iadd__", "__ior__", "__iand__", "__isub__", "__ixor__", "__imul__"):
        if name in made:
            made[name] = changing_dunder(name)
    return made
