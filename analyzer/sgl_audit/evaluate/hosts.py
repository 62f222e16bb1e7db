"""Objects of standard classes that may be used for real: pure, small and without side effects.

A host object is reached only through the names listed here.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import hashlib
import ipaddress
import itertools
import re
import string
import types
import urllib.parse
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from sgl_audit.evaluate.standins.bounds import matched
from sgl_audit.evaluate.streams import Stream
from sgl_audit.evaluate.values import (
    MISSING,
    Bound,
    Class,
    Function,
    Native,
    Unknown,
    Value,
    is_instance,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine

SAFE_TYPES: tuple[type, ...] = (
    re.Pattern,
    re.Match,
    Version,
    SpecifierSet,
    ipaddress.IPv4Address,
    ipaddress.IPv6Address,
    ipaddress.IPv4Network,
    ipaddress.IPv6Network,
    datetime.datetime,
    datetime.date,
    datetime.timedelta,
    decimal.Decimal,
    fractions.Fraction,
    range,
    slice,
    complex,
    types.GeneratorType,
    zip,
    map,
    filter,
    enumerate,
    reversed,
    itertools.chain,
    itertools.count,
    itertools.islice,
    itertools.product,
    collections.deque,
    type(hashlib.sha256()),
    type(hashlib.md5()),
    urllib.parse.ParseResult,
    urllib.parse.SplitResult,
    string.Template,
)
ITERATORS = (Iterator, collections.abc.Iterable)


def _is_of_re(function: Callable[..., Any]) -> bool:
    return getattr(function, "__module__", None) == "re"


class Hosts:
    """Access to host objects."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.extra: dict[type, Any] = {}

    def register(self, kind: type, adapter: Any) -> None:
        """Let an adapter answer for objects of a class that stand-ins use."""
        self.extra[kind] = adapter

    def _adapter(self, owner: Value) -> Any:
        for kind in type(owner).__mro__:
            if kind in self.extra:
                return self.extra[kind]
        return None

    def attribute(self, owner: Value, name: str) -> Value:
        """A public attribute of a host object, or MISSING."""
        adapter = self._adapter(owner)
        if adapter is not None:
            return adapter.attribute(self.machine, owner, name)
        if isinstance(owner, Stream):
            return self._stream_attribute(owner, name)
        if name.startswith("_"):
            return MISSING
        if not isinstance(owner, SAFE_TYPES):
            kind = type(owner)
            if kind.__module__ in ("builtins", "types") or kind.__module__.startswith("sgl_audit"):
                return MISSING
            return Unknown(f"{kind.__name__}.{name}", "of a standard class that is not followed")
        value = getattr(owner, name, MISSING)
        return self.wrap(value, name)

    def _stream_attribute(self, owner: Stream, name: str) -> Value:
        """Methods of generators and other iterators."""
        machine = self.machine

        def step(action: Callable[[], Value]) -> Value:
            try:
                return action()
            except StopIteration as stop:
                args = [] if stop.value is None else [stop.value]
                raise machine.error("StopIteration", *args) from None

        source = owner.source
        match name:
            case "__iter__":
                return Native(name, lambda args, kwargs: owner)
            case "__next__":
                return Native(name, lambda args, kwargs: step(lambda: next(owner)))
            case "send" if hasattr(source, "send"):
                return Native(
                    name, lambda args, kwargs: step(lambda: owner.taken().send(args[0])), raw=True
                )
            case "throw" if hasattr(source, "throw"):
                return Native(
                    name,
                    lambda args, kwargs: step(
                        lambda: owner.taken().throw(machine.raising(args[0], None))
                    ),
                    raw=True,
                )
            case "close" if hasattr(source, "close"):
                return Native(name, lambda args, kwargs: owner.taken().close())
        return MISSING

    def wrap(self, value: Any, name: str) -> Value:
        """Methods of host objects become natives."""
        if callable(value) and not isinstance(value, type):
            return Native(name, lambda args, kwargs: self.run(value, args, kwargs))
        return value

    def run(
        self, function: Callable[..., Any], args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        """Call a pure Python function on known values."""
        given = [self.plain(arg) for arg in args]
        named = {name: self.plain(value) for name, value in kwargs.items()}
        if isinstance(getattr(function, "__self__", None), re.Pattern) or _is_of_re(function):
            return matched(function, given, named)
        return function(*given, **named)

    def plain(self, value: Value) -> Any:
        """An interpreter value as a pure Python function can take it."""
        if isinstance(value, (Function, Bound, Native)) or (
            is_instance(value) and value.cls.find("__call__") is not MISSING
        ):
            return lambda *args, **kwargs: self.machine.call(value, list(args), kwargs)
        if isinstance(value, Class) and value.layout is not None:
            return value.layout
        return value

    def call(self, owner: Value, args: Any, kwargs: dict[str, Value]) -> Value:
        """Call a host object, or MISSING."""
        adapter = self._adapter(owner)
        if adapter is not None and hasattr(adapter, "call"):
            return adapter.call(self.machine, owner, list(args), kwargs)
        return MISSING

    def getitem(self, owner: Value, key: Value) -> Value:
        """`owner[key]`, or MISSING."""
        adapter = self._adapter(owner)
        if adapter is not None and hasattr(adapter, "getitem"):
            return adapter.getitem(self.machine, owner, key)
        if isinstance(owner, SAFE_TYPES) and hasattr(owner, "__getitem__"):
            try:
                return owner[key]
            except Exception as error:
                raise self.machine.convert(error) from None
        return MISSING

    def setattr(self, owner: Value, name: str, value: Value) -> bool:
        """Write an attribute; False where that is not possible."""
        adapter = self._adapter(owner)
        return (
            adapter is not None
            and hasattr(adapter, "setattr")
            and bool(adapter.setattr(self.machine, owner, name, value))
        )

    def setitem(self, owner: Value, key: Value, value: Value) -> bool:
        """Write an item; False where that is not possible."""
        adapter = self._adapter(owner)
        return (
            adapter is not None
            and hasattr(adapter, "setitem")
            and bool(adapter.setitem(self.machine, owner, key, value))
        )

    def delitem(self, owner: Value, key: Value) -> bool:
        """Delete an item; False where that is not possible."""
        adapter = self._adapter(owner)
        return (
            adapter is not None
            and hasattr(adapter, "delitem")
            and bool(adapter.delitem(self.machine, owner, key))
        )

    def iterate(self, value: Value) -> Iterator[Value] | None:
        """An iterator over a host object, or None."""
        adapter = self._adapter(value)
        if adapter is not None and hasattr(adapter, "iterate"):
            given: Iterator[Value] = iter(adapter.iterate(self.machine, value))
            return given
        if isinstance(value, Unknown):
            return None
        if isinstance(value, (Iterator, *SAFE_TYPES)):
            kept: Any = value
            return cast(Iterator[Value], iter(kept))
        if isinstance(value, (dict, set, frozenset, list, tuple, str)) or type(value).__name__ in (
            "dict_keys",
            "dict_values",
            "dict_items",
        ):
            return iter(list(value))
        return None
