"""A guard once options have values: `assume(guard, "moe_runner_backend", "auto")`.

Tests of those options become true or false where the value settles them; every other test stays
as it is, so what remains is the further condition.
"""

from __future__ import annotations

from collections.abc import Mapping

from sgl_audit.audit.expressions import Given, alias_of, parsed
from sgl_audit.audit.vocabulary import Vocabulary
from sgl_audit.model.facts import Scalar
from sgl_audit.model.guard import (
    ALWAYS,
    NEVER,
    Atom,
    Guard,
    mapped,
)

# Option name -> the values it can have; an option that is not there can have any.
Values = Mapping[str, tuple[Scalar, ...]]
NO_WORDS = Vocabulary({}, {}, {}, {})


def assume(guard: Guard, option: str, value: Scalar, words: Vocabulary = NO_WORDS) -> Guard:
    """The guard where one option has one value."""
    return assume_all(guard, {option: (value,)}, words)


def assume_all(guard: Guard, values: Values, words: Vocabulary = NO_WORDS) -> Guard:
    """The guard where options have one of the given values each."""

    def settled(atom: Atom) -> Guard:
        truth = truth_of(atom, values, words)
        return atom if truth is None else (ALWAYS if truth else NEVER)

    return mapped(guard, settled)


def truth_of(atom: Atom, values: Values, words: Vocabulary) -> bool | None:
    """What an atom is where all given values agree on it; None where they do not."""
    if len(atom.options) != 1:
        return None
    option = atom.options[0]
    possible = values.get(option)
    if not possible:
        return None
    found = {_truth(atom.text, option, value, words) for value in possible}
    return found.pop() if len(found) == 1 else None


def _truth(text: str, option: str, value: Scalar, words: Vocabulary) -> bool | None:
    key = (text, option, type(value), value)
    if key not in words.truths:
        node = parsed(text)
        if node is None:
            words.truths[key] = None
        else:
            given = Given(option, value, words, alias_of(node, option))
            words.truths[key] = given.truth(node)
    return words.truths[key]
