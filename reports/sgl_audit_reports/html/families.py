"""Model families as page data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sgl_audit.model.report import Audit, FamilyRow
from sgl_audit_reports.common.families import (
    STANDINGS,
    Standing,
    error_fingerprints,
    launch_text,
    standing_of,
)
from sgl_audit_reports.common.findings import Numbered
from sgl_audit_reports.common.overview import overview_of
from sgl_audit_reports.common.text import unique, visible
from sgl_audit_reports.common.verdicts import subject
from sgl_audit_reports.html.data import Badge, FamiliesPage, FamilyGroup, FamilyItem
from sgl_audit_reports.html.opening import advice_items, standing_items, verdict_badge
from sgl_audit_reports.html.parts import (
    STANDING_BADGE,
    VERDICT_BADGE,
    Anchors,
    assumption_items,
    gap_items,
    head,
    maybe_link,
)


def family_groups(
    audit: Audit, findings: tuple[Numbered, ...], anchors: Anchors
) -> tuple[FamilyGroup, ...]:
    """Families by capability, the worst first."""
    numbers = {item.finding.fingerprint: (item.number, item.anchor) for item in findings}
    groups = []
    for capability in dict.fromkeys(row.capability for row in audit.families):
        rows = [row for row in audit.families if row.capability == capability]
        groups.append(_group(capability, rows, audit, numbers, anchors))
    return tuple(groups)


def _group(
    capability: str,
    rows: list[FamilyRow],
    audit: Audit,
    numbers: dict[str, tuple[int, str]],
    anchors: Anchors,
) -> FamilyGroup:
    advice = [item for item in audit.advice if item.capability == capability]
    errors = error_fingerprints(audit)
    ranked = [(standing_of(row, advice, errors), row) for row in rows]
    ranked.sort(key=lambda pair: STANDINGS.index(pair[0]))
    counts = Counter(standing for standing, _ in ranked)
    return FamilyGroup(
        visible(capability),
        anchors.take("families", capability),
        ", ".join(f"{counts[item]} {item.value}" for item in STANDINGS if counts[item]),
        counts[Standing.NOT_SAFE] > 0 or len(audit.capabilities) == 1,
        tuple(_item(row, standing, audit, numbers, anchors) for standing, row in ranked),
    )


def _item(
    row: FamilyRow,
    standing: Standing,
    audit: Audit,
    numbers: dict[str, tuple[int, str]],
    anchors: Anchors,
) -> FamilyItem:
    badge = STANDING_BADGE[standing]
    named = (row.family, row.group)
    advice = [a for a in audit.advice if a.capability == row.capability and a.family in named]
    return FamilyItem(
        visible(row.family),
        visible(row.capability),
        Badge(badge.symbol, launch_text(row, standing), badge.kind),
        tuple(numbers[found] for found in row.findings if found in numbers),
        tuple(f"{visible(name)} = {visible(value)}" for name, value in row.values),
        tuple(_faults(row)),
        visible(row.why),
        maybe_link(row.place, audit.source),
        visible(" ".join(advice[0].flags)) if advice else "",
        anchors.take("family", row.capability, row.family),
    )


def _faults(row: FamilyRow) -> Iterator[tuple[Badge, str, str]]:
    """What is known against single values; a refusal of the launch is its own reason."""
    seen: set[str] = set()
    for item in row.verdicts:
        said = visible(item.reason)
        if item.verdict.bad and item.option and said not in seen and row.outcome != "refused":
            seen.add(said)
            yield VERDICT_BADGE[item.verdict], subject(item), said


def families_page(audit: Audit) -> FamiliesPage:
    """Everything the page of `families` shows, as plain data."""
    overview = overview_of(audit)
    # Findings are on the page of the audit; here each row says why by itself.
    groups = family_groups(audit, (), Anchors())
    rows = [row for group in groups for row in group.rows]
    sections = [("summary", "Summary"), *((item.anchor, item.capability) for item in groups)]
    return FamiliesPage(
        head=head("Model families", audit.source, audit.tool_version, sections),
        verdict=verdict_badge(overview),
        standings=standing_items(audit, overview),
        advice=advice_items(overview),
        capabilities=tuple(visible(name) for name in audit.capabilities),
        kinds=unique(row.badge.text for row in rows),
        families=groups,
        assumptions=assumption_items(audit.assumptions),
        diagnostics=gap_items(audit.diagnostics, audit.source),
    )
