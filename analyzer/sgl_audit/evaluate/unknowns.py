"""What is not known: single unknowns, values of several cases, and the conditions between them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

Value = Any
Namespace = dict[str, Value]


class Missing:
    """Marks "no such entry" where None is a possible value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<missing>"


MISSING = Missing()


class Undecidable(BaseException):
    """Evaluation met something unknown and cannot go on.

    A BaseException on purpose: an interpreted `except:` must never swallow it and turn an
    unknown into an answer.
    """

    def __init__(self, reason: str, where: tuple[str, int] | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.where = where


class BudgetReachedError(Undecidable):
    """A budget of steps, depth or cases was used up."""


class Opaque:
    """Something outside the tree that certainly exists: not None, true, equal only to itself."""

    __slots__ = ("d", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.d: Namespace = {}

    def describe(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<{self.name}>"


_SERIAL = itertools.count()
# Objects that keys of unknowns name by identity, during one launch.
PINNED: dict[int, Value] = {}


class Unknown:
    """A value that is not known, with a name, the reason, and what it was computed from.

    Attributes:
        key: identifies the same question asked twice; equal keys are equal unknowns.
        kind: what sort of fact is missing (model, environment, library ...).
    """

    __slots__ = ("key", "kind", "name", "reason")

    def __init__(
        self, name: str, reason: str, key: tuple[Any, ...] | None = None, kind: str = "opaque"
    ) -> None:
        self.name = name
        self.reason = reason
        # Without a key it equals nothing but itself: two answers of one name need not agree.
        self.key = key if key is not None else ("unknown", name, next(_SERIAL))
        self.kind = kind

    def derive(self, name: str, *key: Any) -> Unknown:
        """An unknown computed from this one."""
        return Unknown(name, self.reason, (*key, self.key), self.kind)

    def __repr__(self) -> str:
        return f"unknown({self.name})"

    def __bool__(self) -> bool:
        raise Undecidable(f"{self.name}: {self.reason}")

    def __eq__(self, other: object) -> Any:
        if self is other:
            return True
        return self.derive(f"{self.name} == {short(other)}", "==", freeze(other))

    def __ne__(self, other: object) -> Any:
        if self is other:
            return False
        return Negation.of(self == other)

    __hash__ = object.__hash__

    def __iter__(self) -> Iterator[Any]:
        raise Undecidable(f"iteration over {self.name}: {self.reason}")

    def __len__(self) -> int:
        raise Undecidable(f"len({self.name}): {self.reason}")

    def __contains__(self, item: object) -> bool:
        raise Undecidable(f"membership in {self.name}: {self.reason}")

    def __index__(self) -> int:
        raise Undecidable(f"{self.name} as a number: {self.reason}")

    def _ordered(self, other: object, operator: str) -> Any:
        return self.derive(f"{self.name} {operator} {short(other)}", operator, freeze(other))

    def __lt__(self, other: object) -> Any:
        return self._ordered(other, "<")

    def __le__(self, other: object) -> Any:
        return self._ordered(other, "<=")

    def __gt__(self, other: object) -> Any:
        return self._ordered(other, ">")

    def __ge__(self, other: object) -> Any:
        return self._ordered(other, ">=")


class Negation(Unknown):
    """`not x` for an unknown x."""

    __slots__ = ("part",)

    def __init__(self, part: Unknown) -> None:
        super().__init__(f"not {part.name}", part.reason, ("not", part.key), part.kind)
        self.part = part

    @staticmethod
    def of(value: Any) -> Any:
        """The negation of a truth value, known or not."""
        if isinstance(value, Negation):
            return value.part
        if isinstance(value, Cases):
            return Cases.of(tuple((guard, Negation.of(item)) for guard, item in value.cases))
        if isinstance(value, Unknown):
            return Negation(value)
        return not value


class Junction(Unknown):
    """A truth value that rests on several unknown ones: `any` of them, or all.

    Attributes:
        parts: the truth values, each unknown.
        stop: True for a disjunction, False for a conjunction: the answer of one part that decides.
    """

    __slots__ = ("parts", "stop")

    def __init__(self, parts: tuple[Unknown, ...], stop: bool) -> None:
        words = " or " if stop else " and "
        shown = words.join(
            f"({part.name})" if " " in part.name else part.name for part in parts[:4]
        )
        if len(parts) > 4:
            shown += words + "..."
        keys = tuple(part.key for part in parts)
        name = "any" if stop else "all"
        super().__init__(shown, parts[0].reason, (name, *keys), parts[0].kind)
        self.parts = parts
        self.stop = stop

    @staticmethod
    def of(parts: list[Any], stop: bool) -> Any:
        """The junction of unknown truth values; a lone one stays itself."""
        if not parts:
            return not stop
        return parts[0] if len(parts) == 1 else Junction(tuple(parts), stop)


Cube = tuple[tuple[tuple[Any, ...], bool], ...]


class Cases(Unknown):
    """A value that is one of several, each under a condition.

    Attributes:
        cases: pairs of condition and value; conditions exclude each other. A condition is a
            tuple of (key of an unknown, its truth), all of which hold.
    """

    __slots__ = ("cases",)

    LIMIT = 24

    def __init__(self, cases: tuple[tuple[Cube, Value], ...]) -> None:
        names = " or ".join(dict.fromkeys(short(value) for _, value in cases))
        super().__init__(names, "depends on what is not known", ("cases", id(self)), "cases")
        self.cases = cases

    @staticmethod
    def of(cases: tuple[tuple[Cube, Value], ...]) -> Value:
        """Cases, flattened; the bare value where all agree."""
        flat: list[tuple[Cube, Value]] = []
        for cube, value in cases:
            if isinstance(value, Cases):
                for inner, item in value.cases:
                    joined = join_cubes(cube, inner)
                    if joined is not None:
                        flat.append((joined, item))
            else:
                flat.append((cube, value))
        if not flat:
            return Unknown("nothing", "conditions contradict each other")
        first = flat[0][1]
        if all(same(value, first) for _, value in flat[1:]):
            return first
        if Cases.LIMIT < len(flat) <= Cases.LIMIT * 10:
            flat = merge_equal(flat)
        if len(flat) > Cases.LIMIT:
            return Unknown("too many cases", "case budget reached", ("budget", id(flat)), "budget")
        return Cases(tuple(flat))

    def map(self, function: Callable[[Value], Value]) -> Value:
        """Apply to the value of each case."""
        return Cases.of(tuple((cube, function(value)) for cube, value in self.cases))

    def __eq__(self, other: object) -> Any:
        return True if self is other else self.map(lambda value: value == other)

    __hash__ = object.__hash__

    def __ne__(self, other: object) -> Any:
        return Negation.of(self == other)

    def __lt__(self, other: Any) -> Any:
        return self.map(lambda value: value < other)

    def __le__(self, other: Any) -> Any:
        return self.map(lambda value: value <= other)

    def __gt__(self, other: Any) -> Any:
        return self.map(lambda value: value > other)

    def __ge__(self, other: Any) -> Any:
        return self.map(lambda value: value >= other)


def join_cubes(one: Cube, other: Cube) -> Cube | None:
    """Both conditions; None where they contradict."""
    known = dict(one)
    for key, truth in other:
        if known.setdefault(key, truth) is not truth:
            return None
    return tuple(known.items())


def merge_equal(cases: list[tuple[Cube, Value]]) -> list[tuple[Cube, Value]]:
    """Drop the one question that separates two cases of equal value, as often as that works."""
    table = {frozenset(cube): value for cube, value in cases}
    changed = True
    while changed:
        changed = False
        for cube in list(table):
            if cube not in table:
                continue
            for key, truth in cube:
                rest = cube - {(key, truth)}
                other = rest | {(key, not truth)}
                if other in table and rest not in table and same(table[cube], table[other]):
                    table[rest] = table.pop(cube)
                    del table[other]
                    changed = True
                    break
    order = {item: index for index, item in enumerate(i for cube, _ in cases for i in cube)}
    return [(tuple(sorted(cube, key=order.__getitem__)), value) for cube, value in table.items()]


def same(one: Value, other: Value) -> bool:
    """Whether two values are certainly the same value."""
    if one is other:
        return True
    if isinstance(one, Unknown) or isinstance(other, Unknown):
        return (
            type(one) is type(other)
            and isinstance(one, Unknown)
            and not isinstance(one, Cases)
            and one.key == other.key
        )
    if type(one) is not type(other):
        return False
    if type(one) in (str, int, float, bool, bytes, type(None)):
        return bool(one == other)
    # Containers that can change are the same only where they are one: equal ones may part later.
    if type(one) is tuple:
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return False


def short(value: Value) -> str:
    """A short, safe text for names of unknowns."""
    if isinstance(value, Unknown):
        return value.name
    describe = getattr(type(value), "describe", None)
    if describe is not None:
        return str(describe(value))
    text = (
        repr(value)
        if isinstance(value, (str, int, float, bool, type(None)))
        else type(value).__name__
    )
    return text if len(text) <= 60 else text[:57] + "..."


def freeze(value: Value) -> Any:
    """A hashable stand-in for a value inside a key."""
    if isinstance(value, Unknown):
        return value.key
    if isinstance(value, (str, int, float, bool, bytes, type(None))):
        return (type(value).__name__, value)
    if isinstance(value, (tuple, list)):
        return (type(value).__name__, *(freeze(item) for item in value))
    if isinstance(value, (set, frozenset)):
        return ("set", *sorted(repr(freeze(item)) for item in value))
    if isinstance(value, Opaque):
        return ("opaque", value.name)
    # Held so that no other object gets its identity while keys that name it are compared.
    PINNED[id(value)] = value
    return ("object", id(value))
