"""What whole launches with nothing set ran into, where the audit followed any."""

from __future__ import annotations

from dataclasses import dataclass

from sgl_audit.model.facts import Rejection
from sgl_audit.model.report import FamilyRow
from sgl_audit.model.source import Place
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.options import options_by_name
from sgl_audit.rules.refusing import refused_at

_REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Stopped:
    """Launches that one refusal stopped on a value of a backend option that nobody set."""

    rejection: Rejection
    place: Place
    option: str
    value: str
    rows: tuple[FamilyRow, ...]


def stopped(context: RuleContext) -> tuple[Stopped, ...]:
    """The refusals of backend values that launches with nothing set ran into."""
    at = {}
    for rejection in context.facts.rejections:
        if any(name.endswith("backend") for name in rejection.options):
            at[_line(refused_at(context, rejection))] = rejection
            at.setdefault(_line(rejection.place), rejection)
    groups: dict[tuple[str, str, Place], list[tuple[Rejection, FamilyRow]]] = {}
    for row in context.families:
        rejection_of = at.get(_line(row.place)) if row.place is not None else None
        if row.outcome != _REFUSED or row.place is None or rejection_of is None:
            continue
        for option, value in _backends(context, rejection_of, row):
            key = (option, value, row.place)
            groups.setdefault(key, []).append((rejection_of, row))
    return tuple(
        Stopped(pairs[0][0], place, option, value, tuple(row for _, row in pairs))
        for (option, value, place), pairs in groups.items()
    )


def _line(place: Place) -> tuple[str, int]:
    return place.file, place.line


def _backends(context: RuleContext, rejection: Rejection, row: FamilyRow) -> list[tuple[str, str]]:
    """The options the refusal asks about that ended up with a choice nobody made."""
    values = dict(row.values)
    return [
        (name, values[name])
        for name in rejection.options
        if name.endswith("backend")
        and name in values
        and values[name] in (options_by_name(context)[name].choices or ())
    ]
