"""`functools`.

Assumes: caches are per function object and never full.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from sgl_audit.evaluate.journal import Memo
from sgl_audit.evaluate.values import (
    MISSING,
    Bound,
    Class,
    Function,
    Instance,
    Module,
    Native,
    Opaque,
    Property,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine
    from sgl_audit.evaluate.standins import Standins

# A lone number or text is its own key in CPython, so that 1 and 1.0 are kept apart there.
_LONE = object()
_KEYWORDS = object()
COPIED = ("__name__", "__qualname__", "__module__", "__doc__")


def cached(standins: Standins, function: Value, typed: bool = False) -> Native:
    """`lru_cache`: one entry per arguments; unknown arguments are not remembered."""
    machine = standins.machine
    entries: Memo = Memo()

    def run(args: list[Value], kwargs: dict[str, Value]) -> Value:
        if any(isinstance(arg, Unknown) for arg in (*args, *kwargs.values())):
            return machine.call(function, args, kwargs)
        key = _key(args, kwargs, typed)
        try:
            found = entries.get(key, MISSING)
        except TypeError as error:
            raise machine.convert(error) from None
        if found is MISSING:
            found = machine.call(function, args, kwargs)
            machine.touch(entries)
            entries[key] = found
            if machine.journal.top is not None:
                machine.misses.append((function, entries, key))
        return found

    def clear(args: list[Value], kwargs: dict[str, Value]) -> None:
        machine.touch(entries)
        entries.clear()

    native = Native(getattr(function, "name", "cached"), run, raw=True, method=True)
    native.d.update(
        {
            "__wrapped__": function,
            "cache_clear": Native("cache_clear", clear, raw=True),
            "cache_info": Native("cache_info", lambda a, k: Opaque("cache_info"), raw=True),
        }
    )
    for name in COPIED:
        found = machine.lookup(function, name)
        if isinstance(found, str):
            native.d[name] = found
    return native


def _key(args: list[Value], kwargs: dict[str, Value], typed: bool) -> tuple[Any, ...]:
    key = tuple(args)
    if kwargs:
        key += (_KEYWORDS, *kwargs.items())
    if typed:
        return (*key, *(type(arg) for arg in args))
    if len(key) == 1 and type(key[0]) in (int, str):
        return (_LONE, key[0])
    return key


def partial(machine: Machine, function: Value, *first: Value, **named: Value) -> Native:
    """`functools.partial`; one of a partial is one of its function."""
    if isinstance(function, Native) and "func" in function.d:
        first = (*function.d["args"], *first)
        named = {**function.d["keywords"], **named}
        function = function.d["func"]
    native = Native(
        f"partial({getattr(function, 'name', '')})",
        lambda args, kw: machine.call(function, [*first, *args], {**named, **kw}),
        raw=True,
    )
    native.d.update({"func": function, "args": first, "keywords": named})
    return native


def partial_method(machine: Machine, function: Value, *first: Value, **named: Value) -> Native:
    """`functools.partialmethod`: the instance comes first."""
    return Native(
        getattr(function, "name", "partialmethod"),
        lambda args, kw: machine.call(function, [args[0], *first, *args[1:]], {**named, **kw}),
        raw=True,
        method=True,
    )


def copy_facts(machine: Machine, wrapped: Value, wrapper: Value) -> Value:
    """`functools.update_wrapper`."""
    holder = getattr(wrapper, "d", None)
    if holder is None:
        return wrapper
    machine.touch(holder)
    holder.update({k: v for k, v in getattr(wrapped, "d", {}).items() if isinstance(k, str)})
    for name in COPIED:
        found = machine.lookup(wrapped, name)
        if found is not MISSING:
            holder[name] = found
    holder["__wrapped__"] = wrapped
    return wrapper


def reduce(machine: Machine, function: Value, items: Value, *start: Value) -> Value:
    """`functools.reduce`."""
    listed = [*start, *machine.iterate_counted(items)]
    if not listed:
        text = "reduce() of empty iterable with no initial value"
        raise machine.error("TypeError", text)
    result = listed[0]
    for item in listed[1:]:
        result = machine.call(function, [result, item], {})
    return result


def single_dispatch(machine: Machine, function: Value) -> Native:
    """`functools.singledispatch`."""
    table: dict[Value, Value] = {}

    def find(cls: Value) -> Value:
        mro = cls.mro if isinstance(cls, Class) else ()
        return next((table[item] for item in mro if item in table), function)

    def run(args: list[Value], kwargs: dict[str, Value]) -> Value:
        return machine.call(find(machine.type_of(args[0])), args, kwargs)

    def register(kind: Value, target: Value = None) -> Value:
        if isinstance(kind, Function):
            notes = kind.code.shown_annotations(kind)
            return register(next(iter(notes.values())), kind)
        if target is None:
            return Native("register", lambda args, kw: register(kind, args[0]), raw=True)
        machine.touch(table)
        table[kind] = target
        return target

    native = Native(getattr(function, "name", "dispatch"), run, raw=True)
    native.d["register"] = Native("register", lambda args, kw: register(*args), raw=True)
    native.d["dispatch"] = Native("dispatch", lambda args, kw: find(args[0]), raw=True)
    return cast(Native, copy_facts(machine, function, native))


ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "__lt__": operator.lt,
    "__le__": operator.le,
    "__gt__": operator.gt,
    "__ge__": operator.ge,
}


def total_ordering(machine: Machine, cls: Value) -> Value:
    """`functools.total_ordering`: the comparisons that are missing, from the one that is there."""
    given = next(
        (name for name in ("__lt__", "__gt__", "__le__", "__ge__") if name in cls.ns), None
    )
    if given is None:
        text = "must define at least one ordering operation: < > <= >="
        raise machine.error("ValueError", text)
    # a R b by the given operation: "<" and ">=" are opposites, as are ">" and "<=".
    strict = given in ("__lt__", "__gt__")

    def define(name: str) -> None:
        def run(args: list[Value], kwargs: dict[str, Value]) -> Value:
            one, other = args
            truth = machine.truth(machine.compare(ORDERS[given], one, other))
            equal = machine.truth(one == other)
            same_way = name[2] == given[2]
            if strict:
                return (
                    (truth or equal)
                    if same_way
                    else (not truth and not equal)
                    if (name in ("__lt__", "__gt__"))
                    else not truth
                )
            return (
                (truth and not equal)
                if same_way
                else (not truth or equal)
                if (name in ("__le__", "__ge__"))
                else not truth
            )

        cls.ns[name] = Native(name, run, raw=True, method=True)

    machine.touch(cls.ns)
    for name in ORDERS:
        if name not in cls.ns:
            define(name)
    cls.forget()
    return cls


def comparison_key(machine: Machine, function: Value) -> Native:
    """`functools.cmp_to_key`."""
    kind = Class("K", (machine.object_class,), {}, "functools")

    def smaller(args: list[Value], kwargs: dict[str, Value]) -> Value:
        result = machine.call(function, [args[0].d["obj"], args[1].d["obj"]], {})
        return machine.compare(operator.lt, result, 0)

    kind.ns["__lt__"] = Native("__lt__", smaller, raw=True, method=True)

    def make(args: list[Value], kwargs: dict[str, Value]) -> Value:
        item = Instance(kind)
        item.d["obj"] = args[0]
        return item

    return Native("cmp_to_key", make, raw=True)


def build(standins: Standins, module: Module) -> None:
    """`functools`."""
    machine = standins.machine

    def lru_cache(maxsize: Value = None, typed: Value = False) -> Value:
        if isinstance(maxsize, (Function, Native, Bound)):
            return cached(standins, maxsize)
        return standins.native(
            "lru_cache", lambda function: cached(standins, function, bool(typed)), raw=True
        )

    def wraps(wrapped: Value, *rest: Value, **kw: Value) -> Value:
        return standins.native(
            "wraps", lambda function: copy_facts(machine, wrapped, function), raw=True
        )

    standins.define(
        module,
        raw=True,
        lru_cache=lru_cache,
        cache=lambda function: cached(standins, function),
        partial=lambda *a, **k: partial(machine, *a, **k),
        partialmethod=lambda *a, **k: partial_method(machine, *a, **k),
        wraps=wraps,
        reduce=lambda *a: reduce(machine, *a),
        update_wrapper=lambda wrapper, wrapped, *rest, **kw: copy_facts(machine, wrapped, wrapper),
        cached_property=lambda function: Property(function, cached=True),
        total_ordering=lambda cls: total_ordering(machine, cls),
        singledispatch=lambda function: single_dispatch(machine, function),
        cmp_to_key=lambda function: comparison_key(machine, function),
    )
