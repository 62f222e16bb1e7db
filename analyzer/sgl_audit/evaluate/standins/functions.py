"""Built-in functions and types.

Assumes: CPython 3.11's meaning of each. `id` gives stable small numbers; `input`, `exec`, `eval`,
`compile` and `open` for writing outside memory do not exist.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.standins.methods import builtin_kind
from sgl_audit.evaluate.values import (
    INSTANCE_TYPES,
    MISSING,
    Bound,
    Cases,
    Class,
    ClassMethod,
    Function,
    Instance,
    Module,
    Namespace,
    Native,
    Negation,
    Opaque,
    Property,
    Raised,
    StaticMethod,
    Super,
    Undecidable,
    Unknown,
    Value,
    freeze,
    is_instance,
    short,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine

Run = Callable[[list[Value], dict[str, Value]], Value]


def make_types(machine: Machine) -> dict[type, Class]:
    """The classes that stand for Python's built-in types."""
    root = Class("object", (), {})
    root.mro = (root,)
    root.bases = ()
    machine.object_class = root
    made: dict[type, Class] = {object: root}
    for kind in (str, int, float, dict, list, set, tuple):
        made[kind] = Class(kind.__name__, (root,), {}, layout=kind)
    for kind in (frozenset, bytes, complex, range, slice, bytearray, memoryview):
        made[kind] = Class(kind.__name__, (root,), {})
    made[bool] = Class("bool", (made[int],), {})
    made[type] = Class("type", (root,), {})
    made[type(None)] = Class("NoneType", (root,), {})
    made[type(NotImplemented)] = Class("NotImplementedType", (root,), {})
    made[Function] = made[Native] = Class("function", (root,), {})
    made[Bound] = Class("method", (root,), {})
    made[Module] = Class("module", (root,), {})
    made[Property] = Class("property", (root,), {})
    made[StaticMethod] = Class("staticmethod", (root,), {})
    made[ClassMethod] = Class("classmethod", (root,), {})
    return made


def make_exceptions(machine: Machine) -> dict[str, Class]:
    """Python's exception classes, by name."""
    made: dict[str, Class] = {}

    def make(kind: type) -> Class:
        name = kind.__name__
        if name not in made:
            bases = tuple(make(base) for base in kind.__bases__ if issubclass(base, BaseException))
            made[name] = Class(name, bases or (machine.object_class,), {})
            made[name].finals = True
        return made[name]

    for value in vars(builtins).values():
        if isinstance(value, type) and issubclass(value, BaseException):
            make(value)
    base = made["BaseException"]

    def initialise(args: list[Value], kwargs: dict[str, Value]) -> Value:
        args[0].d["args"] = tuple(args[1:])

    def attach(args: list[Value], kwargs: dict[str, Value]) -> Value:
        return args[0]

    base.ns["__init__"] = Native("BaseException.__init__", initialise, raw=True, method=True)
    base.ns["with_traceback"] = Native("with_traceback", attach, raw=True, method=True)
    base.ns["__cause__"] = None
    base.ns["__context__"] = None
    base.ns["__traceback__"] = None
    made["EnvironmentError"] = made["IOError"] = made["OSError"]
    made["SystemExit"].ns["code"] = Property(
        Native("code", lambda args, kw: args[0].d["args"][0] if args[0].d["args"] else None)
    )
    made["StopIteration"].ns["value"] = Property(
        Native("value", lambda args, kw: args[0].d["args"][0] if args[0].d["args"] else None)
    )
    return made


def make_builtins(machine: Machine) -> Namespace:
    """The namespace of `builtins`."""
    made: Namespace = {}
    for kind, cls in machine.types.items():
        if kind not in (Function, Native, Bound, Module, type(None), type(NotImplemented)):
            made[cls.name] = cls
    made.update(machine.exceptions)
    made.update({"True": True, "False": False, "None": None, "NotImplemented": NotImplemented})
    made["Ellipsis"] = ...
    made["__debug__"] = True
    for name in ("abs", "chr", "ord", "divmod", "round", "pow", "hex", "bin", "oct", "callable_"):
        if hasattr(builtins, name):
            made[name] = Native(name, _pure(getattr(builtins, name)))
    raw = _raw_functions(machine)
    made.update({name: Native(name, run, raw=True) for name, run in raw.items()})
    made["len"] = Native("len", lambda args, kw: length(machine, args[0]), raw=True)
    for name in ("input", "exec", "eval", "compile", "breakpoint"):
        made[name] = Opaque(f"builtins.{name}")
    _constructors(machine)
    return made


