"""What a test says once an option has a value: a few shapes of Python, everything else unknown."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from sgl_audit.audit.vocabulary import Vocabulary
from sgl_audit.model.facts import Scalar


class Unknown:
    """The value of whatever is not one of the shapes read here."""


UNKNOWN: Final = Unknown()
Value = Scalar | tuple[object, ...] | Unknown
_PLAIN = (str, int, float, bool, type(None))
_CASE: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "strip": str.strip,
}


@lru_cache(maxsize=65536)
def parsed(text: str) -> ast.expr | None:
    """A test as syntax, or None where its text is no expression."""
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@dataclass(frozen=True, slots=True)
class Given:
    """One option with one value, and the words of the tree."""

    option: str
    value: Scalar
    words: Vocabulary
    alias: str | None = None

    def truth(self, node: ast.expr) -> bool | None:
        """Whether a test holds; None where that depends on more than the option."""
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.truth(operand)
                return None if inner is None else not inner
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._compared(left, op, right)
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[], keywords=[]):
                if self._is_option(owner) and name not in _CASE:
                    return self.words.asks(self.option, name, self.value)
            case ast.Call(func=ast.Name(id="bool"), args=[inner_node], keywords=[]):
                return self.truth(inner_node)
        value = self.read(node)
        return None if isinstance(value, Unknown) else bool(value)

    def _compared(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool | None:
        first, second = self.read(left), self.read(right)
        match op:
            case ast.Eq() | ast.NotEq() | ast.Is() | ast.IsNot():
                if isinstance(first, Unknown) or isinstance(second, Unknown):
                    return None
                same = type(first) is type(second) and first == second
                return same is isinstance(op, (ast.Eq, ast.Is))
            case ast.In() | ast.NotIn():
                inside = _inside(first, second)
                return None if inside is None else inside is isinstance(op, ast.In)
            case ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE():
                return _ordered(first, op, second)
        return None

    def read(self, node: ast.expr) -> Value:
        """The value of an expression."""
        if self._is_option(node):
            return self.value
        match node:
            case ast.Constant(value=value) if isinstance(value, _PLAIN):
                return value
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
                return tuple(self.read(item) for item in items)
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in self.words.lists:
                return self.words.lists[name]
            case ast.Attribute(value=ast.Name(id=enum), attr=name) if enum in self.words.enums:
                found = self.words.member(enum, name)
                return UNKNOWN if found is None else found
            case ast.Attribute(value=owner, attr="value" | "name"):
                return self.read(owner)
            case ast.Call(func=ast.Attribute(value=owner, attr=name)):
                return self._method(owner, name, node)
            case ast.BoolOp(op=ast.Or(), values=[first, *_]):
                # `option or default`: a value that counts as true is the answer.
                held = self.read(first)
                return held if not isinstance(held, Unknown) and held else UNKNOWN
        return UNKNOWN

    def _method(self, owner: ast.expr, name: str, node: ast.Call) -> Value:
        value = self.read(owner)
        if not isinstance(value, str):
            return UNKNOWN
        if name in _CASE and not node.args:
            return _CASE[name](value)
        if name in ("startswith", "endswith") and len(node.args) == 1:
            asked = self.read(node.args[0])
            if isinstance(asked, str):
                return value.startswith(asked) if name == "startswith" else value.endswith(asked)
        return UNKNOWN

    def _is_option(self, node: ast.expr) -> bool:
        match node:
            case ast.Attribute(value=owner, attr=name):
                return name.lstrip("_") == self.option and not _is_model(owner)
            case ast.Name(id=name):
                # A module keeps the setting under its name in capitals.
                return name.lstrip("_").lower() == self.option or name == self.alias
            case (
                ast.Call(func=ast.Name(id=name), args=[])
                | ast.Call(func=ast.Attribute(attr=name), args=[])
            ):
                return name == f"get_{self.option}"
            case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=key), *_]):
                return bool(key == self.option)
            case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]):
                return name in self.words.enums and self._is_option(inner)
            case ast.Subscript(slice=ast.Constant(value=key)):
                return bool(key == self.option)
        return False


def _is_model(node: ast.expr) -> bool:
    """Whether an attribute belongs to a model's configuration, which has settings of like names."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.endswith("config") or "layer" in name
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return "model_config" in name
    return False


def _inside(first: Value, second: Value) -> bool | None:
    if isinstance(second, str) and isinstance(first, str):
        return first in second
    if isinstance(first, Unknown) or not isinstance(second, tuple):
        return None
    same = [type(item) is type(first) and item == first for item in second]
    if True in same:
        return True
    return None if any(isinstance(item, Unknown) for item in second) else False


def _ordered(first: Value, op: ast.cmpop, second: Value) -> bool | None:
    if not isinstance(first, (int, float)) or not isinstance(second, (int, float)):
        return None
    match op:
        case ast.Lt():
            return first < second
        case ast.LtE():
            return first <= second
        case ast.Gt():
            return first > second
    return first >= second


def alias_of(node: ast.expr, option: str) -> str | None:
    """The local name under which a test reads its option, where it can only be that name.

    Extraction follows a local name to the option it was read from. Where the test names the
    option itself, or has two names, none of them can be taken for it.
    """
    for inner in ast.walk(node):
        match inner:
            case ast.Attribute(attr=name) if name.lstrip("_") == option:
                return None
            case ast.Constant(value=text) if text == option:
                return None
    operands: list[ast.expr]
    match node:
        case ast.Compare(left=left, comparators=[right]):
            operands = [left, *(right.elts if isinstance(right, ast.Tuple) else [right])]
        case ast.Call(func=ast.Attribute(value=owner), args=[]):
            operands = [owner]
        case _:
            return None
    names = [n.id for n in operands if isinstance(n, ast.Name) and not n.id.isupper()]
    return names[0] if len(names) == 1 else None
