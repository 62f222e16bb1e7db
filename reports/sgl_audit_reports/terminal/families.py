"""Model families with nothing set."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from sgl_audit.model.report import Advice, Audit, FamilyRow
from sgl_audit_reports.common.families import (
    STANDINGS,
    Standing,
    error_fingerprints,
    launch_text,
    standing_of,
)
from sgl_audit_reports.common.findings import numbered_of
from sgl_audit_reports.terminal.console import QUIET, indented, line, text

STANDING_STYLE = {
    Standing.NOT_SAFE: "bold red",
    Standing.SAFE: "green",
    Standing.NO_FAULT: "green",
    Standing.UNKNOWN: "magenta",
}


def render_families(audit: Audit, console: Console) -> None:
    """By capability: how each family's launch ends and what its options become, worst first."""
    if not audit.families:
        console.print(text("Model families were not computed.", QUIET))
    numbers = {item.finding.fingerprint: item.number for item in numbered_of(audit)}
    errors = error_fingerprints(audit)
    for capability in dict.fromkeys(row.capability for row in audit.families):
        console.print(text(f"on {capability}", "bold"))
        advice = [item for item in audit.advice if item.capability == capability]
        rows = [row for row in audit.families if row.capability == capability]
        for standing, row in _ranked(rows, advice, errors):
            _family(row, standing, numbers, console)


def _ranked(
    rows: Sequence[FamilyRow], advice: Sequence[Advice], errors: frozenset[str]
) -> list[tuple[Standing, FamilyRow]]:
    pairs = [(standing_of(row, advice, errors), row) for row in rows]
    return sorted(pairs, key=lambda pair: STANDINGS.index(pair[0]))


def _family(row: FamilyRow, standing: Standing, numbers: dict[str, int], console: Console) -> None:
    notes = "".join(f" [{numbers[found]}]" for found in row.findings if found in numbers)
    ending = (launch_text(row, standing), STANDING_STYLE[standing])
    console.print(line(f"  {row.family}  ", ending, notes))
    if row.values:
        said = "  ".join(f"{name}={value}" for name, value in row.values)
        indented(console, text(said), 4)
    if row.why or row.place is not None:
        place = f"  {row.place}" if row.place is not None else ""
        indented(console, line(row.why, (place, QUIET)), 4)
