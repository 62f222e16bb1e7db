"""From recommendations to the data of their page."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from sgl_audit.model.source import SourceInfo
from sgl_audit.model.verdict import FlagAdvice, Recommendation, ValueVerdict, worst
from sgl_audit_reports.common.names import capability_label
from sgl_audit_reports.common.text import visible
from sgl_audit_reports.common.verdicts import (
    grounds_text,
    others_groups,
    subject,
)
from sgl_audit_reports.html.data import (
    Badge,
    FlagItem,
    RecommendationItem,
    RecommendationPage,
    VerdictItem,
)
from sgl_audit_reports.html.parts import VERDICT_BADGE, Anchors, head, maybe_link


def recommendation_page(
    found: Sequence[Recommendation], source: SourceInfo, tool_version: str
) -> RecommendationPage:
    """Everything the page of `recommend` shows, as plain data."""
    anchors = Anchors()
    items = tuple(_item(item, source, anchors) for item in found)
    launch = found[0].launch if found else ()
    return RecommendationPage(
        head(
            "Recommended flags",
            source,
            tool_version,
            ((item.anchor, item.capability) for item in items),
        ),
        visible(" ".join(shlex.quote(word) for word in launch)),
        items,
    )


def _item(item: Recommendation, source: SourceInfo, anchors: Anchors) -> RecommendationItem:
    before = worst(tuple(row.verdict for row in item.before))
    return RecommendationItem(
        anchor=anchors.take("on", item.capability),
        capability=visible(item.capability),
        label=capability_label(item.capability),
        badge=_badge(item),
        given=_given(item),
        before=VERDICT_BADGE[before],
        copy=visible(" ".join(f"{flag.flag} {shlex.quote(flag.value)}" for flag in item.flags)),
        said=_said(item),
        flags=tuple(_flag(flag, source) for flag in item.flags),
        after=tuple(_verdict(row, source) for row in item.after),
        remaining=tuple(visible(reason) for reason in item.remaining),
        notes=tuple(visible(note) for note in item.notes),
    )


def _given(item: Recommendation) -> str:
    """The value that the badge beside it speaks of."""
    bad = [row for row in item.before if not row.verdict.good]
    known = worst(tuple(row.verdict for row in bad))
    return next((subject(row) for row in bad if row.verdict is known), "")


def _badge(item: Recommendation) -> Badge:
    """How the launch stands once the flags are there."""
    if item.complete:
        return Badge("✓", "works with these flags" if item.flags else "works as it is", "ok")
    known = worst(tuple(row.verdict for row in item.after))
    if known.bad:
        badge = VERDICT_BADGE[known]
        ending = "even with these flags" if item.flags else "and no flag is known to help"
        return Badge(badge.symbol, f"{badge.text} {ending}", badge.kind)
    return Badge("?", "not known to be enough", "unknown")


def _said(item: Recommendation) -> str:
    if not item.flags:
        return "Nothing to add." if item.complete else "No flag was found that mends this."
    return "" if item.complete else "The best there is; not known to be enough."


def _flag(flag: FlagAdvice, source: SourceInfo) -> FlagItem:
    return FlagItem(
        visible(f"{flag.flag} {flag.value}"),
        visible(flag.reason),
        maybe_link(flag.place, source),
        visible(flag.cost or "nothing that is known of"),
        tuple(
            (VERDICT_BADGE[verdict], visible(", ".join(values) + (f": {reason}" if reason else "")))
            for verdict, values, reason in others_groups(flag)
        ),
    )


def _verdict(row: ValueVerdict, source: SourceInfo) -> VerdictItem:
    return VerdictItem(
        VERDICT_BADGE[row.verdict],
        subject(row),
        grounds_text(row),
        visible(row.reason),
        maybe_link(row.place, source),
    )