def _pure(function: Callable[..., Any]) -> Run:
    return lambda args, kwargs: function(*args, **kwargs)


def length(machine: Machine, value: Value) -> Value:
    """`len(value)`."""
    if isinstance(value, Cases):
        return value.map(lambda case: length(machine, case))
    if isinstance(value, Unknown):
        return value.derive(f"len({value.name})", "len")
    if is_instance(value):
        hook = value.cls.find("__len__")
        if hook is not MISSING:
            return machine.call(machine.bind(hook, value, value.cls), [], {})
    if isinstance(value, Class) and "canonical" in value.data:
        return len(value.data["canonical"])
    try:
        return len(value)
    except Exception as error:
        raise machine.convert(error) from None


def _raw_functions(machine: Machine) -> dict[str, Run]:
    def simple(function: Callable[..., Value]) -> Run:
        return lambda args, kwargs: function(machine, *args, **kwargs)

    return {
        "isinstance": simple(is_instance_of),
        "issubclass": simple(is_subclass_of),
        "getattr": simple(get_attribute),
        "hasattr": simple(has_attribute),
        "setattr": simple(lambda m, o, n, v: m.setattr(o, n, v)),
        "delattr": simple(lambda m, o, n: m.delattr(o, n)),
        "callable": simple(is_callable),
        "any": simple(any_of),
        "all": simple(all_of),
        "sum": simple(total),
        "min": lambda args, kwargs: extreme(machine, args, kwargs, "<"),
        "max": lambda args, kwargs: extreme(machine, args, kwargs, ">"),
        "sorted": lambda args, kwargs: sort_values(machine, list(machine.iterate(args[0])), kwargs),
        "reversed": simple(lambda m, v: iter(list(m.iterate(v))[::-1])),
        "enumerate": simple(lambda m, v, start=0: enumerate(m.iterate(v), start)),
        "zip": lambda args, kwargs: zip(
            *[machine.iterate(a) for a in args], strict=bool(kwargs.get("strict"))
        ),
        "map": lambda args, kwargs: _mapped(machine, args[0], args[1:]),
        "filter": simple(_filtered),
        "iter": simple(lambda m, v, *rest: m.iterate(v)),
        "next": simple(next_item),
        "print": lambda args, kwargs: None,
        "repr": simple(lambda m, v: m.as_repr(v)),
        "ascii": simple(lambda m, v: m.as_repr(v)),
        "format": simple(lambda m, v, spec="": m.format(v, spec, "")),
        "hash": simple(hash_of),
        "id": simple(lambda m, v: id(v)),
        "super": lambda args, kwargs: Super(args[0], args[1]),
        "vars": simple(variables),
        "dir": simple(lambda m, v: sorted(variables(m, v))),
        "open": simple(lambda m, *a, **k: m.imports.standins.files.open(*a, **k)),
        "__import__": simple(lambda m, name, *rest, **kw: m.imports.load(name.split(".")[0])),
        "__build_class__": simple(lambda m, *a, **k: Unknown("class", "built by hand")),
    }


def is_instance_of(machine: Machine, value: Value, kind: Value) -> Value:
    """`isinstance(value, kind)`."""
    if isinstance(value, Cases):
        return value.map(lambda case: is_instance_of(machine, case, kind))
    if isinstance(kind, tuple):
        answers = [is_instance_of(machine, value, part) for part in kind]
        if True in [a for a in answers if isinstance(a, bool)]:
            return True
        return next((a for a in answers if isinstance(a, Unknown)), False)
    if isinstance(kind, Unknown) and not isinstance(kind, Cases):
        return kind.derive(f"isinstance({short(value)}, {kind.name})", "isinstance", freeze(value))
    if isinstance(value, Unknown):
        return value.derive(f"isinstance({value.name}, {short(kind)})", "isinstance", freeze(kind))
    checker = (
        getattr(kind, "d", {}).get("isinstance") if isinstance(kind, (Opaque, Instance)) else None
    )
    if checker is not None:
        return checker(value)
    if isinstance(kind, Instance) and "__origin__" in kind.d:
        return machine.imports.standins.typing.check(value, kind)
    if isinstance(kind, Class):
        return _in_class(machine, value, kind)
    if isinstance(kind, Opaque):
        if is_instance(value) and value.cls.opaque_base is not None:
            return value.cls.opaque_base is kind or Unknown(
                f"isinstance({short(value)}, {kind.name})", "its base class lies outside the tree"
            )
        if isinstance(value, Opaque):
            return Unknown(f"isinstance({value.name}, {kind.name})", "both lie outside the tree")
        return False
    raise machine.error("TypeError", "isinstance() arg 2 must be a type")


