"""Resolutions compared."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sgl_audit.model.resolution import Outcome, Refusal, Resolution, ResolvedValue
from sgl_audit_reports.common.text import unique, value_text


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """One option or run-time value over several resolutions."""

    name: str
    values: tuple[str, ...]
    differs: bool


def shown_value(value: ResolvedValue) -> str:
    """The value, or what it may be."""
    if value.decided:
        return value_text(value.value)
    cases = unique(value_text(case.value) for case in value.cases)
    return " or ".join(cases) + " (undecided)" if cases else "unknown"


def alike(refusals: Sequence[Refusal]) -> list[tuple[Refusal, int]]:
    """Refusals that differ in more than their condition, each with how often it occurs."""
    found: dict[object, list[Refusal]] = {}
    for item in refusals:
        key = (item.type, item.message, item.stage, item.place)
        found.setdefault(key, []).append(item)
    return [(min(same, key=lambda r: len(r.guard or "")), len(same)) for same in found.values()]


def comparison(
    resolutions: Sequence[Resolution], options: Collection[str] = (), everything: bool = False
) -> tuple[ComparedValue, ...]:
    """What differs first; without `everything` and `options`, only values that something set."""
    rows = [
        row
        for group in ("options", "runtime")
        for row in _rows(resolutions, group, options, everything)
    ]
    return tuple(sorted(rows, key=lambda row: not row.differs))


def _rows(
    resolutions: Sequence[Resolution], group: str, options: Collection[str], everything: bool
) -> list[ComparedValue]:
    found = [
        {value.name: value for value in _values(resolution, group)} for resolution in resolutions
    ]
    rows = []
    for name in unique(name for values in found for name in values):
        cells = [values.get(name) for values in found]
        # A refused launch has no value; that alone is not a difference between values.
        shown = tuple("-" if cell is None else shown_value(cell) for cell in cells)
        differs = len({text for text in shown if text != "-"}) > 1
        acted = any(cell is not None and len(cell.steps) > 1 for cell in cells)
        if (name in options) if options else (everything or differs or acted):
            label = name if group == "options" else f"{name} (run time)"
            rows.append(ComparedValue(label, shown, differs))
    return rows


def _values(resolution: Resolution, group: str) -> tuple[ResolvedValue, ...]:
    if resolution.outcome is Outcome.REJECTED:
        return ()
    return resolution.options if group == "options" else resolution.runtime
