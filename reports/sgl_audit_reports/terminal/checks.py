"""Checked launches in a terminal: a line each, and why."""

from __future__ import annotations

from rich.console import Console

from sgl_audit.model.checks import CheckReport, LaunchCheck, Standing
from sgl_audit_reports.common.launches import name_of, said_of, standing_counts, where_of
from sgl_audit_reports.common.names import source_heading
from sgl_audit_reports.terminal.console import HEADING, QUIET, indented, line, text

_STYLE = {
    Standing.ACCEPTED: "bold green",
    Standing.REFUSED: "bold red",
    Standing.UNKNOWN: "bold magenta",
}
_WORD = {Standing.ACCEPTED: "accepted", Standing.REFUSED: "REFUSED", Standing.UNKNOWN: "UNKNOWN"}


def render_checks(report: CheckReport, console: Console) -> None:
    """Print every launch in the order of the files."""
    head = f"sgl-audit {report.tool_version}"
    console.print(line((head, HEADING), f"  {source_heading(report.source)}"))
    for item in report.checks:
        _check(item, console)
    for notice in report.notices:
        console.print(text(f"passed over: {notice.message}", QUIET))
    console.print(text(standing_counts(report)))


def _check(item: LaunchCheck, console: Console) -> None:
    named = f"  {name_of(item)}" if name_of(item) else ""
    word = (_WORD[item.standing], _STYLE[item.standing])
    console.print(line(f"{where_of(item)}{named}  {item.capability}  ", word))
    for said in said_of(item):
        indented(console, text(said), 2)
