"""Guards: the condition under which a place is reached, as a small three-valued formula."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

_OWNERS = re.compile(
    r"\b(?:self\.|server_args\.|cfg\.|view\.|get_platform\(\)\.|resolved_view\(server_args\)\.|"
    r"resolving_view\(server_args\)\.|get_global_server_args\(\)\.)+"
)


class AtomKind(StrEnum):
    """What an atom of a guard asks about."""

    GATE = "gate"
    OPTION = "option"
    MODEL = "model"
    ENVIRONMENT = "environment"
    VERSION = "version"
    PLATFORM = "platform"
    OPAQUE = "opaque"


@dataclass(frozen=True, slots=True)
class Atom:
    """One question.

    Attributes:
        kind: what it asks about.
        text: how the source asks it, on one line.
        capabilities: for GATE and PLATFORM atoms the capability names on which it holds;
            None when the gate was not understood.
        options: option names the atom reads.
    """

    kind: AtomKind
    text: str
    capabilities: frozenset[str] | None = None
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Not:
    """Negation."""

    part: Guard


@dataclass(frozen=True, slots=True)
class And:
    """Conjunction; empty means always."""

    parts: tuple[Guard, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Disjunction; empty means never."""

    parts: tuple[Guard, ...]


Guard = Atom | Not | And | Or
ALWAYS = And(())
NEVER = Or(())


def all_of(*parts: Guard) -> Guard:
    """Conjunction, flattened, without repetition; NEVER where a part contradicts another."""
    flat: dict[Guard, None] = {}
    for part in parts:
        for item in part.parts if isinstance(part, And) else (part,):
            if item == NEVER or negate(item) in flat:
                return NEVER
            flat.setdefault(item)
    return next(iter(flat)) if len(flat) == 1 else And(tuple(flat))


def any_of(*parts: Guard) -> Guard:
    """Disjunction, flattened, without repetition; ALWAYS where a part is the other's negation."""
    flat: dict[Guard, None] = {}
    for part in parts:
        for item in part.parts if isinstance(part, Or) else (part,):
            if item == ALWAYS or negate(item) in flat:
                return ALWAYS
            flat.setdefault(item)
    return next(iter(flat)) if len(flat) == 1 else Or(tuple(flat))


def negate(guard: Guard) -> Guard:
    """The complement, with negations pushed down to the atoms."""
    match guard:
        case Not(part):
            return part
        case And(parts):
            return Or(tuple(negate(part) for part in parts))
        case Or(parts):
            return And(tuple(negate(part) for part in parts))
        case _:
            return Not(guard)


def holds_on(guard: Guard, capability: str) -> bool | None:
    """Kleene value of the guard on one capability; None where it depends on more than that."""
    match guard:
        case Atom(capabilities=None):
            return None
        case Atom(capabilities=names):
            return names is not None and capability in names
        case Not(part):
            value = holds_on(part, capability)
            return None if value is None else not value
        case And(parts):
            values = [holds_on(part, capability) for part in parts]
            return False if False in values else (None if None in values else True)
        case Or(parts):
            values = [holds_on(part, capability) for part in parts]
            return True if True in values else (None if None in values else False)


def atoms(guard: Guard) -> Iterator[Atom]:
    """Every atom, left to right."""
    match guard:
        case Atom():
            yield guard
        case Not(part):
            yield from atoms(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from atoms(part)


def mapped(guard: Guard, change: Callable[[Atom], Guard]) -> Guard:
    """The guard with every atom changed; what settles a part settles what it stands in."""
    match guard:
        case Atom():
            return change(guard)
        case Not(part):
            return negate(mapped(part, change))
        case And(parts):
            return all_of(*(mapped(part, change) for part in parts))
        case Or(parts):
            return any_of(*(mapped(part, change) for part in parts))


def text_of(guard: Guard) -> str:
    """The guard as a reader would write it."""
    match guard:
        case Atom(text=text):
            return text
        case Not(part):
            inner = text_of(part)
            return (
                f"not {inner}" if isinstance(part, Atom) and " " not in inner else f"not ({inner})"
            )
        case And(()):
            return "always"
        case Or(()):
            return "never"
        case And(parts):
            return " and ".join(_grouped(part, Or) for part in parts)
        case Or(parts):
            return " or ".join(_grouped(part, And) for part in parts)


def _grouped(part: Guard, weaker: type[And] | type[Or]) -> str:
    several = isinstance(part, (And, Or)) and isinstance(part, weaker) and len(part.parts) > 1
    return f"({text_of(part)})" if several else text_of(part)


def unowned(text: str) -> str:
    """A condition on one line without the names of what holds the settings."""
    return _OWNERS.sub("", " ".join(text.split()))
