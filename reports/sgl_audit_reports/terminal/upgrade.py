"""A review in a terminal: the launches, what families become, and what breaks."""

from __future__ import annotations

from rich.console import Console

from sgl_audit.model.review import Change, ChangeKind, Review
from sgl_audit_reports.common.names import capability_label, capability_range, source_heading
from sgl_audit_reports.common.text import clipped, listed, plural
from sgl_audit_reports.common.upgrades import (
    KINDS,
    FamilyLine,
    family_lines,
    family_text,
    important,
    listed_groups,
    main_pins,
    same_text,
    setting_text,
    total_text,
)
from sgl_audit_reports.terminal.console import (
    HEADING,
    QUIET,
    hanging,
    heading,
    indented,
    line,
    text,
)
from sgl_audit_reports.terminal.launch_reviews import render_launches

KIND_STYLE = {
    ChangeKind.BREAKING: "bold red",
    ChangeKind.BEHAVIOUR: "yellow",
    ChangeKind.ADDITIVE: "green",
    ChangeKind.INFORMATIONAL: "dim",
}
_FAMILIES = 6
_CHANGES = 4
_PINS = 4


def render_review(review: Review, console: Console, *, details: bool = False) -> None:
    """Print a screenful, and with `details` every change."""
    _header(review, console)
    if review.same:
        console.print(text(same_text(review)))
    render_launches(review, console, details=details)
    if not review.trees:
        return
    _families(review, console, details)
    if details:
        _everything(review, console)
    else:
        _first(review, console)
    _totals(review, console, details)


def _header(review: Review, console: Console) -> None:
    head = f"{source_heading(review.old)} -> {source_heading(review.new)}"
    console.print(line((f"sgl-audit {review.tool_version} diff", HEADING), f"  {head}"))
    where = listed([capability_label(name, 1) for name in review.capabilities], 4)
    pins = main_pins(review.changes)
    console.print(text(f"{where}   {', '.join(pins[:_PINS])}".rstrip()))


def _families(review: Review, console: Console, details: bool) -> None:
    lines = [item for item in family_lines(review.families) if details or item.harm < 4]
    if not lines:
        return
    heading(console, "What model families become")
    shown = lines if details else lines[:_FAMILIES]
    for item in shown:
        _family(item, review, console)
    if len(lines) > len(shown):
        console.print(text(f"... {len(lines) - len(shown)} more: --details", QUIET))


def _family(item: FamilyLine, review: Review, console: Console) -> None:
    where = ""
    if len(review.capabilities) > 1:
        where = f" on {capability_range(item.capabilities, review.capabilities)}"
    head = f"{listed_groups(item.groups)}{where}, {setting_text(item)}:"
    style = ("bold red", "yellow", "green", "magenta", "dim")[item.harm]
    said = clipped(family_text(item), 2 * console.width)
    console.print(line((head, HEADING)))
    indented(console, text(said, style))


def _first(review: Review, console: Console) -> None:
    found = important(review.changes)
    if found:
        heading(console, "What else can do harm")
    shown = [c for kind in KINDS[:2] for c in [c for c in found if c.kind is kind][:_CHANGES]]
    for change in shown:
        _change(change, review, console, short=True)
    if len(found) > len(shown):
        console.print(text(f"... {len(found) - len(shown)} more like these: --details", QUIET))


def _everything(review: Review, console: Console) -> None:
    for kind in KINDS:
        changes = [change for change in review.changes if change.kind is kind]
        if changes:
            heading(console, f"{kind.value} ({len(changes)})")
            for change in changes:
                _change(change, review, console, short=False)


def _change(change: Change, review: Review, console: Console, *, short: bool) -> None:
    label = text(change.kind.value, KIND_STYLE[change.kind])
    said = clipped(change.text, 2 * console.width - 20) if short else change.text
    value = line(said)
    if change.capabilities and len(review.capabilities) > 1:
        value.append(f" [{capability_range(change.capabilities, review.capabilities)}]")
    if not short:
        _more(change, value)
    hanging(console, label, value, 13)


def _more(change: Change, value: object) -> None:
    from rich.text import Text

    assert isinstance(value, Text)
    places = [
        f"{side} {place}"
        for side, place in (("old", change.old_place), ("new", change.new_place))
        if place is not None
    ]
    if change.confidence is not None:
        value.append(f" ({change.confidence.value}: {change.evidence})", QUIET)
    if places:
        value.append("\n" + ", ".join(places), QUIET)


def _totals(review: Review, console: Console, details: bool) -> None:
    console.print()
    console.print(text(total_text(review)))
    for gap in review.uncompared:
        console.print(line(("not compared: ", "magenta"), gap.message))
    if not review.launches:
        console.print(text("your own launches: --launches FILE", QUIET))
    if not details:
        many = plural(len(review.changes), "change")
        console.print(text(f"next: --details ({many}) | -o review.html | -o review.md", QUIET))