def _in_class(machine: Machine, value: Value, kind: Class) -> Value:
    if kind is machine.object_class:
        return True
    instance_check = kind.meta.find("__instancecheck__") if kind.meta is not None else MISSING
    if instance_check is not MISSING:
        return machine.call(instance_check, [kind, value], {})
    if isinstance(value, INSTANCE_TYPES):
        if kind in value.cls.mro or kind in value.cls.data.get("virtual", ()):
            return True
        checker = kind.data.get("check")
        return bool(checker and checker(value))
    if isinstance(value, Class):
        return kind is machine.types[type] or (value.meta is not None and kind in value.meta.mro)
    checker = kind.data.get("check")
    if checker is not None:
        return bool(checker(value))
    if kind.name == "type" and isinstance(value, Opaque):
        return Unknown(f"isinstance({value.name}, type)", "outside the tree")
    own = machine.type_of(value)
    return isinstance(own, Class) and kind in own.mro


def is_subclass_of(machine: Machine, value: Value, kind: Value) -> Value:
    """`issubclass(value, kind)`."""
    if isinstance(kind, tuple):
        answers = [is_subclass_of(machine, value, part) for part in kind]
        return True in [a for a in answers if isinstance(a, bool)] or next(
            (a for a in answers if isinstance(a, Unknown)), False
        )
    if isinstance(value, Unknown) or isinstance(kind, Unknown):
        return Unknown(f"issubclass({short(value)}, {short(kind)})", "one is unknown")
    if isinstance(value, Class) and isinstance(kind, Class):
        return kind in value.mro or kind in value.data.get("virtual", ())
    if isinstance(value, Class) and isinstance(kind, Opaque):
        return value.opaque_base is kind
    if isinstance(value, Opaque):
        return Unknown(f"issubclass({value.name}, {short(kind)})", "outside the tree")
    raise machine.error("TypeError", "issubclass() arg 1 must be a class")


def get_attribute(machine: Machine, owner: Value, name: Value, *default: Value) -> Value:
    """`getattr(owner, name[, default])`."""
    if isinstance(name, Cases):
        return machine.fork_case(name, lambda case: get_attribute(machine, owner, case, *default))
    if isinstance(name, Unknown):
        return name.derive(f"getattr({short(owner)}, {name.name})", "getattr", freeze(owner))
    if isinstance(owner, Cases):
        return machine.fork_case(owner, lambda case: get_attribute(machine, case, name, *default))
    if not default:
        return machine.getattr(owner, name)
    value = _try_lookup(machine, owner, name)
    return default[0] if value is MISSING else value


def _try_lookup(machine: Machine, owner: Value, name: str) -> Value:
    machine.handlers += 1
    try:
        return machine.lookup(owner, name)
    except Raised as raised:
        if any(cls.name == "AttributeError" for cls in raised.value.cls.mro):
            return MISSING
        raise
    finally:
        machine.handlers -= 1


def has_attribute(machine: Machine, owner: Value, name: Value) -> Value:
    """`hasattr(owner, name)`."""
    if isinstance(owner, Cases):
        return machine.fork_case(owner, lambda case: has_attribute(machine, case, name))
    if isinstance(name, Unknown):
        return name.derive(f"hasattr({short(owner)}, {name.name})", "hasattr", freeze(owner))
    if isinstance(owner, Unknown):
        return owner.derive(f"hasattr({owner.name}, {name!r})", "hasattr", name)
    value = _try_lookup(machine, owner, name)
    if isinstance(value, Unknown) and is_instance(owner) and value.key[0] == "opaque-base":
        return value.derive(f"hasattr({short(owner)}, {name!r})", "hasattr", name)
    return value is not MISSING


def is_callable(machine: Machine, value: Value) -> Value:
    """`callable(value)`."""
    if isinstance(value, Unknown):
        return value.derive(f"callable({value.name})", "callable")
    if is_instance(value):
        return value.cls.find("__call__") is not MISSING
    return isinstance(value, (Function, Bound, Native, Class, Opaque, StaticMethod, ClassMethod))


