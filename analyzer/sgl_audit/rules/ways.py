"""The ways in which a guard can hold on one capability, and whether two of them can meet."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from sgl_audit.model.facts import Scalar
from sgl_audit.model.guard import And, Atom, AtomKind, Guard, Not, Or, atoms
from sgl_audit.rules.atoms import Values, Vocabulary, question_of, vocabulary
from sgl_audit.rules.base import RuleContext

# Guards of long methods can hold in thousands of ways; past this their disjunctions are left out,
# which only ever makes a way look possible that is not.
LIMIT = 96
Literal = tuple[Atom, bool]
_OWNERS = re.compile(r"\b(?:self|cls|runner|model_runner|server_args|view|args|config)\.")


@dataclass(frozen=True, slots=True)
class Way:
    """One conjunction of tests under which a guard holds; the machine's tests are done with.

    Attributes:
        literals: tests and the value each must have.
        unread: machine tests that were not understood; nothing follows from this way.
        machine: machine tests that were decided on this capability, and how.
        complete: False where tests were left out because there are too many combinations.
    """

    literals: tuple[Literal, ...] = ()
    unread: tuple[Atom, ...] = ()
    machine: tuple[Literal, ...] = ()
    complete: bool = True

    @property
    def certain(self) -> bool:
        """Whether every test on the way is in it and understood."""
        return self.complete and not self.unread


@dataclass(frozen=True, slots=True)
class Demand:
    """What a way asks of one subject: one of `allowed` where given, none of `excluded`."""

    allowed: Values | None = None
    excluded: Values = frozenset()

    @property
    def impossible(self) -> bool:
        """Whether no value satisfies it."""
        return self.allowed is not None and not self.allowed - self.excluded

    def admits(self, value: Scalar) -> bool:
        """Whether a value satisfies it."""
        inside = self.allowed is None or value in self.allowed
        return inside and value not in self.excluded

    def narrowed(self, values: Values, inside: bool) -> Demand:
        """This and one more question."""
        if not inside:
            return Demand(self.allowed, self.excluded | values)
        return Demand(values if self.allowed is None else self.allowed & values, self.excluded)


def ways(context: RuleContext, guard: Guard, capability: str) -> tuple[Way, ...]:
    """The ways in which a guard can hold on a capability; empty where it cannot."""
    memory = context.once(_memory)
    known = memory.get((id(guard), capability))
    if known is None:
        # Capabilities on which every machine test comes out the same have the same ways.
        answers = tuple(
            None if atom.capabilities is None else capability in atom.capabilities
            for atom in atoms(guard)
        )
        known = memory.get((id(guard), answers)) or (guard, _possible(context, guard, capability))
        memory[id(guard), answers] = memory[id(guard), capability] = known
    return known[1]


def _possible(context: RuleContext, guard: Guard, capability: str) -> tuple[Way, ...]:
    words = vocabulary(context)
    return tuple(way for way in _ways(guard, True, capability) if possible(way.literals, words))


def _memory(context: RuleContext) -> dict[tuple[int, object], tuple[Guard, tuple[Way, ...]]]:
    # The guard is kept beside its ways, so that its identity stays its own.
    return {}


def _ways(guard: Guard, wanted: bool, capability: str) -> list[Way]:
    match guard:
        case Not(part):
            return _ways(part, not wanted, capability)
        case Atom():
            return _of_atom(guard, wanted, capability)
        case And(parts) | Or(parts):
            if isinstance(guard, And) is wanted:
                return _product([_ways(part, wanted, capability) for part in parts])
            return _union([_ways(part, wanted, capability) for part in parts])


def _of_atom(atom: Atom, wanted: bool, capability: str) -> list[Way]:
    machine = atom.kind in (AtomKind.GATE, AtomKind.PLATFORM)
    if atom.capabilities is not None:
        holds = capability in atom.capabilities
        return [Way(machine=((atom, wanted),))] if holds is wanted else []
    return [Way(unread=(atom,))] if machine else [Way(((atom, wanted),))]


def _union(parts: list[list[Way]]) -> list[Way]:
    found = list(dict.fromkeys(way for part in parts for way in part))
    return found if len(found) <= LIMIT else [Way(complete=False)]


def _product(parts: list[list[Way]]) -> list[Way]:
    found = [Way()]
    for part in sorted(parts, key=len):
        if not part:
            return []
        if len(found) * len(part) > LIMIT:
            found = [replace(way, complete=False) for way in found]
            continue
        found = [joined for left in found for right in part if (joined := join(left, right))]
    return found


def join(left: Way, right: Way) -> Way | None:
    """Both ways at once, or None where a test would have to be both true and false."""
    literals = tuple(dict.fromkeys((*left.literals, *right.literals)))
    if contradict(literals):
        return None
    return Way(
        literals,
        tuple(dict.fromkeys((*left.unread, *right.unread))),
        tuple(dict.fromkeys((*left.machine, *right.machine))),
        left.complete and right.complete,
    )


def contradict(literals: Iterable[Literal]) -> bool:
    """Whether one test would have to be both true and false."""
    held: dict[str, bool] = {}
    return any(
        held.setdefault(key_of(atom.text), wanted) is not wanted for atom, wanted in literals
    )


@lru_cache(maxsize=8192)
def key_of(text: str) -> str:
    """The test without its owners: `self.x is None` and `runner.x is None` ask the same.

    Files call one fact by the same last name on different holders; taking them for one only
    ever drops ways, so that a rule says less.
    """
    return _OWNERS.sub("", text)


def demands(literals: Iterable[Literal], words: Vocabulary) -> dict[str, Demand]:
    """What the tests ask of each subject that can be told."""
    found: dict[str, Demand] = {}
    for atom, wanted in literals:
        question = question_of(atom, words)
        if question is not None:
            known = found.get(question.subject, Demand())
            found[question.subject] = known.narrowed(question.values, question.inside is wanted)
    return found


def possible(literals: tuple[Literal, ...], words: Vocabulary) -> bool:
    """Whether nothing in the tests contradicts something else in them."""
    if contradict(literals):
        return False
    return not any(item.impossible for item in demands(literals, words).values())


def subject_of(literal: Literal, words: Vocabulary) -> str | None:
    """What a test asks about, where that is one subject."""
    question = question_of(literal[0], words)
    return question.subject if question is not None else None
