"""Built-in functions.

Assumes: CPython 3.11's meaning of each. `id` gives stable small numbers; `input`, `exec`, `eval`,
`compile` and `open` for writing outside memory do not exist.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate import tensors
from sgl_audit.evaluate.attributes import is_attribute_error
from sgl_audit.evaluate.standins.aggregates import (
    all_items,
    all_of,
    any_of,
    backwards,
    extreme,
    filtered,
    make_iterator,
    mapped,
    next_item,
    sort_values,
    total,
    zipped,
)
from sgl_audit.evaluate.standins.constructors import install_constructors
from sgl_audit.evaluate.streams import Stream
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
    Opaque,
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


HIDDEN = (Function, Native, Bound, Module, type(None), type(NotImplemented), type(...))


def make_builtins(machine: Machine) -> Namespace:
    """The namespace of `builtins`."""
    made: Namespace = {}
    for kind, cls in machine.types.items():
        if kind not in HIDDEN:
            made[cls.name] = cls
    made.update(machine.exceptions)
    made.update({"True": True, "False": False, "None": None, "NotImplemented": NotImplemented})
    made["Ellipsis"] = ...
    made["__debug__"] = True
    raw = _raw_functions(machine)
    made.update(
        {
            name: Native(name, lifted(machine, name, run) if name in LIFTED else run, raw=True)
            for name, run in raw.items()
        }
    )
    for name, hook in NUMERIC.items():
        made[name] = Native(name, _numeric(machine, getattr(builtins, name), hook))
    made["pow"] = Native("pow", lambda args, kwargs: _power(machine, args, kwargs))
    made["len"] = Native("len", lambda args, kw: length(machine, args[0]), raw=True)
    for name in ("input", "exec", "eval", "compile", "breakpoint"):
        made[name] = Opaque(f"builtins.{name}")
    install_constructors(machine)
    return made


# Functions on numbers -> the special method that an instance answers with.
NUMERIC = {
    "abs": "__abs__",
    "round": "__round__",
    "divmod": "__divmod__",
    "chr": "__index__",
    "ord": "",
    "hex": "__index__",
    "bin": "__index__",
    "oct": "__index__",
}


def _numeric(machine: Machine, function: Callable[..., Any], hook_name: str) -> Run:
    def run(args: list[Value], kwargs: dict[str, Value]) -> Value:
        first: Any = args[0] if args else None
        if isinstance(first, Opaque):
            return Unknown(f"{function.__name__}({first.name})", "outside the tree")
        if hook_name and is_instance(first) and (hook := first.cls.find(hook_name)) is not MISSING:
            result = machine.call(machine.bind(hook, first, first.cls), args[1:], kwargs)
            return function(result) if hook_name == "__index__" else result
        if isinstance(first, Instance):
            text = f"bad operand type for {function.__name__}(): {first.cls.name!r}"
            raise machine.error("TypeError", text)
        return function(*args, **kwargs)

    return run


def _power(machine: Machine, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if len(args) == 2 and not kwargs:
        return machine.binary("Pow", *args)
    return pow(*args, **kwargs)


def length(machine: Machine, value: Value) -> Value:
    """`len(value)`."""
    if isinstance(value, Cases):
        return machine.over_cases(value, lambda case: length(machine, case))
    if isinstance(value, Unknown):
        return value.derive(f"len({value.name})", "len")
    if is_instance(value):
        hook = value.cls.find("__len__")
        if hook is not MISSING:
            return machine.call(machine.bind(hook, value, value.cls), [], {})
    if isinstance(value, Class):
        if value.meta is not None and (hook := value.meta.find("__len__")) is not MISSING:
            return machine.call(machine.bind(hook, value, value.meta), [], {})
        if "canonical" in value.data:
            return len(value.data["canonical"])
    if isinstance(value, Opaque):
        return Unknown(f"len({value.name})", "outside the tree", ("len", freeze(value)))
    try:
        return len(value)
    except TypeError:
        text = f"object of type {machine.type_name(value)!r} has no len()"
        raise machine.error("TypeError", text) from None
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
        "setattr": simple(set_attribute),
        "delattr": simple(lambda m, o, n: m.delattr(o, n)),
        "callable": simple(is_callable),
        "any": simple(any_of),
        "all": simple(all_of),
        "sum": simple(total),
        "min": lambda args, kwargs: extreme(machine, args, kwargs, "<"),
        "max": lambda args, kwargs: extreme(machine, args, kwargs, ">"),
        "sorted": lambda args, kwargs: sort_values(machine, all_items(machine, args[0]), kwargs),
        "reversed": simple(backwards),
        "enumerate": simple(lambda m, v, start=0: Stream(m, enumerate(m.iterate(v), start))),
        "zip": lambda args, kwargs: zipped(machine, args, kwargs),
        "map": lambda args, kwargs: Stream(machine, mapped(machine, args[0], args[1:])),
        "filter": simple(lambda m, f, v: Stream(m, filtered(m, f, v))),
        "iter": simple(make_iterator),
        "next": simple(next_item),
        "print": lambda args, kwargs: None,
        "repr": simple(lambda m, v: m.as_repr(v)),
        "ascii": simple(lambda m, v: m.format(v, "", "a")),
        "format": simple(lambda m, v, spec="": m.format(v, spec, "")),
        "hash": simple(hash_of),
        "id": simple(lambda m, v: id(v)),
        "super": simple(lambda m, after, owner=None: Super(after, owner)),
        "vars": simple(variables),
        "dir": simple(directory),
        "open": simple(lambda m, *a, **k: m.imports.standins.files.open(*a, **k)),
        "__import__": simple(lambda m, name, *rest, **kw: m.imports.load(name.split(".")[0])),
        "__build_class__": simple(lambda m, *a, **k: Unknown("class", "built by hand")),
    }


def set_attribute(machine: Machine, owner: Value, name: Value, value: Value) -> Value:
    """`setattr(owner, name, value)`."""
    if isinstance(name, Cases):
        return machine.fork_case(name, lambda case: set_attribute(machine, owner, case, value))
    if isinstance(name, Unknown):
        if isinstance(owner, Unknown) and not isinstance(owner, Cases):
            machine.disturb(owner)
            return None
        raise Undecidable(f"sets attribute {name.name}: {name.reason}")
    if not isinstance(name, str):
        text = f"attribute name must be string, not {machine.type_name(name)!r}"
        raise machine.error("TypeError", text)
    machine.setattr(owner, str(name), value)
    return None


# Functions without effects of their own: an unknown argument makes the result unknown.
LIFTED = (
    "any",
    "all",
    "sum",
    "min",
    "max",
    "sorted",
    "reversed",
    "enumerate",
    "zip",
    "iter",
    "next",
)


def lifted(machine: Machine, name: str, run: Run) -> Run:
    """A function on collections that takes an unknown collection."""

    def call(args: list[Value], kwargs: dict[str, Value]) -> Value:
        for arg in args:
            if isinstance(arg, Cases):
                return machine.fork_case(
                    arg, lambda case: call([case if a is arg else a for a in args], kwargs)
                )
            if isinstance(arg, Unknown) and (len(args) == 1 or name not in ("min", "max")):
                keys = tuple(freeze(a) for a in args)
                return Unknown(f"{name}({arg.name})", arg.reason, (name, *keys), arg.kind)
        return run(args, kwargs)

    return call


def is_instance_of(machine: Machine, value: Value, kind: Value) -> Value:
    """`isinstance(value, kind)`."""
    if isinstance(value, Cases):
        return machine.over_cases(value, lambda case: is_instance_of(machine, case, kind))
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
    text = "isinstance() arg 2 must be a type, a tuple of types, or a union"
    raise machine.error("TypeError", text)


def _in_class(machine: Machine, value: Value, kind: Class) -> Value:
    if kind is machine.object_class:
        return True
    instance_check = kind.meta.find("__instancecheck__") if kind.meta is not None else MISSING
    if instance_check is not MISSING:
        return machine.truth_value(machine.call(instance_check, [kind, value], {}))
    if isinstance(value, INSTANCE_TYPES):
        if kind in value.cls.mro or is_virtual(value.cls, kind):
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


def is_virtual(cls: Class, kind: Class) -> bool:
    """Whether an abstract class counts a class among its own by registration."""
    return any(
        kind is given or kind in given.mro
        for owner in cls.mro
        for given in owner.data.get("virtual", ())
    )


def _built_in_kind(value: Class, kind: Class) -> bool:
    """Whether a built-in type belongs to a class such as Mapping."""
    kinds = kind.data.get("kinds")
    return kinds is not None and value.layout is not None and issubclass(value.layout, kinds)


def is_subclass_of(machine: Machine, value: Value, kind: Value) -> Value:
    """`issubclass(value, kind)`."""
    if isinstance(kind, tuple):
        answers = [is_subclass_of(machine, value, part) for part in kind]
        return True in [a for a in answers if isinstance(a, bool)] or next(
            (a for a in answers if isinstance(a, Unknown)), False
        )
    if isinstance(value, Unknown) or isinstance(kind, Unknown):
        return Unknown(f"issubclass({short(value)}, {short(kind)})", "one is unknown")
    if isinstance(kind, Instance) and "__origin__" in kind.d:
        inner = machine.imports.standins.typing.union_args(kind)
        if inner is not None:
            return is_subclass_of(machine, value, inner)
        kind = kind.d["__origin__"]
    if isinstance(value, Class) and isinstance(kind, Class):
        hook = MISSING if kind.meta is None else kind.meta.find("__subclasscheck__")
        if hook is not MISSING:
            return machine.truth_value(machine.call(hook, [kind, value], {}))
        return kind in value.mro or is_virtual(value, kind) or _built_in_kind(value, kind)
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
        if is_attribute_error(raised):
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
        if (owner.key, name) in machine.unknown_state:
            return True
        if tensors.lacks(machine, owner, name):
            return False
        marks = machine.epoch_of(owner)
        return owner.derive(f"hasattr({owner.name}, {name!r})", "hasattr", name, *marks)
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


def hash_of(machine: Machine, value: Value) -> Value:
    """`hash(value)`: stable for text, whatever the hash seed."""
    if isinstance(value, Unknown):
        return value.derive(f"hash({value.name})", "hash")
    try:
        hash(value)
    except TypeError as error:
        raise machine.convert(error) from None
    if isinstance(value, (int, float, Instance)):
        return hash(value)
    if isinstance(value, tuple):
        return hash(tuple(hash_of(machine, item) for item in value))
    return int.from_bytes(repr(freeze(value)).encode()[-7:], "big")


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


def directory(machine: Machine, value: Value) -> Value:
    """`dir(value)`, without what every object has."""
    if isinstance(value, Unknown):
        return value.derive(f"dir({value.name})", "dir")
    if isinstance(value, Class):
        names = {name for owner in value.mro for name in owner.ns}
    elif is_instance(value):
        names = {*value.d, *(name for owner in value.cls.mro for name in owner.ns)}
    else:
        names = set(variables(machine, value))
    return sorted(name for name in names if isinstance(name, str))
