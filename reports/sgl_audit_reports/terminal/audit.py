"""The audit in a terminal: the first screen, and behind it everything."""

from __future__ import annotations

from rich.console import Console

from sgl_audit.model.report import Audit
from sgl_audit_reports.common.overview import overview_of
from sgl_audit_reports.terminal.details import render_details
from sgl_audit_reports.terminal.first_screen import render_first_screen


def render_audit(audit: Audit, console: Console, *, details: bool = False) -> None:
    """Print the first screen, and with `details` all findings, families, matrix and gaps."""
    overview = overview_of(audit)
    render_first_screen(audit, overview, console)
    if details:
        render_details(audit, overview, console)
