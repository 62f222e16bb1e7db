"""The first screen: is the default safe on this capability, and if not, what to pass."""

from __future__ import annotations

import shlex

from rich.console import Console

from sgl_audit.model.report import Audit, Severity
from sgl_audit_reports.common.families import AdviceBlock, Standing, standings
from sgl_audit_reports.common.findings import Numbered
from sgl_audit_reports.common.names import (
    capability_label,
    capability_range,
    cards,
    pins,
    source_heading,
)
from sgl_audit_reports.common.overview import Overview
from sgl_audit_reports.common.text import clipped, listed, plural, unique, visible
from sgl_audit_reports.terminal.console import (
    HEADING,
    QUIET,
    SEVERITY_STYLE,
    hanging,
    indented,
    line,
    text,
)
from sgl_audit_reports.terminal.families import STANDING_STYLE
from sgl_audit_reports.terminal.option_table import option_table

_ROWS = 4
_FOOTNOTES = 3
_CAPABILITIES = 3
_ADVICE = 2
_SUBJECTS = 6
_REASONS = 2
_WITHOUT = ": without it "


def render_first_screen(audit: Audit, overview: Overview, console: Console) -> None:
    """Print at most a screenful for one capability."""
    _header(audit, console)
    console.print()
    _standings(audit, overview, console)
    _all_advice(overview, console)
    rows = overview.important_rows
    shown = rows[:_ROWS]
    if shown:
        console.print()
        console.print(option_table(shown, audit.capabilities, console))
        if len(rows) > len(shown):
            console.print(text(f"... {len(rows) - len(shown)} more options: --details", QUIET))
    console.print()
    _footnotes(overview, console)
    _totals(audit, overview, console)


def _header(audit: Audit, console: Console) -> None:
    names = audit.capabilities
    parts = [source_heading(audit.source)]
    parts += [f"{name} {version} (pinned)" for name, version in pins(audit.source)[:1]]
    if len(names) == 1:
        parts.append(f"{names[0]}: {cards(names[0])}")
    elif len(names) <= _CAPABILITIES:
        parts += [capability_label(name, 1) for name in names]
    else:
        parts.append(plural(len(names), "capability", "capabilities"))
    header = line((f"sgl-audit {audit.tool_version}", HEADING))
    used = len(header)
    for part in parts:
        # A part that does not fit starts a line of its own instead of being torn apart.
        separator = "  " if used + 2 + len(part) <= console.width else "\n"
        used = len(part) if separator == "\n" else used + 2 + len(part)
        header.append(f"{separator}{visible(part)}")
    console.print(header)


def _standings(audit: Audit, overview: Overview, console: Console) -> None:
    many = len(audit.capabilities) > 1
    found = standings(overview.capabilities)
    labels = [_label(item.standing, "" if many else audit.capabilities[0]) for item in found]
    width = max((len(label) for label in labels), default=0)
    for label, item in zip(labels, found, strict=True):
        parts = [_subjects(names, on, audit.capabilities) for names, on in item.subjects]
        said = listed(parts, _SUBJECTS, separator="; ")
        if item.standing is Standing.UNKNOWN:
            said += " (why: --details)"
        hanging(console, text(label, STANDING_STYLE[item.standing]), text(said), width)
    silent = [item.capability for item in overview.capabilities if not item.subjects]
    if silent:
        where = capability_range(silent, audit.capabilities)
        said = "no error touches a default; model families were not computed"
        hanging(console, text(f"UNKNOWN on {where}:", STANDING_STYLE[Standing.UNKNOWN]), text(said))


def _subjects(names: tuple[str, ...], on: tuple[str, ...], asked: tuple[str, ...]) -> str:
    where = f" on {capability_range(on, asked)}" if len(asked) > 1 else ""
    return listed(names, _SUBJECTS) + where


def _label(standing: Standing, where: str) -> str:
    if standing is Standing.NOT_SAFE:
        return f"NOT SAFE BY DEFAULT on {where}:" if where else "NOT SAFE BY DEFAULT:"
    return f"{'accepted, ' if standing is Standing.NO_FAULT else ''}{standing.value}:"


def _all_advice(overview: Overview, console: Console) -> None:
    blocks: dict[AdviceBlock, list[str]] = {}
    for item in overview.capabilities:
        for block in item.advice:
            blocks.setdefault(block, []).append(item.capability)
    many = len(overview.capabilities) > 1
    for block, names in list(blocks.items())[:_ADVICE]:
        _advice(block, f" on {', '.join(names)}" if many else "", console)
    if len(blocks) > _ADVICE:
        console.print(text(f"... advice for {len(blocks) - _ADVICE} more: --details", QUIET))


