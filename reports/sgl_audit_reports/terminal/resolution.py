"""One launch resolved, as a tree; several, as a table of what differs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from sgl_audit.model.resolution import Outcome, Refusal, Resolution, ResolvedValue, Step
from sgl_audit_reports.common.names import launch_column, launch_label
from sgl_audit_reports.common.resolutions import (
    ComparedValue,
    alike,
    comparison,
    shown_value,
)
from sgl_audit_reports.common.text import clipped, shortened
from sgl_audit_reports.terminal.console import (
    QUIET,
    heading,
    indented,
    line,
    plain_table,
    text,
)
from sgl_audit_reports.terminal.details import render_assumptions
from sgl_audit_reports.terminal.recommendation import render_verdicts

_COLUMN = 16
_NAME = 36
_POSSIBLE = 5
_GUARD = 240
_OUTCOME_STYLE = {
    Outcome.OK: "bold green",
    Outcome.REJECTED: "bold red",
    Outcome.UNKNOWN: "bold magenta",
}
_OUTCOME = {
    Outcome.OK: "accepted",
    Outcome.REJECTED: "REFUSED",
    Outcome.UNKNOWN: "UNKNOWN",
}


def render_resolution(
    resolution: Resolution,
    console: Console,
    *,
    options: Collection[str] = (),
    everything: bool = False,
) -> None:
    """Print how one launch ends, value by value.

    Args:
        options: only these names, where any are given.
        everything: also the values that nothing but their default set.
    """
    _outcome(resolution, console)
    if resolution.rejection is not None:
        _refusal(resolution.rejection, console)
    for title, values in (("Options", resolution.options), ("At run time", resolution.runtime)):
        _values(title, values, console, options, everything)
    _possible(resolution.possible, console, everything)
    if resolution.late is None:
        console.print()
        console.print(text("Refusals once loading starts: unknown", "magenta"))
    else:
        _refusals("Refused once loading starts", resolution.late, console)
    if resolution.verdicts:
        render_verdicts("Will it work", resolution.verdicts, console)
        _paths(resolution, console)
    render_assumptions(resolution.assumptions, console)
    for note in resolution.notes:
        console.print(line(("note: ", QUIET), note))


def _paths(resolution: Resolution, console: Console) -> None:
    heading(console, "What runs")
    for path in resolution.paths:
        where = f"  {path.place}" if path.place is not None else ""
        console.print(
            line((path.site.value, "bold"), f"  {path.method or 'unknown'}", (where, QUIET))
        )
        for call in path.calls:
            when = f"  when {' and '.join(call.when)}" if call.when else ""
            arguments = dict(call.arguments)
            chosen = f"(backend={arguments['backend']})" if "backend" in arguments else ""
            said = line(f"{call.function}{chosen}", (f"  {call.place}{clipped(when, 90)}", QUIET))
            indented(console, said)
        for gap in path.gaps if not path.calls else ():
            indented(console, line(("not followed: ", "magenta"), gap))


def _outcome(resolution: Resolution, console: Console) -> None:
    where = launch_label(resolution.launch)
    reason = f": {resolution.reason}" if resolution.reason else ""
    style = _OUTCOME_STYLE[resolution.outcome]
    # What is accepted and then refused must not read as if it ran.
    later = (", then REFUSED once loading starts", "bold red") if resolution.late else ""
    console.print(line((_OUTCOME[resolution.outcome], style), f" on {where}", later, reason))
    command = " ".join(resolution.launch.argv)
    if command:
        indented(console, text(command, QUIET))


def _refusal(refusal: Refusal, console: Console) -> None:
    place = f"  {refusal.place}" if refusal.place is not None else ""
    indented(console, line((refusal.type, "red"), f" [{refusal.stage}]", (place, QUIET)))
    indented(console, text(refusal.message or "(without a message)"), 4)
    if refusal.guard:
        indented(console, line(("when ", QUIET), refusal.guard), 4)


def _refusals(title: str, refusals: Sequence[Refusal], console: Console) -> None:
    if not refusals:
        return
    heading(console, title)
    for refusal in refusals:
        _refusal(refusal, console)


def _possible(refusals: Sequence[Refusal], console: Console, everything: bool) -> None:
    """What is not settled: the first of them, each once, with a condition that can be read."""
    found = alike(refusals)
    shown = [
        replace(item, guard=clipped(item.guard, _GUARD) if item.guard else None)
        for item, _ in found[: None if everything else _POSSIBLE]
    ]
    _refusals("May be refused", refusals if everything else shown, console)
    if len(shown) < len(found):
        console.print(text(f"{len(found) - len(shown)} more that may refuse it: --all", QUIET))


def _values(
    title: str,
    values: Sequence[ResolvedValue],
    console: Console,
    options: Collection[str],
    everything: bool,
) -> None:
    if options:
        shown = [value for value in values if value.name in options]
    else:
        shown = [v for v in values if everything or _tells(v)]
    if not shown:
        return
    heading(console, title)
    for value in shown:
        console.print(_tree(value))
    hidden = len(values) - len(shown)
    if hidden and not options:
        console.print(text(f"{hidden} more keep their default or flag: --all", QUIET))


def _tells(value: ResolvedValue) -> bool:
    """Whether something acted on the value, or it is one of several."""
    same = len(value.cases) == 1 and not value.steps
    return len(value.steps) > 1 or not (value.decided or same)


def _tree(value: ResolvedValue) -> Tree:
    tree = Tree(line((value.name, "bold"), " = ", (shown_value(value), _value_style(value))))
    for step in value.steps:
        branch = tree.add(_step(step))
        for condition in step.conditions:
            branch.add(line(("because ", QUIET), condition))
    if not value.decided:
        for case in value.cases:
            tree.add(line("may be ", (str(case.value), "bold"), (f" when {case.guard}", QUIET)))
        if value.reason:
            tree.add(line(("unknown: ", "magenta"), value.reason))
    return tree


def _value_style(value: ResolvedValue) -> str:
    return "bold green" if value.decided else "bold magenta"


def _step(step: Step) -> Text:
    place = f"  {step.place}" if step.place is not None else ""
    return line(f"{step.value}  ", step.what, (place, QUIET))


def render_resolutions(
    resolutions: Sequence[Resolution],
    console: Console,
    *,
    options: Collection[str] = (),
    everything: bool = False,
) -> None:
    """Print several resolutions of one launch side by side; `*` marks what differs."""
    if len(resolutions) == 1:
        render_resolution(resolutions[0], console, options=options, everything=everything)
        return
    for resolution in resolutions:
        _outcome(resolution, console)
        if resolution.rejection is not None:
            _refusal(resolution.rejection, console)
        for refusal in resolution.late or ():
            _refusal(refusal, console)
    rows = comparison(resolutions, options, everything)
    heads = [launch_column(item.launch) for item in resolutions]
    parts = _fitting(heads, rows, console.width)
    apart = len(parts) > 1
    for part in parts:
        console.print()
        console.print(_table(heads[part], rows, part, differing=apart))
    same_rows = [
        replace(row, values=tuple(value for value in row.values if value != "-")[:1])
        for row in rows
        if not row.differs
    ]
    if apart and same_rows:
        console.print()
        console.print(_table(["the same on each"], same_rows, slice(0, 1)))
    same = f"{sum(row.differs for row in rows)} of {len(rows)} shown differ (*)"
    console.print(text(same, QUIET))


def _table(
    heads: Sequence[str], rows: Sequence[ComparedValue], part: slice, *, differing: bool = False
) -> Table:
    """Some columns; a table of several repeats no row that is the same in all of them."""
    body = [
        (
            text("*" if row.differs else " ", "bold yellow"),
            text(row.name, "bold" if row.differs else ""),
            *(text(shortened(value, 3 * _COLUMN)) for value in row.values[part]),
        )
        for row in rows
        if row.differs or not differing
    ]
    table = plain_table((" ", "option", *heads), body)
    table.columns[1].max_width = _NAME
    return table


def _fitting(heads: Sequence[str], rows: Sequence[ComparedValue], width: int) -> list[slice]:
    """Columns in as few tables as fit; a long value wraps and takes no more than others."""
    used = 5 + min(_NAME, max((len(row.name) for row in rows), default=0))
    parts: list[slice] = []
    start, taken = 0, used
    for index, head in enumerate(heads):
        longest = max((len(row.values[index]) for row in rows), default=0)
        own = 2 + max(len(head), min(longest, _COLUMN))
        if index > start and taken + own > width:
            parts.append(slice(start, index))
            start, taken = index, used
        taken += own
    return [*parts, slice(start, len(heads))]