def any_of(machine: Machine, values: Value) -> Value:
    """`any(values)`, three-valued."""
    return _quantify(machine, values, True, "any")


def all_of(machine: Machine, values: Value) -> Value:
    """`all(values)`, three-valued."""
    return _quantify(machine, values, False, "all")


def _quantify(machine: Machine, values: Value, stop: bool, name: str) -> Value:
    doubts = []
    for item in machine.iterate(values):
        truth = machine.truth_value(item)
        if truth is stop:
            return stop
        if isinstance(truth, Unknown):
            doubts.append(truth)
    if not doubts:
        return not stop
    if len(doubts) == 1:
        return doubts[0]
    text = (" or " if stop else " and ").join(doubt.name for doubt in doubts[:4])
    return Unknown(text, doubts[0].reason, (name, *(doubt.key for doubt in doubts)), doubts[0].kind)


def total(machine: Machine, values: Value, start: Value = 0) -> Value:
    """`sum(values)`."""
    result = start
    for item in machine.iterate(values):
        result = machine.binary("Add", result, item)
    return result


def extreme(machine: Machine, args: list[Value], kwargs: dict[str, Value], sign: str) -> Value:
    """`min` and `max`."""
    values = list(machine.iterate(args[0])) if len(args) == 1 else args
    if not values:
        if "default" in kwargs:
            return kwargs["default"]
        raise machine.error("ValueError", "arg is an empty sequence")
    key = kwargs.get("key")
    marks = [machine.call(key, [value], {}) if key is not None else value for value in values]
    doubt = next((mark for mark in marks if isinstance(mark, Unknown)), None)
    if doubt is not None:
        if isinstance(doubt, Cases) and key is None:
            return machine.fork_case(
                doubt,
                lambda case: extreme(
                    machine, [case if v is doubt else v for v in values], kwargs, sign
                ),
            )
        shown = ", ".join(short(value) for value in values)
        name = "min" if sign == "<" else "max"
        return Unknown(
            f"{name}({shown})", doubt.reason, (name, *(freeze(v) for v in values)), doubt.kind
        )
    best = 0
    for index in range(1, len(values)):
        try:
            better = marks[index] < marks[best] if sign == "<" else marks[index] > marks[best]
        except TypeError as error:
            raise machine.convert(error) from None
        if better:
            best = index
    return values[best]


def sort_values(machine: Machine, values: list[Value], kwargs: dict[str, Value]) -> Value:
    """A sorted list; unknown where an element or key is."""
    key = kwargs.get("key")
    marks = [machine.call(key, [value], {}) if key is not None else value for value in values]
    doubt = next((mark for mark in marks if isinstance(mark, Unknown)), None)
    if doubt is not None:
        return Unknown(
            "a sorted list", doubt.reason, ("sorted", *(freeze(v) for v in values)), doubt.kind
        )
    try:
        order = sorted(
            range(len(values)), key=marks.__getitem__, reverse=bool(kwargs.get("reverse"))
        )
    except TypeError as error:
        raise machine.convert(error) from None
    return [values[index] for index in order]


def _mapped(machine: Machine, function: Value, sources: list[Value]) -> Iterator[Value]:
    for items in zip(*[machine.iterate(source) for source in sources], strict=False):
        yield machine.call(function, list(items), {})


def _filtered(machine: Machine, function: Value, source: Value) -> Iterator[Value]:
    for item in machine.iterate(source):
        if machine.truth(item if function is None else machine.call(function, [item], {})):
            yield item


def next_item(machine: Machine, source: Value, *default: Value) -> Value:
    """`next(source[, default])`."""
    if isinstance(source, Unknown):
        return source.derive(f"next({source.name})", "next")
    if is_instance(source) and (hook := source.cls.find("__next__")) is not MISSING:
        return machine.call(machine.bind(hook, source, source.cls), [], {})
    for item in source:
        return item
    if default:
        return default[0]
    raise machine.error("StopIteration")


def hash_of(machine: Machine, value: Value) -> Value:
    """`hash(value)`: stable for text, whatever the hash seed."""
    if isinstance(value, Unknown):
        return value.derive(f"hash({value.name})", "hash")
    try:
        hash(value)
    except TypeError as error:
        raise machine.convert(error) from None
    return (
        hash(value)
        if isinstance(value, int)
        else int.from_bytes(repr(freeze(value)).encode()[-7:], "big")
    )