def _advice(block: AdviceBlock, where: str, console: Console) -> None:
    console.print()
    who = listed(block.families, 4) + where
    if not block.flags:
        console.print(line((f"{who}: ", HEADING), "no flags are known to help"))
        return
    doubt = f" ({block.doubt})" if block.doubt else ""
    console.print(line((f"{who}: add{doubt}", HEADING)))
    # One flag with its value must not be torn apart, and the lines must paste as they are.
    for row in wrapped_flags(block.flags, console.width - 4):
        console.print(text(f"  {row}", "bold"), soft_wrap=True)
    for reason in _reasons(block, console.width - 4):
        indented(console, text(reason, QUIET))


def _reasons(block: AdviceBlock, width: int) -> list[str]:
    """One reason for each flag; the only one has two lines and need not name its flag."""
    first: dict[str, str] = {}
    for reason in block.reasons:
        flag, sign, _ = reason.partition(_WITHOUT)
        first.setdefault(flag if sign else reason, visible(reason))
    kept = list(first.values())[-_REASONS:]
    if len(kept) == 1 and len(first) == 1:
        _, sign, rest = kept[0].partition(_WITHOUT)
        return [clipped(f"without it: {rest}" if sign else kept[0], 2 * width - 12)]
    return [clipped(reason, width) for reason in kept]


def wrapped_flags(flags: tuple[str, ...], width: int) -> list[str]:
    """Flags in shell lines that paste as one command, quoted, continued with a backslash."""
    words: list[str] = []
    for flag in flags:
        quoted = flag if _plain_flag(flag) else shlex.quote(visible(flag))
        if words and not quoted.startswith("-") and " " not in words[-1]:
            words[-1] += f" {quoted}"
        else:
            words.append(quoted)
    rows = [""]
    for word in words:
        if rows[-1] and len(rows[-1]) + len(word) + 3 > width:
            rows.append("")
        rows[-1] = f"{rows[-1]} {word}".strip()
    return [f"{row} \\" for row in rows[:-1]] + rows[-1:]


def _plain_flag(flag: str) -> bool:
    return all(part.isascii() and part == shlex.quote(part) for part in flag.split(" "))


def _footnotes(overview: Overview, console: Console) -> None:
    for item in overview.findings[: _footnotes_shown(overview)]:
        _footnote(item, console)


def _footnotes_shown(overview: Overview) -> int:
    """The reasons of an advice take the place of the last footnote: it is one screen."""
    reasons = any(
        block.reasons and block.flags for c in overview.capabilities for block in c.advice
    )
    return _FOOTNOTES - 1 if reasons else _FOOTNOTES


def _footnote(item: Numbered, console: Console) -> None:
    finding = item.finding
    place = f"{finding.place}"
    head = f"{finding.rule} {finding.severity.value}"
    said = visible(finding.message)
    room = console.width - 5 - len(head) - len(visible(place)) - 4
    value = line((head, SEVERITY_STYLE[finding.severity]), f"  {place}")
    value.append(f"  {said}" if len(said) <= room else f"\n{clipped(said, console.width - 6)}")
    hanging(console, text(f"[{item.number}]"), value)


def _unread(audit: Audit) -> str:
    """The files that could not be read: no total is to be trusted without them."""
    places = unique(str(item.place) for item in audit.facts.diagnostics if item.place is not None)
    return f"; NOT READ: {listed(places, 1)}" if places else ""


def _totals(audit: Audit, overview: Overview, console: Console) -> None:
    room = _footnotes_shown(overview)
    rest = f" ({room} shown)" if len(overview.findings) > room else ""
    assumed = unique(f"{item.name} {item.value}" for item in audit.assumptions)
    said = f"   assumed: {listed(assumed, 3)}" if assumed else ""
    console.print(line(f"{overview.counts}{rest}", (said, QUIET)))
    unread = (_unread(audit), SEVERITY_STYLE[Severity.ERROR])
    console.print(line(overview.understood, unread))
    rule = overview.findings[0].finding.rule if overview.findings else None
    steps = ["--details", "-o report.html"]
    if rule is not None:
        steps = [f"sgl-audit explain {rule}", *steps]
    console.print(text(f"next: {' | '.join(steps)}", QUIET))
