"""Operators, comparisons and membership on interpreter values."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.expressions import OPERATORS
from sgl_audit.evaluate.values import (
    MISSING,
    Bound,
    Cases,
    Class,
    Function,
    Instance,
    Junction,
    Module,
    Native,
    Opaque,
    Undecidable,
    Unknown,
    Value,
    freeze,
    is_instance,
    short,
)

_BY_NAME: dict[str, Callable[[Any, Any], Any]] = {
    kind.__name__: function for kind, function in OPERATORS.items()
}
# Symbol -> name of the special method and the sign as error messages print it.
_DUNDER = {
    "Add": ("add", "+"),
    "Sub": ("sub", "-"),
    "Mult": ("mul", "*"),
    "Div": ("truediv", "/"),
    "FloorDiv": ("floordiv", "//"),
    "Mod": ("mod", "%"),
    "Pow": ("pow", "** or pow()"),
    "LShift": ("lshift", "<<"),
    "RShift": ("rshift", ">>"),
    "BitOr": ("or", "|"),
    "BitXor": ("xor", "^"),
    "BitAnd": ("and", "&"),
    "MatMult": ("matmul", "@"),
}
_INPLACE: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.iadd,
    "BitOr": operator.ior,
    "BitAnd": operator.iand,
    "BitXor": operator.ixor,
    "Sub": operator.isub,
    "Mult": operator.imul,
}
_UNARY = {operator.neg: ("neg", "-"), operator.pos: ("pos", "+"), operator.invert: ("invert", "~")}
_ORDER = {operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">="}
_NAMED_TYPES = (Instance, Class, Function, Native, Bound, Module)
SIZE_BUDGET = 1_000_000
BITS_BUDGET = 1 << 14
# Unknowns that are numbers or texts for certain: nothing that the program made.
PLAIN_KINDS = frozenset({"random", "version"})


def _written(symbol: str, a: Value, b: Value) -> str:
    """An operation as a reader of conditions knows it, not as syntax trees name it."""
    sign = _DUNDER[symbol][1].partition(" ")[0]
    left, right = (f"({text})" if " " in text else text for text in (short(a), short(b)))
    return f"{left} {sign} {right}"


class Operators:
    """Operators."""

    touch: Any
    imports: Any
    if TYPE_CHECKING:
        bind: Any
        call: Any
        convert: Any
        error: Any
        fork_case: Any
        iterate: Any
        iterate_counted: Any
        over_cases: Any
        percent_format: Any
        type_name: Any

    def contains(self, item: Value, container: Value) -> Value:
        """`item in container`."""
        kind = container.__class__
        if kind is dict and item.__class__ is str:
            return item in container
        if isinstance(item, Cases):
            return self.over_cases(item, lambda case: self.contains(case, container))
        if isinstance(container, Cases):
            return self.over_cases(container, lambda case: self.contains(item, case))
        if isinstance(container, Unknown):
            return container.derive(f"{short(item)} in {container.name}", "contains", freeze(item))
        if kind in (list, tuple):
            return self._in_sequence(item, container)
        if isinstance(item, Unknown) and not is_instance(container):
            return self.unknown_member(item, container)
        if kind in (dict, set, frozenset, str, bytes, range):
            try:
                return item in container
            except Exception as error:
                raise self.convert(error) from None
        return self._contains_other(item, container)

    def _in_sequence(self, item: Value, container: Iterable[Value]) -> Value:
        if isinstance(item, Unknown):
            return self.unknown_member(item, container)
        doubts: list[Unknown] = []
        for entry in container:
            equal = entry is item or entry == item
            if equal is True:
                return True
            if isinstance(equal, Unknown):
                doubts.append(equal)
        return Junction.of(doubts, True)

    def _contains_other(self, item: Value, container: Value) -> Value:
        if is_instance(container):
            hook = container.cls.find("__contains__")
            if hook is not MISSING:
                return self.truth_value(
                    self.call(self.bind(hook, container, container.cls), [item], {})
                )
            if isinstance(container, (list, tuple)):
                return self._in_sequence(item, container)
            if container.__class__ is not Instance:
                return (
                    self.unknown_member(item, list(container))
                    if isinstance(item, Unknown)
                    else item in container
                )
        if isinstance(container, Class):
            if container.meta is not None:
                hook = container.meta.find("__contains__")
                if hook is not MISSING:
                    return self.truth_value(
                        self.call(self.bind(hook, container, container.meta), [item], {})
                    )
            if (members := container.data.get("members")) is not None:
                return any(item is member for member in members.values())
        if isinstance(container, (Opaque, Native, Function)):
            text = f"argument of type {self.type_name(container)!r} is not iterable"
            raise self.error("TypeError", text)
        if container is None or isinstance(container, (int, float)):
            text = f"argument of type {self.type_name(container)!r} is not iterable"
            raise self.error("TypeError", text)
        return self._in_sequence(item, self.iterate_counted(container))

    if TYPE_CHECKING:
        truth_value: Any

    def unknown_member(self, item: Unknown, container: Value) -> Value:
        """`unknown in container`: no for an empty container, else a question of its own."""
        if isinstance(container, (str, bytes, range)):
            name = (
                f"{item.name} in {short(container) if container.__class__ is str else container!r}"
            )
            return Unknown(name, item.reason, ("within", repr(container), item.key), item.kind)
        entries = list(self.iterate_counted(container))
        if not entries:
            return False
        doubts = [entry for entry in entries if isinstance(entry, Unknown)]
        if any(entry is item or entry.key == item.key for entry in doubts):
            return True
        if doubts or any(is_instance(entry) for entry in entries):
            answers = [item == entry for entry in entries]
            if any(answer is True for answer in answers):
                return True
            return Junction.of([answer for answer in answers if answer is not False], True)
        return Unknown(
            f"{item.name} in {short_list(entries)}",
            item.reason,
            ("in", tuple(sorted((freeze(entry) for entry in entries), key=repr)), item.key),
            item.kind,
        )

    def is_same(self, a: Value, b: Value) -> Value:
        """`a is b`."""
        if a is b:
            return True
        if isinstance(a, Unknown) or isinstance(b, Unknown):
            one, other = (a, b) if isinstance(a, Unknown) else (b, a)
            if isinstance(one, Cases):
                return one.map(lambda case: self.is_same(case, other))
            if isinstance(other, Cases):
                return other.map(lambda case: self.is_same(one, case))
            if isinstance(other, Unknown) and one.key == other.key:
                return True
            if one.kind in PLAIN_KINDS and other.__class__ in (Instance, Class, Function):
                return False
            return one.derive(f"{one.name} is {short(other)}", "is", freeze(other))
        kind = a.__class__
        if kind is b.__class__ and kind in (int, str, float, bytes, tuple):
            return bool(a == b)
        return kind is Bound and a == b

    def compare(self, function: Callable[[Any, Any], Any], a: Value, b: Value) -> Value:
        """`<`, `<=`, `>`, `>=`."""
        if isinstance(a, Cases):
            return self.over_cases(a, lambda case: self.compare(function, case, b))
        if isinstance(b, Cases):
            return self.over_cases(b, lambda case: self.compare(function, a, case))
        try:
            return function(a, b)
        except TypeError as error:
            if isinstance(a, _NAMED_TYPES) or isinstance(b, _NAMED_TYPES):
                raise self.error(
                    "TypeError",
                    f"{_ORDER[function]!r} not supported between instances of "
                    f"{self.type_name(a)!r} and {self.type_name(b)!r}",
                ) from None
            raise self.convert(error) from None

    def binary(self, symbol: str, a: Value, b: Value) -> Value:
        """A binary operator."""
        if isinstance(a, Unknown) or isinstance(b, Unknown):
            return self._binary_unknown(symbol, a, b)
        if is_instance(a) or is_instance(b):
            result = self._overloaded(symbol, a, b)
            if result is not NotImplemented:
                return result
        if symbol == "BitOr" and (self._is_type(a) or self._is_type(b)):
            return self.imports.union_type(a, b)
        if isinstance(a, Opaque) or isinstance(b, Opaque):
            return Unknown(
                _written(symbol, a, b),
                "outside the tree",
                ("op", symbol, freeze(a), freeze(b)),
            )
        self._check_size(symbol, a, b)
        if symbol == "Mod" and isinstance(a, str):
            return self.percent_format(a, b)
        try:
            return _BY_NAME[symbol](a, b)
        except Exception as error:
            if isinstance(error, TypeError) and (
                isinstance(a, _NAMED_TYPES) or isinstance(b, _NAMED_TYPES)
            ):
                raise self._unsupported(_DUNDER[symbol][1], a, b) from None
            raise self.convert(error) from None

    def _unsupported(self, sign: str, a: Value, b: Value) -> Any:
        return self.error(
            "TypeError",
            f"unsupported operand type(s) for {sign}: {self.type_name(a)!r} and "
            f"{self.type_name(b)!r}",
        )

    def _overloaded(self, symbol: str, a: Value, b: Value) -> Value:
        """The operator by special methods, or NotImplemented."""
        dunder = _DUNDER[symbol][0]
        attempts = []
        if is_instance(a) and (hook := a.cls.find(f"__{dunder}__")) is not MISSING:
            attempts.append((hook, a, b))
        if is_instance(b) and (hook := b.cls.find(f"__r{dunder}__")) is not MISSING:
            own_class = a.cls if is_instance(a) else None
            first = own_class is not None and own_class is not b.cls and own_class in b.cls.mro
            if own_class is not b.cls or not attempts:
                attempts.insert(0 if first else len(attempts), (hook, b, a))
        for hook, owner, other in attempts:
            result = self.call(self.bind(hook, owner, owner.cls), [other], {})
            if result is not NotImplemented:
                return result
        return NotImplemented

    def _is_type(self, value: Value) -> bool:
        return isinstance(value, Class) or (isinstance(value, Instance) and "__origin__" in value.d)

    def _check_size(self, symbol: str, a: Value, b: Value) -> None:
        if symbol in ("Pow", "LShift") and isinstance(a, int) and isinstance(b, int):
            size = a.bit_length() * b if symbol == "Pow" else a.bit_length() + b
            if (abs(a) > 1 and size > BITS_BUDGET) or (symbol == "LShift" and b > BITS_BUDGET):
                raise Undecidable("a number too large to compute")
        elif symbol == "Mult":
            if isinstance(a, int) and isinstance(b, int):
                if a.bit_length() + b.bit_length() > BITS_BUDGET:
                    raise Undecidable("a number too large to compute")
                return
            size = len(a) if hasattr(a, "__len__") else len(b) if hasattr(b, "__len__") else 0
            count = b if isinstance(b, int) else a if isinstance(a, int) else 0
            if size and size * count > SIZE_BUDGET:
                raise Undecidable("a sequence too large to build")
        elif (
            symbol == "Add" and isinstance(a, (str, list, tuple, bytes)) and isinstance(b, type(a))
        ) and len(a) + len(b) > SIZE_BUDGET:
            raise Undecidable("a sequence too large to build")

    def _binary_unknown(self, symbol: str, a: Value, b: Value) -> Value:
        if isinstance(a, Cases):
            return self.over_cases(a, lambda case: self.binary(symbol, case, b))
        if isinstance(b, Cases):
            return self.over_cases(b, lambda case: self.binary(symbol, a, case))
        source = a if isinstance(a, Unknown) else b
        return Unknown(
            _written(symbol, a, b),
            source.reason,
            ("op", symbol, freeze(a), freeze(b)),
            source.kind,
        )

    def inplace(self, symbol: str, a: Value, b: Value) -> Value:
        """`a op= b`: lists, sets and dicts change in place."""
        if isinstance(a, Cases):
            return self.fork_case(a, lambda case: self.inplace(symbol, case, b))
        if is_instance(a):
            hook = a.cls.find(f"__i{_DUNDER[symbol][0]}__")
            if hook is not MISSING:
                result = self.call(self.bind(hook, a, a.cls), [b], {})
                if result is not NotImplemented:
                    return result
        if isinstance(a, (list, set, dict)) and symbol in _INPLACE:
            return self._change_in_place(symbol, a, b)
        return self.binary(symbol, a, b)

    def _change_in_place(self, symbol: str, a: Value, b: Value) -> Value:
        if isinstance(b, Cases):
            return self.fork_case(b, lambda case: self.inplace(symbol, a, case))
        if isinstance(b, Unknown):
            raise Undecidable(f"changes a {self.type_name(a)} by {b.name}: {b.reason}")
        items = b
        if isinstance(a, list) and symbol == "Add":
            items = list(self.iterate(b))
        if isinstance(a, list):
            self._check_size(symbol, a, items)
        self.touch(a)
        try:
            return _INPLACE[symbol](a, items)
        except TypeError:
            raise self._unsupported(_DUNDER[symbol][1] + "=", a, b) from None
        except Exception as error:
            raise self.convert(error) from None

    def unary(self, function: Callable[[Any], Any], value: Value) -> Value:
        """`-x`, `+x`, `~x`."""
        name, sign = _UNARY[function]
        if isinstance(value, Cases):
            return self.over_cases(value, lambda case: self.unary(function, case))
        if isinstance(value, Unknown):
            return value.derive(f"{name} {value.name}", name)
        if is_instance(value) and (hook := value.cls.find(f"__{name}__")) is not MISSING:
            return self.call(self.bind(hook, value, value.cls), [], {})
        if isinstance(value, Opaque):
            return Unknown(f"{name} {value.name}", "outside the tree", (name, freeze(value)))
        try:
            return function(value)
        except TypeError:
            text = f"bad operand type for unary {sign}: {self.type_name(value)!r}"
            raise self.error("TypeError", text) from None

    def both(self, a: Value, b: Value) -> Value:
        """The conjunction of two truth values."""
        if a is False or b is False:
            return False
        return Junction.of([part for part in (a, b) if part is not True], False)


def short_list(entries: list[Value]) -> str:
    """A short text for a list of alternatives."""
    shown = ", ".join(short(entry) for entry in entries[:4])
    return f"({shown}, ...)" if len(entries) > 4 else f"({shown})"