def variables(machine: Machine, value: Value = MISSING) -> Value:
    """`vars(value)`."""
    if isinstance(value, (Module, Class)):
        return value.ns
    if isinstance(value, Unknown):
        return value.derive(f"vars({value.name})", "vars")
    found = getattr(value, "d", None)
    if found is None:
        adapter = machine.imports.hosts._adapter(value)
        if adapter is not None and hasattr(adapter, "variables"):
            return adapter.variables(machine, value)
        raise machine.error("TypeError", "vars() argument must have __dict__ attribute")
    return found


def _constructors(machine: Machine) -> None:
    types = machine.types

    def new(kind: type, run: Callable[[list[Value], dict[str, Value]], Value]) -> None:
        def construct(args: list[Value], kwargs: dict[str, Value]) -> Value:
            cls = args[0]
            value = run(args[1:], kwargs)
            if cls is types[kind] or isinstance(value, Unknown):
                return value
            from sgl_audit.evaluate.classes import new_instance

            return new_instance(cls, value)

        types[kind].data["new"] = Native(kind.__name__, construct, raw=True)

    new(str, lambda args, kw: _to_text(machine, args))
    new(int, lambda args, kw: _number(machine, int, args))
    new(float, lambda args, kw: _number(machine, float, args))
    new(bool, lambda args, kw: _to_bool(machine, args))
    new(list, lambda args, kw: _collect(machine, list, args))
    new(tuple, lambda args, kw: _collect(machine, tuple, args))
    new(set, lambda args, kw: _collect(machine, machine.make_set, args))
    new(
        frozenset,
        lambda args, kw: _collect(machine, lambda v: frozenset(machine.make_set(list(v))), args),
    )
    new(dict, lambda args, kw: _to_dict(machine, args, kw))
    new(bytes, lambda args, kw: bytes(*args))
    new(bytearray, lambda args, kw: bytearray(*args))
    new(complex, lambda args, kw: complex(*args))
    new(range, lambda args, kw: _range(args))
    new(slice, lambda args, kw: slice(*args))

    def fill(args: list[Value], kwargs: dict[str, Value]) -> None:
        owner = args[0]
        machine.touch(owner)
        if isinstance(owner, dict):
            dict.update(owner, _to_dict(machine, args[1:], kwargs))
        elif args[1:]:
            items = list(machine.iterate(args[1]))
            owner.extend(items) if isinstance(owner, list) else owner.update(items)

    for kind in (dict, list, set):
        types[kind].ns["__init__"] = Native(
            f"{kind.__name__}.__init__", fill, raw=True, method=True
        )
    types[type].data["new"] = Native("type", lambda args, kw: _type(machine, args, kw), raw=True)
    types[Property].data["new"] = Native(
        "property", lambda args, kw: Property(*args[1:3]), raw=True
    )
    types[StaticMethod].data["new"] = Native(
        "staticmethod", lambda args, kw: StaticMethod(args[1]), raw=True
    )
    types[ClassMethod].data["new"] = Native(
        "classmethod", lambda args, kw: ClassMethod(args[1]), raw=True
    )
    machine.object_class.data["new_object"] = True


def _to_text(machine: Machine, args: list[Value]) -> Value:
    if not args:
        return ""
    if isinstance(args[0], Cases):
        return args[0].map(machine.as_text)
    return machine.as_text(args[0])


def _number(machine: Machine, kind: Any, args: list[Value]) -> Value:
    if args and isinstance(args[0], Cases):
        return machine.fork_case(args[0], lambda case: _number(machine, kind, [case, *args[1:]]))
    if args and isinstance(args[0], Unknown):
        return args[0].derive(f"{kind.__name__}({args[0].name})", kind.__name__)
    if (
        args
        and is_instance(args[0])
        and (hook := args[0].cls.find(f"__{kind.__name__}__")) is not MISSING
    ):
        return machine.call(machine.bind(hook, args[0], args[0].cls), [], {})
    if args and isinstance(args[0], (Opaque, Class, Instance)):
        return Unknown(f"{kind.__name__}({short(args[0])})", "outside the tree")
    return kind(*args)


def _to_bool(machine: Machine, args: list[Value]) -> Value:
    return machine.truth_value(args[0]) if args else False


