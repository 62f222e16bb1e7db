"""From a review to the data of its page: the launches first, then every change with filters."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from sgl_audit.model.review import (
    Change,
    ChangeKind,
    LaunchReview,
    LaunchVerdict,
    Review,
    UpgradeVerdict,
)
from sgl_audit_reports.common.names import capability_range, source_heading
from sgl_audit_reports.common.text import unique, visible
from sgl_audit_reports.common.upgrades import (
    KINDS,
    edited_line,
    end_text,
    family_lines,
    family_text,
    launch_line,
    listed_groups,
    lone_texts,
    main_pins,
    same_text,
    setting_text,
    total_text,
    value_changes,
    versions,
)
from sgl_audit_reports.html.data import AssumptionItem, Badge, GapItem, Head, Link
from sgl_audit_reports.html.parts import Anchors, assumption_items, gap_items, head, maybe_link

KIND_BADGE = {
    ChangeKind.BREAKING: Badge("✗", "breaking", "error"),
    ChangeKind.BEHAVIOUR: Badge("!", "behaviour", "warning"),
    ChangeKind.ADDITIVE: Badge("+", "additive", "ok"),
    ChangeKind.INFORMATIONAL: Badge("i", "informational", "note"),
}
VERDICT_BADGE = {
    LaunchVerdict.SAME: Badge("✓", "same", "ok"),
    LaunchVerdict.CHANGES: Badge("!", "changes", "warning"),
    LaunchVerdict.REFUSED: Badge("✗", "refused by the new version", "error"),
    LaunchVerdict.WORKS: Badge("✓", "works now", "ok"),
    LaunchVerdict.BOTH_REFUSED: Badge("–", "refused by both", "quiet"),
    LaunchVerdict.UNKNOWN: Badge("?", "unknown", "unknown"),
}
UPGRADE_BADGE = {
    UpgradeVerdict.SAFE: Badge("✓", "Safe to upgrade", "ok"),
    UpgradeVerdict.WITH_FLAGS: Badge("✓", "Safe with these flag changes", "ok"),
    UpgradeVerdict.DIFFERENT: Badge("!", "Starts, but runs differently", "warning"),
    UpgradeVerdict.NOT_SAFE: Badge("✗", "Not safe", "error"),
    UpgradeVerdict.UNKNOWN: Badge("?", "Not known", "unknown"),
}
_HARM = ("error", "warning", "ok", "unknown", "quiet")


@dataclass(frozen=True, slots=True)
class LaunchItem:
    """One launch; the two sides of it as text."""

    anchor: str
    name: str
    capability: str
    badge: Badge
    before: str
    after: str
    command: str
    changes: tuple[str, ...]
    gone: tuple[str, ...]
    added: tuple[str, ...]
    warnings: tuple[str, ...]
    steps: tuple[str, ...]
    left: tuple[str, ...]
    edited: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FamilyItem:
    """Families that the upgrade treats alike."""

    groups: str
    capabilities: str
    flags: str
    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class ChangeItem:
    """One change with what it can be filtered by."""

    anchor: str
    badge: Badge
    subject: str
    text: str
    before: str
    after: str
    option: str
    capabilities: str
    where: str
    old: Link | None
    new: Link | None
    sure: str


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """Everything the page shows."""

    head: Head
    old: str
    new: str
    old_version: str
    new_version: str
    pins: tuple[str, ...]
    same: str
    verdict: Badge | None
    worst: Badge
    launches: tuple[LaunchItem, ...]
    families: tuple[FamilyItem, ...]
    total: str
    kinds: tuple[str, ...]
    capabilities: tuple[str, ...]
    options: tuple[str, ...]
    changes: tuple[ChangeItem, ...]
    assumptions: tuple[AssumptionItem, ...]
    gaps: tuple[GapItem, ...]


def review_page(review: Review) -> ReviewPage:
    """The review as plain data."""
    anchors = Anchors()
    sections = [("launches", "Your launches")] if review.launches else []
    sections += [("families", "Model families"), ("changes", "Changes")] if review.trees else []
    old, new = versions(review)
    options = unique(change.option for change in review.changes if change.option)
    return ReviewPage(
        head("Upgrade review", review.new, review.tool_version, sections),
        source_heading(review.old),
        source_heading(review.new),
        visible(old),
        visible(new),
        tuple(_arrows(pin) for pin in main_pins(review.changes)),
        same_text(review) if review.same else "",
        UPGRADE_BADGE[review.verdict] if review.verdict is not None else None,
        _worst(review),
        tuple(_launch(item, anchors) for item in review.launches),
        _families(review),
        total_text(review),
        tuple(kind.value for kind in KINDS),
        tuple(visible(name) for name in review.capabilities),
        tuple(sorted(visible(name) for name in options)),
        tuple(_change(change, review, anchors) for change in review.changes),
        assumption_items(review.assumptions),
        gap_items(review.uncompared, review.new),
    )


def _worst(review: Review) -> Badge:
    """The worst kind of change in few words, for who reads one line."""
    found = Counter(change.kind for change in review.changes)
    kind = next((kind for kind in KINDS if found[kind]), None)
    if kind is None:
        return Badge("✓", "nothing changes", "ok")
    badge = KIND_BADGE[kind]
    many = f"{found[kind]} {badge.text} change" + ("" if found[kind] == 1 else "s")
    return Badge(badge.symbol, many, badge.kind)


def _launch(item: LaunchReview, anchors: Anchors) -> LaunchItem:
    edit = item.edit
    return LaunchItem(
        anchors.take("launch", item.launch.id, item.launch.capability),
        visible(item.launch.id),
        visible(item.launch.capability),
        VERDICT_BADGE[item.verdict],
        visible(end_text(item.old)),
        visible(end_text(item.new)),
        visible(launch_line(item)),
        _texts(value_changes(item.changes)),
        _texts(lone_texts(item.gone)),
        _texts(lone_texts(item.added)),
        _texts(item.warnings),
        _texts(edit.steps) if edit is not None else (),
        _texts(value_changes(edit.left)) if edit is not None else (),
        visible(edited_line(item)),
        _texts(item.notes),
    )


def _texts(items: list[str] | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_arrows(item) for item in items)


def _arrows(text: str) -> str:
    """Text with arrows that no line ends within."""
    return visible(text).replace(" -> ", " → ")


def _families(review: Review) -> tuple[FamilyItem, ...]:
    return tuple(
        FamilyItem(
            visible(listed_groups(line.groups)),
            visible(capability_range(line.capabilities, review.capabilities)),
            visible(setting_text(line)),
            _arrows(family_text(line)),
            _HARM[line.harm],
        )
        for line in family_lines(review.families)
    )


def _change(change: Change, review: Review, anchors: Anchors) -> ChangeItem:
    names = change.capabilities or review.capabilities
    everywhere = not change.capabilities
    where = "" if everywhere else capability_range(change.capabilities, review.capabilities)
    sure = change.confidence
    return ChangeItem(
        anchors.take("change", change.subject.value, change.name),
        KIND_BADGE[change.kind],
        change.subject.value,
        _arrows(change.text),
        visible(change.before),
        visible(change.after),
        visible(change.option or ""),
        " ".join(visible(name) for name in names),
        visible(where),
        maybe_link(change.old_place, review.old),
        maybe_link(change.new_place, review.new),
        visible(f"{sure.value}: {change.evidence}") if sure is not None else "",
    )
