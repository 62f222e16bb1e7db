"""Methods of built-in types on interpreter values.

Assumes: CPython's own methods. Arguments that are stored may be unknown; arguments that are
looked up may not, and then the result is unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.values import Cases, Raised, Undecidable, Unknown, Value, freeze, short

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine

Method = Callable[["Machine", Any, list[Value], dict[str, Value]], Value]

STR = [
    "capitalize",
    "casefold",
    "center",
    "count",
    "encode",
    "endswith",
    "expandtabs",
    "find",
    "index",
    "isalnum",
    "isalpha",
    "isascii",
    "isdecimal",
    "isdigit",
    "isidentifier",
    "islower",
    "isnumeric",
    "isprintable",
    "isspace",
    "istitle",
    "isupper",
    "ljust",
    "lower",
    "lstrip",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "swapcase",
    "title",
    "translate",
    "upper",
    "zfill",
]
BYTES = [
    "decode",
    "endswith",
    "find",
    "hex",
    "lower",
    "replace",
    "split",
    "startswith",
    "strip",
    "upper",
]
NUMBERS = ["bit_length", "conjugate", "is_integer", "to_bytes", "as_integer_ratio", "hex"]
STORING = {"append", "insert", "setdefault", "add", "extend"}


def plain(name: str) -> Method:
    """A method without side effects: the built-in one on known arguments."""

    def run(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        for arg in (*args, *kwargs.values()):
            if isinstance(arg, Cases):
                return machine.fork_case(
                    arg,
                    lambda case: run(
                        machine, owner, [case if a is arg else a for a in args], kwargs
                    ),
                )
            if isinstance(arg, Unknown):
                return Unknown(
                    f"{short(owner)}.{name}({arg.name})",
                    arg.reason,
                    ("method", name, freeze(owner), arg.key),
                    arg.kind,
                )
        try:
            return getattr(owner, name)(*args, **kwargs)
        except (Raised, Undecidable):
            raise
        except Exception as error:
            raise machine.convert(error) from None

    return run


def _join(machine: Machine, owner: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    items = list(machine.iterate(args[0]))
    for item in items:
        if isinstance(item, Unknown):
            return machine.unknown_text([item if isinstance(i, Unknown) else str(i) for i in items])
    try:
        return owner.join(items)
    except Exception as error:
        raise machine.convert(error) from None


def _format(machine: Machine, owner: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    texts = [machine.as_text(a) if not isinstance(a, (int, float, str)) else a for a in args]
    named = {
        k: machine.as_text(v) if not isinstance(v, (int, float, str)) else v
        for k, v in kwargs.items()
    }
    unknown = [item for item in (*texts, *named.values()) if isinstance(item, Unknown)]
    if unknown:
        return machine.unknown_text([owner, unknown[0]])
    try:
        return owner.format(*texts, **named)
    except Exception as error:
        raise machine.convert(error) from None


def changing(name: str) -> Method:
    """A method that changes its owner."""

    def run(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name not in STORING or name in ("setdefault", "add"):
            for arg in args[:1]:
                if isinstance(arg, Unknown):
                    raise Undecidable(f"{name} with {arg.name}: {arg.reason}")
        if name in ("extend", "update", "union", "intersection_update", "difference_update"):
            args = [_listed(machine, arg) for arg in args]
        if machine.tracer is not None and name == "update" and args and isinstance(args[0], dict):
            for key, value in args[0].items():
                machine.tracer.stored_item(owner, key, value)
        machine.touch(owner)
        try:
            return getattr(builtin_kind(owner), name)(owner, *args, **kwargs)
        except (Raised, Undecidable):
            raise
        except Exception as error:
            raise machine.convert(error) from None

    return run


def builtin_kind(owner: Any) -> type:
    """The built-in type underneath a value."""
    return next(
        kind for kind in (dict, list, set, tuple, str, int, float) if isinstance(owner, kind)
    )


def _listed(machine: Machine, arg: Value) -> Value:
    if isinstance(arg, (dict, set, frozenset, list, tuple)):
        return arg
    return list(machine.iterate(arg))


def _update(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    for arg in args:
        if isinstance(arg, Unknown):
            raise Undecidable(f"update with {arg.name}: {arg.reason}")
        if not isinstance(arg, dict):
            keys = machine.native_method(arg, "keys") or machine.lookup(arg, "keys")
            pairs = machine.mapping(arg) if _is_found(keys) else dict(machine.iterate(arg))
        else:
            pairs = arg
        kwargs = {**pairs, **kwargs}
    machine.touch(owner)
    for key, value in kwargs.items():
        if machine.tracer is not None:
            machine.tracer.stored_item(owner, key, value)
        dict.__setitem__(owner, key, value)
    return None


def _is_found(value: Any) -> bool:
    from sgl_audit.evaluate.values import MISSING

    return value is not None and value is not MISSING


def _get(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    key = args[0]
    if isinstance(key, Cases):
        return machine.fork_case(key, lambda case: _get(machine, owner, [case, *args[1:]], kwargs))
    if isinstance(key, Unknown):
        if not owner:
            return args[1] if len(args) > 1 else kwargs.get("default")
        return Unknown(f"entry {key.name}", key.reason, ("get", id(owner), key.key), key.kind)
    default = args[1] if len(args) > 1 else kwargs.get("default")
    try:
        return dict.get(owner, key, default)
    except TypeError as error:
        raise machine.convert(error) from None


def _sort(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    from sgl_audit.evaluate.standins.functions import sort_values

    ordered = sort_values(machine, list(owner), kwargs)
    if isinstance(ordered, Unknown):
        raise Undecidable(f"sorts by {ordered.name}")
    machine.touch(owner)
    owner[:] = ordered
    return None


def _copy(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    from sgl_audit.evaluate.standins.copying import shallow

    return shallow(machine, owner)


def _views(name: str) -> Method:
    def run(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return getattr(dict, name)(owner)

    return run


def _from_keys(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return dict.fromkeys(machine.iterate(args[0]), args[1] if len(args) > 1 else None)


def method_tables() -> dict[type, dict[str, Method]]:
    """Type -> method name -> stand-in."""
    strings = {name: plain(name) for name in STR}
    strings |= {"join": _join, "format": _format}
    lists = {
        name: changing(name)
        for name in ("append", "extend", "insert", "pop", "remove", "reverse", "clear")
    }
    lists |= {"sort": _sort, "copy": _copy, "index": plain("index"), "count": plain("count")}
    dicts = {name: changing(name) for name in ("pop", "popitem", "clear", "setdefault")}
    dicts |= {name: _views(name) for name in ("keys", "values", "items")}
    dicts |= {"get": _get, "update": _update, "copy": _copy, "fromkeys": _from_keys}
    pure_sets = [
        "union",
        "intersection",
        "difference",
        "symmetric_difference",
        "issubset",
        "issuperset",
        "isdisjoint",
    ]
    sets = {name: changing(name) for name in ("add", "discard", "remove", "pop", "clear", "update")}
    sets |= {name: changing(name) for name in ("intersection_update", "difference_update")}
    sets |= {name: plain_iterables(name) for name in pure_sets} | {"copy": _copy}
    return {
        str: strings,
        list: lists,
        dict: dicts,
        set: sets,
        frozenset: {name: plain_iterables(name) for name in pure_sets} | {"copy": _copy},
        tuple: {"index": plain("index"), "count": plain("count")},
        bytes: {name: plain(name) for name in BYTES},
        int: {name: plain(name) for name in NUMBERS},
        float: {name: plain(name) for name in NUMBERS},
    }


def plain_iterables(name: str) -> Method:
    """A set operation whose arguments may be any iterable."""
    operation = plain(name)

    def run(machine: Machine, owner: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        listed = [arg if isinstance(arg, Unknown) else _listed(machine, arg) for arg in args]
        return operation(machine, owner, listed, kwargs)

    return run
