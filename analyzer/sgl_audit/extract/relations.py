"""Coupled switches: options that are read where another option is decided or refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sgl_audit.model.facts import Decision, Rejection
from sgl_audit.model.guard import Guard, atoms
from sgl_audit.model.source import Place


@dataclass(frozen=True, slots=True, order=True)
class Relation:
    """`option` is read in the guard of a decision on, or a refusal of, `other`, at `places`."""

    option: str
    other: str
    kind: str
    places: tuple[Place, ...]


def relations(
    decisions: Iterable[Decision], rejections: Iterable[Rejection], backend: frozenset[str]
) -> tuple[Relation, ...]:
    """The options that decide about backend options, or are refused with them, in order."""
    found: dict[tuple[str, str, str], set[Place]] = {}
    for decision in decisions:
        if decision.option in backend:
            for option in _read(decision.guard) - {decision.option}:
                key = (option, decision.option, "decision")
                found.setdefault(key, set()).add(decision.place)
    for rejection in rejections:
        for other in backend.intersection(rejection.options):
            for option in set(rejection.options) - {other}:
                found.setdefault((option, other, "rejection"), set()).add(rejection.place)
    return tuple(Relation(*key, tuple(sorted(places))) for key, places in sorted(found.items()))


def _read(guard: Guard) -> set[str]:
    return {name for atom in atoms(guard) for name in atom.options}
