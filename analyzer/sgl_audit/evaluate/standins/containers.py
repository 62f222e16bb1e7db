"""`collections`, `collections.abc` and named tuples.

Assumes: CPython's own behaviour. Unknown keys never enter a container.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.classes import new_instance
from sgl_audit.evaluate.values import (
    MISSING,
    Bound,
    Class,
    Function,
    Instance,
    Module,
    Native,
    Property,
    Value,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.standins import Standins

ABSTRACT: dict[str, tuple[type, ...]] = {
    "Mapping": (dict,),
    "MutableMapping": (dict,),
    "Sequence": (list, tuple, str, bytes, range),
    "MutableSequence": (list,),
    "Set": (set, frozenset),
    "MutableSet": (set,),
    "Iterable": (list, tuple, str, bytes, dict, set, frozenset, range),
    "Collection": (list, tuple, str, bytes, dict, set, frozenset, range),
    "Sized": (list, tuple, str, bytes, dict, set, frozenset, range),
    "Container": (list, tuple, str, bytes, dict, set, frozenset, range),
    "Hashable": (str, int, float, tuple, frozenset, bytes, type(None)),
    "Callable": (Function, Native, Bound, Class),
}
OTHERS = [
    "Iterator",
    "Generator",
    "Awaitable",
    "Coroutine",
    "AsyncIterator",
    "AsyncIterable",
    "AsyncGenerator",
    "KeysView",
    "ValuesView",
    "ItemsView",
    "MappingView",
    "Reversible",
    "ByteString",
    "Buffer",
]


def _abc(standins: Standins, module: Module) -> None:
    root = standins.machine.object_class
    for name, kinds in ABSTRACT.items():
        cls = Class(name, (root,), {}, "collections.abc")
        cls.data["check"] = lambda value, kinds=kinds: isinstance(value, kinds)
        cls.data["form"] = name
        module.ns[name] = cls
    for name in OTHERS:
        cls = Class(name, (root,), {}, "collections.abc")
        cls.data["form"] = name
        cls.data["check"] = lambda value: hasattr(value, "__next__")
        module.ns[name] = cls


def _collections(standins: Standins, module: Module) -> None:
    machine = standins.machine
    types = machine.types
    ordered = Class("OrderedDict", (types[dict],), {}, "collections")
    ordered.ns["move_to_end"] = Native("move_to_end", lambda a, k: None, raw=True, method=True)
    default = Class("defaultdict", (types[dict],), {}, "collections")

    def make_default(args: list[Value], kwargs: dict[str, Value]) -> Value:
        made = types[dict].data["new"].run([types[dict], *args[2:]], kwargs)
        item = new_instance(args[0], made)
        item.d["default_factory"] = args[1] if len(args) > 1 else None
        return item

    def missing(args: list[Value], kwargs: dict[str, Value]) -> Value:
        owner, key = args
        factory = owner.d.get("default_factory")
        if factory is None:
            raise machine.error("KeyError", key)
        value = machine.call(factory, [], {})
        machine.touch(owner)
        dict.__setitem__(owner, key, value)
        return value

    default.data["new"] = Native("defaultdict", make_default, raw=True)
    default.ns["__missing__"] = Native("__missing__", missing, raw=True, method=True)
    deque = Class("deque", (types[list],), {}, "collections")
    deque.ns["appendleft"] = Native(
        "appendleft",
        lambda a, k: machine.call_method(a[0], "insert", [0, a[1]], {}),
        raw=True,
        method=True,
    )
    deque.ns["popleft"] = Native(
        "popleft", lambda a, k: machine.call_method(a[0], "pop", [0], {}), raw=True, method=True
    )
    deque.data["new"] = Native(
        "deque",
        lambda a, k: new_instance(a[0], list(machine.iterate(a[1])) if len(a) > 1 else []),
        raw=True,
    )
    counter = Class("Counter", (types[dict],), {}, "collections")
    counter.data["new"] = Native("Counter", lambda a, k: _count(machine, a), raw=True)
    module.ns.update(
        {"OrderedDict": ordered, "defaultdict": default, "deque": deque, "Counter": counter}
    )
    module.ns["ChainMap"] = types[dict]
    module.ns["UserDict"] = types[dict]
    standins.define(
        module,
        raw=True,
        namedtuple=lambda name, fields, **kw: named_tuple(standins, name, fields, kw),
    )
    module.ns["abc"] = machine.imports.load("collections.abc")


def _count(machine: Any, args: list[Value]) -> Value:
    counts: dict[Value, int] = {}
    for item in machine.iterate(args[1]) if len(args) > 1 else ():
        counts[item] = counts.get(item, 0) + 1
    return new_instance(args[0], counts)


def named_tuple(standins: Standins, name: str, fields: Value, options: dict[str, Value]) -> Class:
    """`collections.namedtuple`."""
    listed = fields.replace(",", " ").split() if isinstance(fields, str) else list(fields)
    defaults = list(options.get("defaults") or ())
    cls = Class(name, (standins.machine.types[tuple],), {})
    _fill_tuple(
        standins,
        cls,
        listed,
        dict(zip(listed[len(listed) - len(defaults) :], defaults, strict=True)),
    )
    return cls


def named_tuple_base(standins: Standins) -> Class:
    """`typing.NamedTuple`: heirs get their fields from annotations."""
    base = Class("NamedTuple", (standins.machine.types[tuple],), {}, "typing")

    def on_subclass(cls: Class, options: dict[str, Value]) -> None:
        names = list(cls.ns.get("__annotations__", {}))
        if names:
            _fill_tuple(
                standins, cls, names, {name: cls.ns[name] for name in names if name in cls.ns}
            )

    base.data["on_subclass"] = on_subclass
    return base


def _field(index: int, args: list[Value], kwargs: dict[str, Value]) -> Value:
    value: Value = tuple.__getitem__(args[0], index)
    return value


def _fill_tuple(
    standins: Standins, cls: Class, names: list[str], defaults: dict[str, Value]
) -> None:
    machine = standins.machine

    def construct(args: list[Value], kwargs: dict[str, Value]) -> Value:
        owner, given = args[0], args[1:]
        values = dict(zip(names, given, strict=False)) | kwargs
        missing = [name for name in names if name not in values and name not in defaults]
        if missing or len(given) > len(names):
            raise machine.error("TypeError", f"{cls.name}() missing required arguments: {missing}")
        return new_instance(owner, tuple(values.get(name, defaults.get(name)) for name in names))

    cls.data["new"] = Native(cls.name, construct, raw=True)
    cls.ns["_fields"] = tuple(names)
    for index, name in enumerate(names):
        cls.ns[name] = Property(Native(name, partial(_field, index), raw=True))
    cls.ns["_asdict"] = Native(
        "_asdict", lambda a, k: dict(zip(names, a[0], strict=True)), raw=True, method=True
    )
    cls.ns["_replace"] = Native(
        "_replace",
        lambda a, k: new_instance(
            a[0].cls, tuple(k.get(n, v) for n, v in zip(names, a[0], strict=True))
        ),
        raw=True,
        method=True,
    )
    cls.cache.clear()


BUILDERS: dict[str, Any] = {"collections": _collections, "collections.abc": _abc}
__all__ = ["BUILDERS", "MISSING", "Instance", "named_tuple", "named_tuple_base"]
