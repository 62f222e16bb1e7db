"""Model families with nothing set."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from sgl_audit.model.report import FamilyRow
from sgl_audit_reports.terminal.console import QUIET, indented, line, text

_OUTCOME_STYLE = {"ok": "green", "refused": "bold red", "unknown": "magenta"}


def render_families(families: Sequence[FamilyRow], console: Console) -> None:
    """One table a capability: what each option becomes, and how the launch ends."""
    for capability in dict.fromkeys(row.capability for row in families):
        rows = [row for row in families if row.capability == capability]
        console.print(text(f"on {capability}", "bold"))
        for row in rows:
            _family(row, console)


def _family(row: FamilyRow, console: Console) -> None:
    style = _OUTCOME_STYLE.get(row.outcome, "")
    console.print(line(f"  {row.family}  ", (row.outcome, style)))
    if row.values:
        said = "  ".join(f"{name}={value}" for name, value in row.values)
        indented(console, text(said), 4)
    if row.why or row.place is not None:
        place = f"  {row.place}" if row.place is not None else ""
        indented(console, line(row.why, (place, QUIET)), 4)
