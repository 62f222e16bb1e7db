"""The launches of a review in a terminal: the verdict, then one block for each launch."""

from __future__ import annotations

from rich.console import Console

from sgl_audit.model.review import LaunchReview, LaunchVerdict, Review, UpgradeVerdict
from sgl_audit_reports.common.text import clipped, plural
from sgl_audit_reports.common.upgrades import (
    edited_line,
    end_text,
    launch_line,
    lone_texts,
    refusal_in,
    refusal_text,
    value_changes,
)
from sgl_audit_reports.terminal.console import HEADING, QUIET, indented, line, text

_STYLE = {
    LaunchVerdict.SAME: "green",
    LaunchVerdict.CHANGES: "yellow",
    LaunchVerdict.REFUSED: "bold red",
    LaunchVerdict.WORKS: "bold green",
    LaunchVerdict.BOTH_REFUSED: "red",
    LaunchVerdict.UNKNOWN: "magenta",
}
_UPGRADE_STYLE = {
    UpgradeVerdict.SAFE: "bold green",
    UpgradeVerdict.WITH_FLAGS: "bold green",
    UpgradeVerdict.DIFFERENT: "bold yellow",
    UpgradeVerdict.NOT_SAFE: "bold red",
    UpgradeVerdict.UNKNOWN: "bold magenta",
}
_WORST_FIRST = (
    LaunchVerdict.REFUSED,
    LaunchVerdict.CHANGES,
    LaunchVerdict.UNKNOWN,
    LaunchVerdict.BOTH_REFUSED,
    LaunchVerdict.WORKS,
    LaunchVerdict.SAME,
)
_LAUNCHES = 12
_VALUES = 8


def render_launches(review: Review, console: Console, *, details: bool) -> None:
    """Print what the upgrade does to each launch; those that are not the same first."""
    if review.verdict is None:
        return
    console.print()
    counts = ", ".join(
        f"{sum(item.verdict is verdict for item in review.launches)} {verdict.value}"
        for verdict in LaunchVerdict
        if any(item.verdict is verdict for item in review.launches)
    )
    head = (review.verdict.value.upper(), _UPGRADE_STYLE[review.verdict])
    console.print(line(head, f": {plural(len(review.launches), 'launch', 'launches')}: {counts}"))
    ordered = sorted(review.launches, key=lambda item: _WORST_FIRST.index(item.verdict))
    shown = ordered if details else ordered[:_LAUNCHES]
    for item in shown:
        _launch(item, review, console, details)
    if len(ordered) > len(shown):
        console.print(text(f"... {len(ordered) - len(shown)} more: --details", QUIET))


def _launch(item: LaunchReview, review: Review, console: Console, details: bool) -> None:
    name = f"{item.launch.id} on {item.launch.capability}"
    said = _said(item, details)
    console.print(line((f"{name}: ", HEADING), (said, _STYLE[item.verdict])))
    if details:
        indented(console, text(launch_line(item), QUIET))
        _lone(item, console)
    for warning in item.warnings:
        indented(console, line(("known fault: ", "red"), warning))
    for note in item.notes[: None if details else 1]:
        indented(console, line(("note: ", QUIET), note))
    if item.edit is not None:
        for step in item.edit.steps:
            indented(console, text(step, QUIET))
        if item.edit.left:
            left = "; ".join(value_changes(item.edit.left))
            indented(console, text(f"still differs: {left}", "yellow"))
        # The line must paste as it is.
        console.print(text(f"  {edited_line(item)}", "bold"), soft_wrap=True)
    elif item.verdict is LaunchVerdict.REFUSED:
        indented(console, text("no change of flags is known to help"))


def _said(item: LaunchReview, details: bool) -> str:
    match item.verdict:
        case LaunchVerdict.REFUSED:
            return end_text(item.new)
        case LaunchVerdict.BOTH_REFUSED:
            refusal = refusal_in(item.new)
            return f"refused by both; now {refusal_text(refusal)}" if refusal else "refused by both"
        case LaunchVerdict.WORKS:
            return f"works now; was {end_text(item.old)}"
        case LaunchVerdict.UNKNOWN:
            return f"unknown: {_why_unknown(item)}"
        case LaunchVerdict.CHANGES:
            changes = value_changes(item.changes)
            shown = changes if details else changes[:_VALUES]
            more = f"; {len(changes) - len(shown)} more" if len(changes) > len(shown) else ""
            return f"changes: {'; '.join(shown)}{more}"
    return item.verdict.value


def _why_unknown(item: LaunchReview) -> str:
    if item.new.reason or item.old.reason:
        return item.new.reason or item.old.reason
    if item.unknown:
        first = item.unknown[0]
        return clipped(f"{first.name}: {first.reason}", 200)
    return item.notes[0] if item.notes else "it cannot be told"


def _lone(item: LaunchReview, console: Console) -> None:
    for label, values in (("gone", item.gone), ("new", item.added)):
        shown = lone_texts(values)
        if shown:
            indented(console, text(f"{label}: {', '.join(shown)}", QUIET))
