"""Guards made smaller without changing what they say.

Everything here keeps the meaning: a reduced guard holds exactly where the guard held. Two things
are used beside the laws of `and`, `or` and `not`: what is already known on the way (inside
`a and (a or b)` the bracket is true), and that one thing equals one constant only.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

from sgl_audit.model.guard import (
    ALWAYS,
    NEVER,
    And,
    Atom,
    Guard,
    Not,
    Or,
    all_of,
    any_of,
    atoms,
    mapped,
    negate,
)

# Above this many literals on the way, looking for what they imply costs more than it saves.
_KNOWN_LIMIT = 80
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Membership:
    """`subject` is one of `values`: what `==`, `in` and `is None` say."""

    subject: str
    values: frozenset[object]


@lru_cache(maxsize=65536)
def membership(text: str) -> Membership | None:
    """What a test says of one thing and constants, or None where it says something else."""
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    match node:
        case ast.Compare(left=ast.Constant(), ops=[ast.In()]):
            return None
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[ast.Constant(value=v)]):
            return Membership(ast.unparse(left), frozenset([_typed(v)]))
        case ast.Compare(
            left=left,
            ops=[ast.In()],
            comparators=[ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items)],
        ):
            values = [item.value for item in items if isinstance(item, ast.Constant)]
            if len(values) == len(items):
                return Membership(ast.unparse(left), frozenset(_typed(v) for v in values))
    return None


def _typed(value: object) -> object:
    # 1 and True are equal in Python and in a frozenset; the tree asks for one of them.
    return (type(value).__name__, value)


def on_capability(guard: Guard, capability: str) -> Guard:
    """The guard with every test of the machine that is understood decided for one capability."""

    def decided(atom: Atom) -> Guard:
        if atom.capabilities is None:
            return atom
        return ALWAYS if capability in atom.capabilities else NEVER

    return mapped(guard, decided)


def reduced(guard: Guard) -> Guard:
    """A guard with the same meaning and no part that the rest of it already settles."""
    for _ in range(_ROUNDS):
        smaller = _reduce(guard, ())
        if smaller == guard:
            break
        guard = smaller
    return guard


def size(guard: Guard) -> int:
    """How many questions a guard asks."""
    return sum(1 for _ in atoms(guard))


def _reduce(guard: Guard, known: tuple[Guard, ...]) -> Guard:
    match guard:
        case Atom() | Not(Atom()):
            settled = implied(guard, known)
            return guard if settled is None else (ALWAYS if settled else NEVER)
        case Not(part):
            return _reduce(negate(part), known)
        case And(parts):
            return _reduce_all(parts, known)
        case Or(parts):
            return _reduce_any(parts, known)


def _reduce_all(parts: tuple[Guard, ...], known: tuple[Guard, ...]) -> Guard:
    """A conjunction: what one part says is known in the others, literals first."""
    literals = [part for part in parts if _is_literal(part)]
    kept: list[Guard] = []
    # A literal that another one implies is dropped, `x == 1` before `not (x == 2)`.
    for literal in sorted(literals, key=lambda part: isinstance(part, Not)):
        smaller = _reduce(literal, (*known, *kept))
        if smaller == NEVER:
            return NEVER
        if smaller != ALWAYS:
            kept.append(literal)
    order = {id(part): position for position, part in enumerate(parts)}
    kept.sort(key=lambda part: order[id(part)])
    seen = (*known, *kept)[-_KNOWN_LIMIT:]
    rest = [_reduce(part, seen) for part in parts if not _is_literal(part)]
    return all_of(*kept, *rest)


def _reduce_any(parts: tuple[Guard, ...], known: tuple[Guard, ...]) -> Guard:
    """A disjunction: where one part is needed, the others did not hold; literals first."""
    smaller: dict[int, Guard] = {}
    negated: list[Guard] = []
    order = sorted(range(len(parts)), key=lambda position: not _is_literal(parts[position]))
    for position in order:
        item = _reduce(parts[position], (*known, *negated)[-_KNOWN_LIMIT:])
        if item == ALWAYS:
            return ALWAYS
        if item != NEVER:
            smaller[position] = item
            if _is_literal(item):
                negated.append(negate(item))
    return any_of(*_absorbed([smaller[position] for position in sorted(smaller)]))


def _absorbed(parts: list[Guard]) -> list[Guard]:
    """The parts of a disjunction without those that another part covers (`a or (a and b)`)."""
    sets = [frozenset(part.parts) if isinstance(part, And) else frozenset([part]) for part in parts]
    return [
        part
        for position, part in enumerate(parts)
        if not any(
            other < sets[position] or (other == sets[position] and index < position)
            for index, other in enumerate(sets)
            if index != position
        )
    ]


def _is_literal(guard: Guard) -> bool:
    return isinstance(guard, Atom) or (isinstance(guard, Not) and isinstance(guard.part, Atom))


def implied(literal: Guard, known: tuple[Guard, ...]) -> bool | None:
    """Whether a literal holds where all of `known` hold; None where they do not settle it."""
    opposite = negate(literal)
    asked = _said(literal)
    for fact in known:
        if fact == literal:
            return True
        if fact == opposite:
            return False
        if asked is not None and (said := _said(fact)) is not None:
            settled = _settled(asked, said)
            if settled is not None:
                return settled
    return None


def _said(literal: Guard) -> tuple[Membership, bool] | None:
    inner = literal.part if isinstance(literal, Not) else literal
    if not isinstance(inner, Atom):
        return None
    found = membership(inner.text)
    return None if found is None else (found, not isinstance(literal, Not))


def _settled(asked: tuple[Membership, bool], said: tuple[Membership, bool]) -> bool | None:
    (question, positive), (fact, affirmed) = asked, said
    if question.subject != fact.subject:
        return None
    if affirmed and fact.values <= question.values:
        return positive
    apart = not fact.values & question.values if affirmed else question.values <= fact.values
    return (not positive) if apart else None
