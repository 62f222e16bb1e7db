"""Which facts belong in the graph that was asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sgl_audit.audit.vocabulary import vocabulary
from sgl_audit.graph.nodes import atom_key
from sgl_audit.model.facts import (
    BackendEnum,
    Choice,
    Decision,
    EnvironmentVariable,
    Facts,
    Option,
    Rejection,
    Scalar,
)
from sgl_audit.model.guard import AtomKind, Guard, atoms, holds_on

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Selection:
    """The facts of a graph, each part in the order in which it is added.

    Attributes:
        meanings: how a gate is asked -> the capability sets on which tests that ask so hold.
    """

    facts: Facts
    options: tuple[Option, ...]
    members: tuple[tuple[BackendEnum, tuple[Option, ...]], ...]
    variables: tuple[EnvironmentVariable, ...]
    decisions: tuple[Decision, ...]
    rejections: tuple[Rejection, ...]
    meanings: dict[str, set[frozenset[str] | None]]

    def declared(self, option: Option) -> dict[Scalar, Choice]:
        """The declared choices of the list that an option takes its choices from."""
        lists = [item for item in self.facts.choice_lists if item.name == option.choice_list]
        return {choice.value: choice for item in lists for choice in item.choices}


def select(facts: Facts, wanted: frozenset[str] | None, capabilities: Sequence[str]) -> Selection:
    """The facts about the wanted options (all of the server's backend options where None)."""
    decisions = tuple(
        item
        for item in facts.decisions
        if _possible(item.guard, capabilities) and _about(item, wanted)
    )
    rejections = tuple(
        item
        for item in facts.rejections
        if _possible(item.guard, capabilities) and _refuses(item, wanted)
    )
    options = tuple(item for item in facts.options if _shown(item, wanted, decisions))
    words = vocabulary(facts)
    using: dict[str, list[Option]] = {}
    for option in options:
        enum = words.enum_of.get(option.name)
        if enum is not None:
            using.setdefault(enum, []).append(option)
    members = tuple((words.enums[name], tuple(using[name])) for name in sorted(using))
    variables = _variables(facts, options, decisions, rejections, wanted)
    meanings = _meanings((*decisions, *rejections))
    return Selection(facts, options, members, variables, decisions, rejections, meanings)


def _meanings(
    items: Iterable[Decision | Rejection],
) -> dict[str, set[frozenset[str] | None]]:
    found: dict[str, set[frozenset[str] | None]] = {}
    for item in items:
        for atom in atoms(item.guard):
            if atom.kind in (AtomKind.GATE, AtomKind.PLATFORM):
                found.setdefault(atom_key(atom), set()).add(atom.capabilities)
    return found


def _possible(guard: Guard, capabilities: Sequence[str]) -> bool:
    return not capabilities or any(holds_on(guard, name) is not False for name in capabilities)


def _about(item: Decision, wanted: frozenset[str] | None) -> bool:
    if wanted is None:
        return True
    return item.option in wanted or any(wanted & set(a.options) for a in atoms(item.guard))


def _refuses(item: Rejection, wanted: frozenset[str] | None) -> bool:
    if wanted is None:
        return True
    return bool(wanted & set(item.options)) or any(
        wanted & set(a.options) for a in atoms(item.guard)
    )


def _shown(option: Option, wanted: frozenset[str] | None, decisions: Sequence[Decision]) -> bool:
    if wanted is not None:
        return option.name in wanted
    return option.backend or any(item.option == option.name for item in decisions)


def _variables(
    facts: Facts,
    options: Sequence[Option],
    decisions: Sequence[Decision],
    rejections: Sequence[Rejection],
    wanted: frozenset[str] | None,
) -> tuple[EnvironmentVariable, ...]:
    if wanted is None:
        return facts.environment
    names = {option.name for option in options}
    items: list[Guard] = [item.guard for item in decisions]
    items += [item.guard for item in rejections]
    asked = " ".join(
        atom.text for guard in items for atom in atoms(guard) if atom.kind is AtomKind.ENVIRONMENT
    )
    return tuple(
        item
        for item in facts.environment
        if names & set(item.overrides)
        or item.name in asked.replace('"', " ").replace(".", " ").split()
    )
