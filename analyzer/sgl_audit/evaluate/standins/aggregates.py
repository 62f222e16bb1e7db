"""Built-in functions on collections: quantifiers, sums, extremes, order and iterators.

Assumes: CPython 3.11's meaning of each, three-valued where an element is unknown.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.streams import Stream
from sgl_audit.evaluate.values import (
    MISSING,
    Cases,
    Junction,
    Raised,
    Unknown,
    Value,
    freeze,
    is_instance,
    short,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine


def any_of(machine: Machine, values: Value) -> Value:
    """`any(values)`, three-valued."""
    return _quantify(machine, values, True)


def all_of(machine: Machine, values: Value) -> Value:
    """`all(values)`, three-valued."""
    return _quantify(machine, values, False)


def _quantify(machine: Machine, values: Value, stop: bool) -> Value:
    doubts: list[Unknown] = []
    for item in machine.iterate_counted(values):
        truth = machine.truth_value(item)
        if truth is stop:
            return stop
        if isinstance(truth, Unknown):
            doubts.append(truth)
    return Junction.of(doubts, stop)


def total(machine: Machine, values: Value, start: Value = 0) -> Value:
    """`sum(values)`."""
    result = start
    if isinstance(start, str):
        text = "sum() can't sum strings [use ''.join(seq) instead]"
        raise machine.error("TypeError", text)
    for item in machine.iterate_counted(values):
        result = machine.binary("Add", result, item)
    return result


def extreme(machine: Machine, args: list[Value], kwargs: dict[str, Value], sign: str) -> Value:
    """`min` and `max`."""
    name = "min" if sign == "<" else "max"
    if len(args) == 1 and isinstance(args[0], Unknown):
        if isinstance(args[0], Cases):
            return machine.fork_case(args[0], lambda case: extreme(machine, [case], kwargs, sign))
        return args[0].derive(f"{name}({args[0].name})", name)
    values = all_items(machine, args[0]) if len(args) == 1 else args
    if not values:
        if "default" in kwargs:
            return kwargs["default"]
        raise machine.error("ValueError", f"{name}() arg is an empty sequence")
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
        return Unknown(
            f"{name}({shown})", doubt.reason, (name, *(freeze(v) for v in values)), doubt.kind
        )
    best = 0
    function = operator.lt if sign == "<" else operator.gt
    for index in range(1, len(values)):
        if machine.truth(machine.compare(function, marks[index], marks[best])):
            best = index
    return values[best]


def sort_values(machine: Machine, values: list[Value], kwargs: dict[str, Value]) -> Value:
    """A sorted list; unknown where an element or key is."""
    key = kwargs.get("key")
    marks = [machine.call(key, [value], {}) if key is not None else value for value in values]
    doubt = next((mark for mark in marks if isinstance(mark, Unknown)), None)
    if doubt is not None and len(values) > 1:
        keys = (freeze(v) for v in values)
        return Unknown("a sorted list", doubt.reason, ("sorted", *keys), doubt.kind)
    reverse = machine.truth(kwargs.get("reverse", False))
    alike = {mark.__class__ for mark in marks}
    mark: Callable[[int], Any] = marks.__getitem__
    if alike - {str} and alike - {int, float, bool}:
        mark = lambda index: _Mark(machine, marks[index])  # noqa: E731
    order = sorted(range(len(values)), key=mark, reverse=reverse)
    return [values[index] for index in order]


class _Mark:
    """Orders values by the program's own comparison, told in its own words where that fails."""

    __slots__ = ("machine", "value")

    def __init__(self, machine: Machine, value: Value) -> None:
        self.machine = machine
        self.value = value

    def __lt__(self, other: _Mark) -> bool:
        return self.machine.truth(self.machine.compare(operator.lt, self.value, other.value))


def mapped(machine: Machine, function: Value, sources: list[Value]) -> Iterator[Value]:
    for items in zip(*[machine.iterate(source) for source in sources], strict=False):
        machine.step()
        yield machine.call(function, list(items), {})


def filtered(machine: Machine, function: Value, source: Value) -> Iterator[Value]:
    for item in machine.iterate(source):
        if machine.truth(item if function is None else machine.call(function, [item], {})):
            yield item


def next_item(machine: Machine, source: Value, *default: Value) -> Value:
    """`next(source[, default])`."""
    if isinstance(source, Unknown):
        return source.derive(f"next({source.name})", "next")
    try:
        if is_instance(source) and (hook := source.cls.find("__next__")) is not MISSING:
            return machine.call(machine.bind(hook, source, source.cls), [], {})
        if not isinstance(source, Iterator):
            text = f"{machine.type_name(source)!r} object is not an iterator"
            raise machine.error("TypeError", text)
        return next(source)
    except StopIteration as stop:
        if default:
            return default[0]
        raise machine.error(
            "StopIteration", *([] if stop.value is None else [stop.value])
        ) from None
    except Raised as raised:
        if default and any(cls.name == "StopIteration" for cls in raised.value.cls.mro):
            return default[0]
        raise


def all_items(machine: Machine, value: Value) -> list[Value]:
    return list(machine.iterate_counted(value))


def backwards(machine: Machine, value: Value) -> Value:
    hook = machine.class_hook(value, "__reversed__")
    if hook is not MISSING:
        return machine.call(machine.bind(hook, value, value.cls), [], {})
    if value.__class__ is range:
        return Stream(machine, reversed(value))
    if isinstance(value, (set, frozenset)) or value.__class__ is Stream:
        text = f"{machine.type_name(value)!r} object is not reversible"
        raise machine.error("TypeError", text)
    return Stream(machine, iter(all_items(machine, value)[::-1]))


def zipped(machine: Machine, args: list[Value], kwargs: dict[str, Value]) -> Value:
    strict = bool(kwargs.get("strict"))
    sources = [machine.iterate(arg) for arg in args]

    def run() -> Iterator[Value]:
        try:
            yield from zip(*sources, strict=strict)
        except ValueError as error:
            raise machine.convert(error) from None

    return Stream(machine, run() if strict else zip(*sources))  # noqa: B905


def make_iterator(machine: Machine, value: Value, *sentinel: Value) -> Value:
    """`iter(value)` and `iter(function, sentinel)`."""
    if sentinel:
        return Stream(machine, _until(machine, value, sentinel[0]))
    if value.__class__ is Stream:
        return value
    if is_instance(value) and (hook := value.cls.find("__iter__")) is not MISSING:
        return machine.call(machine.bind(hook, value, value.cls), [], {})
    return Stream(machine, iter(machine.iterate(value)))


def _until(machine: Machine, function: Value, sentinel: Value) -> Iterator[Value]:
    while True:
        item = machine.call(function, [], {})
        if machine.truth(item == sentinel):
            return
        machine.step()
        yield item
