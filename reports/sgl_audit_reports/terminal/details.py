"""What `--details` adds to the first screen."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from sgl_audit.model.report import Audit
from sgl_audit.model.resolution import Assumption
from sgl_audit.model.source import Diagnostic
from sgl_audit_reports.common.overview import Overview
from sgl_audit_reports.common.text import listed, value_text
from sgl_audit_reports.terminal.console import QUIET, heading, indented, line, plain_table, text
from sgl_audit_reports.terminal.families import render_families
from sgl_audit_reports.terminal.findings import render_findings
from sgl_audit_reports.terminal.first_screen import wrapped_flags
from sgl_audit_reports.terminal.matrix import render_cells
from sgl_audit_reports.terminal.option_table import option_table


def render_details(audit: Audit, overview: Overview, console: Console) -> None:
    """Print everything that the audit holds."""
    if overview.rows:
        heading(console, "Options with nothing set")
        console.print(option_table(overview.rows, audit.capabilities, console))
    _cases(audit, console)
    _advice(audit, console)
    render_findings(overview.findings, audit.capabilities, console)
    if audit.families:
        heading(console, "Model families with nothing set")
        render_families(audit, console)
    if audit.cells:
        heading(console, "Choices by capability")
        render_cells(audit.cells, audit.capabilities, console)
    render_assumptions(audit.assumptions, console)
    render_gaps("Not understood", audit.coverage.not_understood, console)
    render_gaps("Diagnostics", audit.diagnostics, console)


def _cases(audit: Audit, console: Console) -> None:
    dependent = [b for b in audit.behaviours if len(b.becomes) > 1 or b.undecided or b.why]
    if not dependent:
        return
    heading(console, "Why, and on what it depends")
    for behaviour in dependent:
        console.print(line((behaviour.option, "bold"), f" on {behaviour.capability}"))
        if behaviour.why:
            indented(console, text(behaviour.why))
        if len(behaviour.becomes) > 1:
            for case in behaviour.becomes:
                indented(console, line(value_text(case.value), (f"  when {case.guard}", QUIET)), 4)
        for place in behaviour.places:
            indented(console, text(str(place), QUIET), 4)


def _advice(audit: Audit, console: Console) -> None:
    if not audit.advice:
        return
    heading(console, "What to pass")
    for item in audit.advice:
        console.print(line((item.family, "bold"), f" on {item.capability}"))
        for row in wrapped_flags(item.flags, console.width - 4) if item.flags else ["(nothing)"]:
            console.print(text(f"  {row}"), soft_wrap=True)
        for reason in item.reasons:
            indented(console, text(reason, QUIET), 4)


def render_assumptions(assumptions: Sequence[Assumption], console: Console) -> None:
    """Everything taken as given, with what rested on it."""
    if not assumptions:
        return
    heading(console, "Assumed")
    rows = [
        (text(a.name), text(a.value), text(a.source), text(listed(a.decided, 6)))
        for a in assumptions
    ]
    columns = ("what", "value", "from", "decided")
    # Nothing may be known of what rested on them; an empty column would say that nothing did.
    shown = 4 if any(a.decided for a in assumptions) else 3
    console.print(plain_table(columns[:shown], [row[:shown] for row in rows]))


def render_gaps(title: str, gaps: Sequence[Diagnostic], console: Console) -> None:
    """What could not be read or understood, each with its reason."""
    if not gaps:
        return
    heading(console, title)
    for gap in gaps:
        place = f"{gap.place}  " if gap.place is not None else ""
        indented(console, line((place, QUIET), gap.message))
