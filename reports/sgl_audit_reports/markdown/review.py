"""A review as Markdown for a pull-request comment: the launches first, details folded."""

from __future__ import annotations

from sgl_audit.model.review import Change, ChangeKind, LaunchReview, LaunchVerdict, Review
from sgl_audit_reports.common.names import capability_range, source_heading
from sgl_audit_reports.common.text import listed, plural
from sgl_audit_reports.common.upgrades import (
    KINDS,
    edited_line,
    end_text,
    family_lines,
    family_text,
    important,
    listed_groups,
    main_pins,
    same_text,
    setting_text,
    total_text,
    value_changes,
)
from sgl_audit_reports.markdown.escape import code, escaped, fenced, in_html, place_link, table

ICON = {
    ChangeKind.BREAKING: "❌",
    ChangeKind.BEHAVIOUR: "⚠️",
    ChangeKind.ADDITIVE: "➕",
    ChangeKind.INFORMATIONAL: "ℹ️",
}
_VERDICT = {
    LaunchVerdict.SAME: "✅",
    LaunchVerdict.CHANGES: "⚠️",
    LaunchVerdict.REFUSED: "❌",
    LaunchVerdict.WORKS: "✅",
    LaunchVerdict.BOTH_REFUSED: "➖",
    LaunchVerdict.UNKNOWN: "❔",
}
# A comment on GitHub holds 65,536 characters.
_LIMIT = 60_000
_EACH = 60


def review_to_markdown(review: Review) -> str:
    """The review; long lists are cut so that it fits into one comment."""
    heading = f"{source_heading(review.old)} → {source_heading(review.new)}"
    lines = [f"## sgl-audit diff: {escaped(heading)}", ""]
    lines += [f"On {escaped(listed(review.capabilities))}. {_pins(review)}".rstrip(), ""]
    if review.same:
        lines += [escaped(same_text(review)), ""]
    lines += _launches(review)
    if review.trees:
        lines += [*_families(review), *_important(review), *_everything(review), *_gaps(review)]
    text = "\n".join(lines).rstrip() + "\n"
    return text if len(text) <= _LIMIT else _cut(text)


def _cut(text: str) -> str:
    kept = text[:_LIMIT].rsplit("\n", 1)[0]
    # What was opened must be closed for the rest of the comment to show.
    closing = "\n</details>" * (kept.count("<details>") - kept.count("</details>"))
    return f"{kept}\n{closing}\n\nThe rest is left out here: see the HTML or JSON report.\n"


def _pins(review: Review) -> str:
    pins = main_pins(review.changes)
    return f"Pins: {escaped(', '.join(pins))}." if pins else ""


def _launches(review: Review) -> list[str]:
    if review.verdict is None:
        return []
    lines = [f"### {escaped(review.verdict.value.capitalize())}", ""]
    rows = [
        (
            escaped(item.launch.id),
            escaped(item.launch.capability),
            f"{_VERDICT[item.verdict]} {escaped(item.verdict.value)}",
            _said(item),
        )
        for item in review.launches
    ]
    lines += table(("launch", "capability", "verdict", "what changes"), rows[:_EACH])
    if len(rows) > _EACH:
        lines += [f"{len(rows) - _EACH} more launches are left out here.", ""]
    for item in review.launches[:_EACH]:
        if item.edit is not None:
            lines += _edit(item)
    return lines


def _said(item: LaunchReview) -> str:
    parts = [escaped(text) for text in value_changes(item.changes)]
    if item.verdict in (LaunchVerdict.REFUSED, LaunchVerdict.BOTH_REFUSED):
        parts = [escaped(end_text(item.new))]
    elif item.verdict is LaunchVerdict.WORKS:
        parts = [f"was {escaped(end_text(item.old))}"]
    elif item.verdict is LaunchVerdict.UNKNOWN:
        parts = [escaped(item.new.reason or item.old.reason or "; ".join(item.notes))]
    parts += [f"known fault: {escaped(warning)}" for warning in item.warnings]
    return "; ".join(parts)


def _edit(item: LaunchReview) -> list[str]:
    assert item.edit is not None
    steps = "; ".join(escaped(step) for step in item.edit.steps)
    lines = [f"**{escaped(item.launch.id)}**: {steps}", "", *fenced([edited_line(item)], "sh"), ""]
    if item.edit.left:
        lines += [f"Still differs: {escaped('; '.join(value_changes(item.edit.left)))}", ""]
    return lines


def _families(review: Review) -> list[str]:
    rows = [
        (
            escaped(listed_groups(line.groups)),
            escaped(capability_range(line.capabilities, review.capabilities)),
            code(setting_text(line)) if line.flags else "nothing set",
            escaped(family_text(line)),
        )
        for line in family_lines(review.families)
        if line.harm < 4
    ]
    if not rows:
        return []
    columns = ("model family", "capability", "flags", "what changes")
    return ["### What model families become", "", *table(columns, rows)]


def _important(review: Review) -> list[str]:
    found = important(review.changes)
    if not found:
        return []
    lines = ["### What else can do harm", ""]
    lines += [_change(change, review) for change in found[:20]]
    if len(found) > 20:
        lines += [f"- {len(found) - 20} more are in the list below."]
    return [*lines, ""]


def _change(change: Change, review: Review) -> str:
    links = [
        f"{side} {place_link(place, info)}"
        for side, place, info in (
            ("old", change.old_place, review.old),
            ("new", change.new_place, review.new),
        )
        if place is not None
    ]
    sure = f" ({change.confidence.value})" if change.confidence is not None else ""
    where = f" — {', '.join(links)}" if links else ""
    return f"- {ICON[change.kind]} {escaped(change.text)}{sure}{where}"


def _everything(review: Review) -> list[str]:
    lines = [f"{escaped(total_text(review))}.", ""]
    for kind in KINDS:
        changes = [change for change in review.changes if change.kind is kind]
        if not changes:
            continue
        title = f"{ICON[kind]} {kind.value}: {plural(len(changes), 'change')}"
        lines += ["<details>", f"<summary>{in_html(title)}</summary>", ""]
        lines += [_change(change, review) for change in changes[:_EACH]]
        if len(changes) > _EACH:
            lines += [f"- {len(changes) - _EACH} more are left out here."]
        lines += ["", "</details>", ""]
    return lines


def _gaps(review: Review) -> list[str]:
    return [f"- not compared: {escaped(gap.message)}" for gap in review.uncompared]
