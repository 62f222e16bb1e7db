"""Recommendations on a terminal: the line to copy first, then why."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sgl_audit.model.source import SourceInfo
from sgl_audit.model.verdict import FlagAdvice, Recommendation, ValueVerdict, Verdict
from sgl_audit_reports.common.names import capability_label, pins, source_heading
from sgl_audit_reports.common.text import unique
from sgl_audit_reports.common.verdicts import (
    MARKS,
    ground_line,
    grounds_text,
    others_text,
    standing,
    subject,
)
from sgl_audit_reports.terminal.console import (
    HEADING,
    QUIET,
    heading,
    indented,
    line,
    plain_table,
    text,
)

STYLES = {
    Verdict.WORKS: "green",
    Verdict.SLOW: "yellow",
    Verdict.UNKNOWN: "magenta",
    Verdict.WRONG: "bold red",
    Verdict.NO_KERNEL: "bold red",
    Verdict.REFUSED: "bold red",
}
_OTHERS = 6


def render_recommendations(
    found: Sequence[Recommendation], source: SourceInfo, console: Console
) -> None:
    """Print what to add, for each capability."""
    console.print(line(("sgl-audit recommend", HEADING), f"  {source_heading(source)}"))
    console.print(text("  ".join(f"{name} {version}" for name, version in pins(source)), QUIET))
    for item in found:
        _one(item, console)


def _one(item: Recommendation, console: Console) -> None:
    heading(console, capability_label(item.capability))
    console.print(line(("as given: ", QUIET), standing(item)))
    if item.flags:
        ending = "" if item.complete else " (the best there is, not known to be enough)"
        console.print(line("add", (ending, "yellow")))
        # One line, so that it can be copied whole.
        console.print(Text(f"  {_shown(item)}", style="bold"), soft_wrap=True)
    elif item.complete:
        console.print(text("nothing to add", "green"))
    else:
        console.print(text("no flag was found that mends this", "yellow"))
    for flag in item.flags:
        _flag(flag, console)
    render_verdicts("with these flags" if item.flags else "verdicts", item.after, console)
    # What stands in the table above with its reason need not be read twice.
    said = {f"{row.verdict}: {row.reason}" for row in item.after}
    for reason in unique(item.remaining):
        if reason not in said:
            indented(console, line(("remains ", "yellow"), reason))
    for note in item.notes:
        console.print(line(("note: ", QUIET), note))


def _shown(item: Recommendation) -> str:
    return " ".join(f"{flag.flag} {shlex.quote(flag.value)}" for flag in item.flags)


def _flag(flag: FlagAdvice, console: Console) -> None:
    console.print()
    console.print(text(f"{flag.flag} {flag.value}", HEADING))
    place = f"  {flag.place}" if flag.place is not None else ""
    indented(console, line(("without it: ", QUIET), flag.reason, (place, QUIET)))
    cost = flag.cost or "nothing that is known of"
    indented(console, line(("costs: ", QUIET), cost))
    others = others_text(flag)
    for other in others[:_OTHERS]:
        indented(console, line(("otherwise: ", QUIET), other))
    if len(others) > _OTHERS:
        indented(console, text(f"and {len(others) - _OTHERS} more: --format json", QUIET))


def render_verdicts(title: str, rows: Sequence[ValueVerdict], console: Console) -> None:
    """A table of verdicts, and the reason of each that is not plainly good."""
    heading(console, title)
    console.print(verdict_table(rows))
    for subjects, ground in _reasons(rows):
        indented(console, line((f"{subjects}: ", QUIET), ground))


def _reasons(rows: Sequence[ValueVerdict]) -> list[tuple[str, str]]:
    """What speaks for each verdict that is not plainly good; equal reasons once."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.verdict is not Verdict.WORKS:
            grounds = (ground for ground in row.grounds if ground.says is row.verdict)
            ground = next(grounds, None)
            if ground is not None:
                found.setdefault(ground_line(ground), []).append(subject(row))
    return [(", ".join(subjects), said) for said, subjects in found.items()]


def verdict_table(rows: Sequence[ValueVerdict]) -> Table:
    """Option, verdict and what it rests on."""
    body = [
        (
            text(f"{MARKS[row.verdict]} {row.verdict.value}", STYLES[row.verdict]),
            text(subject(row)),
            text(grounds_text(row), QUIET),
        )
        for row in rows
    ]
    return plain_table(("verdict", "value", "rests on"), body)
