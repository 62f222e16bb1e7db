"""Small pieces that both pages are built from."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sgl_audit.model.report import ChoiceCell, ChoiceState, Severity
from sgl_audit.model.resolution import Assumption, Outcome
from sgl_audit.model.source import Diagnostic, Place, SourceInfo
from sgl_audit.model.verdict import Verdict
from sgl_audit_reports.common.families import Standing
from sgl_audit_reports.common.names import pins, source_heading, upstream_url
from sgl_audit_reports.common.text import listed, visible
from sgl_audit_reports.html.data import AssumptionItem, Badge, GapItem, Head, Link

SEVERITY_BADGE = {
    Severity.ERROR: Badge("✗", "error", "error"),
    Severity.WARNING: Badge("!", "warning", "warning"),
    Severity.NOTE: Badge("i", "note", "note"),
}
STANDING_BADGE = {
    Standing.NOT_SAFE: Badge("✗", "Not safe by default", "error"),
    Standing.SAFE: Badge("✓", "Safe by default", "ok"),
    Standing.NO_FAULT: Badge("✓", "Accepted, no fault found", "ok"),
    Standing.UNKNOWN: Badge("?", "Unknown", "unknown"),
}
STATE_BADGE = {
    ChoiceState.DEFAULT: Badge("●", "default", "note"),
    ChoiceState.AUTOMATIC: Badge("◆", "automatic", "note"),
    ChoiceState.FLAG: Badge("○", "by flag", "plain"),
    ChoiceState.REFUSED: Badge("✗", "refused", "error"),
    ChoiceState.CONDITIONAL: Badge("△", "conditional", "warning"),
    ChoiceState.UNREACHABLE: Badge("–", "nowhere", "quiet"),
    ChoiceState.UNKNOWN: Badge("?", "unknown", "unknown"),
}
OUTCOME_BADGE = {
    Outcome.OK: Badge("✓", "accepted", "ok"),
    Outcome.REJECTED: Badge("✗", "refused", "error"),
    Outcome.UNKNOWN: Badge("?", "unknown", "unknown"),
}
VERDICT_BADGE = {
    Verdict.WORKS: Badge("✓", "works", "ok"),
    Verdict.SLOW: Badge("✓", "slow", "warning"),
    Verdict.UNKNOWN: Badge("?", "unknown", "unknown"),
    Verdict.WRONG: Badge("✗", "wrong results reported", "error"),
    Verdict.NO_KERNEL: Badge("✗", "no kernel", "error"),
    Verdict.REFUSED: Badge("✗", "refused", "error"),
}


def cell_badge(cell: ChoiceCell) -> Badge:
    """What a capability makes of a choice, and whether it works where that is known."""
    state = STATE_BADGE[cell.state]
    if cell.verdict in (None, Verdict.UNKNOWN) or state.kind in ("error", "quiet", "unknown"):
        return state
    verdict = VERDICT_BADGE[cell.verdict]
    symbol = state.symbol if cell.verdict.good else verdict.symbol
    # A good verdict does not lift a condition under which the tree refuses the choice.
    kind = state.kind if cell.verdict.good and state.kind == "warning" else verdict.kind
    return Badge(symbol, f"{state.text}, {verdict.text}", kind)


class Anchors:
    """Ids made from source names: safe to link to, each given once."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def take(self, *parts: str) -> str:
        """An id for these words."""
        words = (re.sub(r"[^A-Za-z0-9_]+", "-", part).strip("-")[:60] for part in parts)
        base = "-".join(word for word in words if word) or "x"
        count = self._taken.get(base, 0) + 1
        self._taken[base] = count
        return base if count == 1 else f"{base}--{count}"


def link(place: Place, source: SourceInfo) -> Link:
    """A place with its address."""
    return Link(visible(str(place)), upstream_url(source, place))


def maybe_link(place: Place | None, source: SourceInfo) -> Link | None:
    """A place with its address, or nothing."""
    return None if place is None else link(place, source)


def head(
    title: str, source: SourceInfo, tool_version: str, sections: Iterable[tuple[str, str]]
) -> Head:
    """The head of a page."""
    facts = tuple(f"{name} {visible(version)} (pinned)" for name, version in pins(source))
    return Head(title, source_heading(source), visible(tool_version), facts, tuple(sections))


def assumption_items(assumptions: Iterable[Assumption]) -> tuple[AssumptionItem, ...]:
    """Assumptions as text."""
    return tuple(
        AssumptionItem(
            visible(item.name),
            visible(item.value),
            visible(item.source),
            listed([visible(name) for name in item.decided], 12),
        )
        for item in assumptions
    )


def gap_items(gaps: Iterable[Diagnostic], source: SourceInfo) -> tuple[GapItem, ...]:
    """Diagnostics as text."""
    return tuple(GapItem(visible(gap.message), maybe_link(gap.place, source)) for gap in gaps)
