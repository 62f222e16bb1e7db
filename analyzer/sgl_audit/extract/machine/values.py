"""The values the reader computes with."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sgl_audit.extract.machine.scopes import ClassInfo, Scope

# The values of the analysed program: Python scalars and collections, and the classes below.
Value = Any


class Unknown:
    """The one value that stands for "not computable from the source"."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __bool__(self) -> bool:
        raise TypeError("UNKNOWN has no truth value; use truth()")

    def __reduce__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()
RAISES: Final = "\0raises"
MACHINE_FLAGS: Final = frozenset({"platform", "capability"})


class Unbound:
    """What an expression is on a machine on which it fails: a name that nothing binds there."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNBOUND"

    def __reduce__(self) -> str:
        return "UNBOUND"


UNBOUND: Final = Unbound()


class VersionText(str):
    """A version of CUDA or ROCm: asking for its parts is asking for a version."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class External:
    """A name outside the tree, dotted: `torch.cuda.is_available`."""

    name: str


@dataclass(frozen=True, slots=True)
class EnumValue:
    """A member of an enum of the tree; equal to itself only."""

    enum: str
    member: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A value known on one capability, with what it rests on."""

    value: Value
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Record:
    """An object reduced to what it answers: fields, and methods without arguments.

    `sequence` holds the fields in order where the object compares like a tuple.
    """

    kind: str
    fields: tuple[tuple[str, Entry], ...] = ()
    methods: tuple[tuple[str, Entry], ...] = ()
    sequence: tuple[Value, ...] | None = None

    def field(self, name: str) -> Entry | None:
        """The field of that name."""
        return next((entry for key, entry in self.fields if key == name), None)

    def method(self, name: str) -> Entry | None:
        """What the method of that name returns."""
        return next((entry for key, entry in self.methods if key == name), None)


@dataclass(frozen=True, slots=True)
class TableFunction:
    """A function of another file, reduced to what it returns.

    `settled` is False where its result may depend on arguments.
    """

    entry: Entry
    settled: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function or lambda of the tree, with the instance or class it is bound to."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    owner: Value = None


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """A callable with arguments already given."""

    callee: Value
    arguments: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Wrapper:
    """A decorator that changes nothing the reader looks at (lru_cache, wraps ...)."""


@dataclass(slots=True, eq=False)
class Instance:
    """An object of a class of the tree. `fields` are those set by its constructor."""

    info: ClassInfo
    fields: dict[str, Value] = field(default_factory=dict)
    sequence: tuple[Value, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ClassValue:
    """A class of the tree."""

    info: ClassInfo


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A method of a Python value, such as `str.split`."""

    owner: Value
    name: str


@dataclass(frozen=True, slots=True)
class TreeModule:
    """A module of the tree, by path."""

    path: str


def settled(value: Value, flags: frozenset[str]) -> Entry:
    """A value with its flags; what stays unknown is no test of the machine it went through."""
    return Entry(value, flags - MACHINE_FLAGS if value is UNKNOWN else flags)


def truth(value: Value) -> bool | None:
    """Truth of a value; None where it is not known."""
    if value is UNKNOWN or value is UNBOUND:
        return None
    if isinstance(value, (External, Instance, Function, Partial, TableFunction, EnumValue)):
        return None if isinstance(value, (External, Instance)) else True
    try:
        return bool(value)
    except TypeError:
        return None


def join(left: Value, right: Value) -> Value:
    """What is known where either value is possible; a path that raises returns nothing."""
    if left is RAISES:
        return right
    if right is RAISES:
        return left
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    same = type(left) is type(right) and left == right
    return left if same else UNKNOWN
