"""`collections`, `collections.abc` and named tuples.

Assumes: CPython's own behaviour. Unknown keys never enter a container.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.calling import missing_text, too_many_text
from sgl_audit.evaluate.classes import new_instance
from sgl_audit.evaluate.standins.written import COLLECTIONS, MIXINS, run_written
from sgl_audit.evaluate.streams import Stream
from sgl_audit.evaluate.values import (
    MISSING,
    Bound,
    Class,
    ClassMethod,
    Function,
    Module,
    Native,
    Property,
    Value,
    is_instance,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine
    from sgl_audit.evaluate.standins import Standins

LISTED = (list, tuple, str, bytes, dict, set, frozenset, range)
VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
# Name -> the built-in types it counts as its own, and the methods that make others so.
ABSTRACT: dict[str, tuple[tuple[type, ...], tuple[str, ...]]] = {
    "Iterable": ((*LISTED, *VIEWS, Stream), ("__iter__",)),
    "Iterator": ((Stream,), ("__next__", "__iter__")),
    "Reversible": ((list, tuple, str, dict, range), ("__reversed__", "__iter__")),
    "Sized": ((*LISTED, *VIEWS), ("__len__",)),
    "Container": ((*LISTED, *VIEWS), ("__contains__",)),
    "Collection": ((*LISTED, *VIEWS), ("__len__", "__iter__", "__contains__")),
    "Hashable": ((str, int, float, tuple, frozenset, bytes, type(None)), ("__hash__",)),
    "Callable": ((Function, Native, Bound, Class), ("__call__",)),
    "Mapping": ((dict,), ()),
    "MutableMapping": ((dict,), ()),
    "Sequence": ((list, tuple, str, bytes, range), ()),
    "MutableSequence": ((list,), ()),
    "Set": ((set, frozenset, VIEWS[0], VIEWS[2]), ()),
    "MutableSet": ((set,), ()),
    "KeysView": ((VIEWS[0],), ()),
    "ValuesView": ((VIEWS[1],), ()),
    "ItemsView": ((VIEWS[2],), ()),
    "MappingView": (VIEWS, ()),
    "Generator": ((), ("send", "throw", "close")),
    "Awaitable": ((), ("__await__",)),
    "Coroutine": ((), ("__await__", "send")),
    "AsyncIterator": ((), ("__anext__",)),
    "AsyncIterable": ((), ("__aiter__",)),
    "AsyncGenerator": ((), ("__anext__", "asend")),
    "ByteString": ((bytes,), ()),
    "Buffer": ((bytes,), ()),
}
# Heirs within `collections.abc`.
PARENTS = {
    "MutableMapping": "Mapping",
    "MutableSequence": "Sequence",
    "MutableSet": "Set",
    "Mapping": "Collection",
    "Sequence": "Collection",
    "Set": "Collection",
    "Collection": "Iterable",
    "Iterator": "Iterable",
    "Generator": "Iterator",
}


def _abc(standins: Standins, module: Module) -> None:
    machine = standins.machine
    mixins = run_written(machine, "collections.abc", MIXINS)
    made: dict[str, Class] = {}

    def make(name: str) -> Class:
        if name not in made:
            parent = make(PARENTS[name]) if name in PARENTS else machine.object_class
            kinds, methods = ABSTRACT[name]
            cls = made[name] = Class(name, (parent,), {}, "collections.abc")
            cls.data.update({"form": name, "kinds": kinds})
            cls.data["check"] = lambda value: _belongs(value, kinds, methods)
            written = mixins.get(name)
            if isinstance(written, Class):
                own = {k: v for k, v in written.ns.items() if isinstance(v, Function)}
                cls.ns.update(own)
        return made[name]

    for name in ABSTRACT:
        module.ns[name] = make(name)


def _belongs(value: Value, kinds: tuple[type, ...], methods: tuple[str, ...]) -> bool:
    if isinstance(value, kinds):
        return True
    if is_instance(value) and methods:
        found = [value.cls.find(name) for name in methods]
        if methods == ("__hash__",):
            return found[0] is not None
        return all(hook is not MISSING and hook is not None for hook in found)
    return methods[:1] == ("send",) and isinstance(value, Stream) and hasattr(value.source, "send")


def _collections(standins: Standins, module: Module) -> None:
    machine = standins.machine
    written = run_written(machine, "collections", COLLECTIONS)
    for name in ("OrderedDict", "Counter", "deque", "ChainMap"):
        module.ns[name] = written[name]
    module.ns["defaultdict"] = _default_dict(machine)
    for name, kind in (("UserDict", dict), ("UserList", list), ("UserString", str)):
        module.ns[name] = machine.types[kind]
    standins.define(
        module,
        raw=True,
        namedtuple=lambda name, fields, **kw: named_tuple(standins, name, fields, kw),
    )
    module.ns["abc"] = machine.imports.load("collections.abc")


def _default_dict(machine: Machine) -> Class:
    types = machine.types
    default = Class("defaultdict", (types[dict],), {}, "collections")

    def make(args: list[Value], kwargs: dict[str, Value]) -> Value:
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

    def initialise(args: list[Value], kwargs: dict[str, Value]) -> None:
        owner = args[0]
        machine.touch(owner)
        if len(args) > 1:
            machine.touch(owner.d)
            owner.d["default_factory"] = args[1]
        for key, value in machine.mapping_of(args[2:], kwargs).items():
            dict.__setitem__(owner, key, value)

    def text(args: list[Value], kwargs: dict[str, Value]) -> Value:
        owner = args[0]
        factory = machine.as_repr(owner.d.get("default_factory"))
        parts = ["defaultdict(", factory, ", ", machine.as_repr(dict(owner)), ")"]
        return machine.assemble(parts)

    default.data["new"] = Native("defaultdict", make, raw=True)
    default.ns["__init__"] = Native("__init__", initialise, raw=True, method=True)
    default.ns["__missing__"] = Native("__missing__", missing, raw=True, method=True)
    default.ns["__repr__"] = Native("__repr__", text, raw=True, method=True)
    return default


def named_tuple(standins: Standins, name: str, fields: Value, options: dict[str, Value]) -> Class:
    """`collections.namedtuple`."""
    listed = fields.replace(",", " ").split() if isinstance(fields, str) else list(fields)
    defaults = list(options.get("defaults") or ())
    cls = Class(name, (standins.machine.types[tuple],), {})
    tail = listed[len(listed) - len(defaults) :]
    fill_tuple(standins, cls, listed, dict(zip(tail, defaults, strict=True)))
    return cls


def named_tuple_base(standins: Standins) -> Class:
    """`typing.NamedTuple`: heirs get their fields from annotations."""
    base = Class("NamedTuple", (standins.machine.types[tuple],), {}, "typing")

    def on_subclass(cls: Class, options: dict[str, Value]) -> None:
        names = list(cls.ns.get("__annotations__", {}))
        if names and base in cls.bases:
            fill_tuple(standins, cls, names, {n: cls.ns[n] for n in names if n in cls.ns})

    def functional(args: list[Value], kwargs: dict[str, Value]) -> Value:
        cls, name, fields = args[0], args[1], list(args[2])
        if cls is not base:
            raise standins.machine.error("TypeError", f"{cls.name}() takes its fields")
        return named_tuple(standins, name, [field[0] for field in fields], {})

    base.data["on_subclass"] = on_subclass
    base.data["new"] = Native("NamedTuple", functional, raw=True)
    return base


def fill_tuple(
    standins: Standins, cls: Class, names: list[str], defaults: dict[str, Value]
) -> None:
    """Give a class the constructor, fields and methods of a named tuple."""
    machine = standins.machine
    callee = f"{cls.name}.__new__()"

    def construct(args: list[Value], kwargs: dict[str, Value]) -> Value:
        owner, given = args[0], args[1:]
        if len(given) > len(names):
            text = too_many_text(callee, len(names) + 1, len(defaults), len(given) + 1)
            raise machine.error("TypeError", text)
        values = dict(zip(names, given, strict=False))
        for key, value in kwargs.items():
            if key not in names or key in values:
                text = f"{callee} got an unexpected keyword argument {key!r}"
                raise machine.error("TypeError", text)
            values[key] = value
        missing = [name for name in names if name not in values and name not in defaults]
        if missing:
            raise machine.error("TypeError", missing_text(callee, missing))
        return new_instance(owner, tuple(values.get(n, defaults.get(n)) for n in names))

    def replaced(args: list[Value], kwargs: dict[str, Value]) -> Value:
        unexpected = [key for key in kwargs if key not in names]
        if unexpected:
            raise machine.error("ValueError", f"Got unexpected field names: {unexpected!r}")
        values = zip(names, args[0], strict=True)
        return new_instance(args[0].cls, tuple(kwargs.get(n, v) for n, v in values))

    def shown(args: list[Value], kwargs: dict[str, Value]) -> Value:
        parts: list[Any] = [f"{args[0].cls.name}("]
        for index, (name, value) in enumerate(zip(names, args[0], strict=True)):
            parts += [", " if index else "", f"{name}=", machine.as_repr(value)]
        return machine.assemble([*parts, ")"])

    def made(args: list[Value], kwargs: dict[str, Value]) -> Value:
        return construct([args[0], *machine.iterate(args[1])], {})

    def refuse(args: list[Value], kwargs: dict[str, Value]) -> None:
        raise machine.error("AttributeError", "can't set attribute")

    cls.data["new"] = Native(cls.name, construct, raw=True)
    cls.ns.update({"_fields": tuple(names), "_field_defaults": dict(defaults)})
    for index, name in enumerate(names):
        cls.ns[name] = Property(_element(name, index), Native("set", refuse, raw=True))
    as_dict = Native(
        "_asdict", lambda a, k: dict(zip(names, a[0], strict=True)), raw=True, method=True
    )
    cls.ns["_asdict"] = as_dict
    cls.ns["_replace"] = Native("_replace", replaced, raw=True, method=True)
    cls.ns["_make"] = ClassMethod(Native("_make", made, raw=True))
    cls.ns.setdefault("__repr__", Native("__repr__", shown, raw=True, method=True))
    cls.forget()


def _element(name: str, index: int) -> Native:
    return Native(name, lambda args, kwargs: tuple.__getitem__(args[0], index), raw=True)


BUILDERS: dict[str, Any] = {"collections": _collections, "collections.abc": _abc}
