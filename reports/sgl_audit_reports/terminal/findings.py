"""Findings in full: message, chain with excerpts, remedy."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from sgl_audit.model.report import ChainLink, Excerpt
from sgl_audit_reports.common.excerpts import excerpt_lines
from sgl_audit_reports.common.findings import Numbered
from sgl_audit_reports.common.names import capability_range
from sgl_audit_reports.terminal.console import (
    HEADING,
    QUIET,
    SEVERITY_STYLE,
    heading,
    indented,
    line,
    text,
)


def render_findings(findings: Sequence[Numbered], asked: Sequence[str], console: Console) -> None:
    """Every finding with its chain."""
    if not findings:
        return
    heading(console, "Findings")
    for item in findings:
        console.print()
        render_finding(item, asked, console)


def render_finding(item: Numbered, asked: Sequence[str], console: Console) -> None:
    """One finding with its chain."""
    finding = item.finding
    head = line(
        f"[{item.number}] ",
        (f"{finding.rule} {finding.severity.value}", SEVERITY_STYLE[finding.severity]),
        "  ",
        (finding.title, HEADING),
    )
    if item.handled:
        head.append(f"  ({item.handled})", QUIET)
    console.print(head)
    where = capability_range(finding.capabilities, asked)
    when = f", {finding.when}" if finding.when else ""
    indented(console, line(f"{finding.place}", ("  on " + where + when, QUIET)))
    indented(console, text(finding.message))
    for number, link in enumerate(finding.chain, 1):
        render_link(number, link, console)
    if finding.remedy:
        indented(console, line(("do: ", HEADING), finding.remedy))


def render_link(number: int, link: ChainLink, console: Console) -> None:
    """One place of a chain."""
    place = f"  {link.place}" if link.place is not None else ""
    indented(console, line(f"{number}. {link.text}", (place, QUIET)), 4)
    if link.excerpt is not None:
        render_excerpt(link.excerpt, console)


def render_excerpt(excerpt: Excerpt, console: Console, by: int = 7) -> None:
    """Source lines with their numbers; the line that matters is marked."""
    lines = excerpt_lines(excerpt)
    width = len(str(lines[-1].number)) if lines else 0
    for row in lines:
        mark = ">" if row.marked else " "
        indented(console, line((f"{mark}{row.number:>{width}} ", QUIET), row.text), by)