def _collect(machine: Machine, build: Callable[[Any], Value], args: list[Value]) -> Value:
    if not args:
        return build([])
    if isinstance(args[0], Unknown):
        if isinstance(args[0], Cases):
            return machine.fork_case(args[0], lambda case: _collect(machine, build, [case]))
        return args[0].derive(f"items of {args[0].name}", "items")
    return build(list(machine.iterate(args[0])))


def _to_dict(machine: Machine, args: list[Value], kwargs: dict[str, Value]) -> Value:
    result: dict[Value, Value] = {}
    for arg in args:
        if isinstance(arg, Unknown):
            return arg.derive(f"dict({arg.name})", "dict")
        if isinstance(arg, dict) or machine.lookup(arg, "keys") is not MISSING:
            result.update(machine.mapping(arg))
        else:
            for pair in machine.iterate(arg):
                key, value = machine.unpack(pair, 2, None)
                result[key] = value
    result.update(kwargs)
    return result


def _range(args: list[Value]) -> Value:
    doubt = next((arg for arg in args if isinstance(arg, Unknown)), None)
    if doubt is not None:
        return doubt.derive(f"range({doubt.name})", "range", *(freeze(arg) for arg in args))
    return range(*args)


def _type(machine: Machine, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if len(args) == 2:
        return machine.type_of(args[1])
    from sgl_audit.evaluate.classes import make_class

    return make_class(machine, args[1], tuple(args[2]), dict(args[3]), dict(kwargs))


def object_methods(machine: Machine) -> dict[str, Native]:
    """Methods that `object` gives to everything."""

    def method(name: str, run: Callable[..., Value]) -> Native:
        return Native(f"object.{name}", lambda args, kw: run(*args, **kw), raw=True, method=True)

    def init_nothing(owner: Value, *args: Value, **kwargs: Value) -> None:
        return None

    def get_raw(owner: Value, name: str) -> Value:
        if isinstance(owner, INSTANCE_TYPES):
            value = machine.plain_attribute(owner, name, use_getattr=False)
        else:
            value = machine.lookup(owner, name)
        if value is MISSING:
            raise machine.attribute_error(owner, name)
        return value

    def new(cls: Value, *args: Value, **kwargs: Value) -> Value:
        from sgl_audit.evaluate.classes import new_instance

        return new_instance(cls, *args[:1]) if cls.layout is not None else new_instance(cls)

    return {
        "__init__": method("__init__", init_nothing),
        "__setattr__": method(
            "__setattr__", lambda owner, name, value: machine.plain_setattr(owner, name, value)
        ),
        "__getattribute__": method("__getattribute__", get_raw),
        "__delattr__": method("__delattr__", lambda owner, name: machine.delattr(owner, name)),
        "__repr__": method("__repr__", lambda owner: machine.as_repr(owner)),
        "__str__": method("__str__", lambda owner: machine.as_text(owner)),
        "__eq__": method("__eq__", lambda owner, other: owner is other),
        "__ne__": method("__ne__", lambda owner, other: Negation.of(owner is other)),
        "__hash__": method("__hash__", lambda owner: id(owner)),
        "__new__": method("__new__", new),
        "__init_subclass__": method("__init_subclass__", init_nothing),
        "__format__": method("__format__", lambda owner, spec: machine.format(owner, spec, "")),
        "__reduce__": method("__reduce__", lambda owner: Undecidable("pickling")),
        "__sizeof__": method("__sizeof__", lambda owner: 0),
        "__contains__": method("__contains__", lambda owner, item: machine.contains(item, owner)),
        "__len__": method("__len__", lambda owner: length(machine, owner)),
        "__getitem__": method("__getitem__", lambda owner, key: _plain_item(machine, owner, key)),
        "__setitem__": method(
            "__setitem__", lambda owner, key, value: _plain_store(machine, owner, key, value)
        ),
        "__iter__": method("__iter__", lambda owner: machine.iterate(owner)),
        "__dir__": method("__dir__", lambda owner: sorted(variables(machine, owner))),
    }


def _plain_item(machine: Machine, owner: Value, key: Value) -> Value:
    if isinstance(owner, (dict, list, tuple, str)):
        try:
            return builtin_kind(owner).__getitem__(owner, key)  # type: ignore[attr-defined]
        except Exception as error:
            raise machine.convert(error) from None
    return machine.getitem(owner, key)


def _plain_store(machine: Machine, owner: Value, key: Value, value: Value) -> None:
    if isinstance(owner, dict):
        machine.touch(owner)
        dict.__setitem__(owner, key, value)
        return
    machine.setitem(owner, key, value)
