"""Coupled switches: options that are read where another option is decided or refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sgl_audit.model.facts import Decision, Rejection
from sgl_audit.model.guard import atoms
from sgl_audit.model.source import Place


@dataclass(frozen=True, slots=True, order=True)
class Relation:
    """`option` is read in the guard of a decision on, or a refusal of, `other`."""

    option: str
    other: str
    kind: str
    place: Place


def relations(
    decisions: Iterable[Decision], rejections: Iterable[Rejection]
) -> tuple[Relation, ...]:
    """Every pair of options that one place ties together, in order."""
    found: set[Relation] = set()
    for decision in decisions:
        for option in _read(decision):
            if option != decision.option:
                found.add(Relation(option, decision.option, "decision", decision.place))
    for rejection in rejections:
        for option in rejection.options:
            for other in rejection.options:
                if option != other:
                    found.add(Relation(option, other, "rejection", rejection.place))
    return tuple(sorted(found))


def _read(decision: Decision) -> set[str]:
    return {name for atom in atoms(decision.guard) for name in atom.options}
