"""Model families as page data."""

from __future__ import annotations

from collections import Counter

from sgl_audit.model.report import Audit, FamilyRow
from sgl_audit_reports.common.families import (
    STANDINGS,
    Standing,
    error_fingerprints,
    launch_text,
    standing_of,
)
from sgl_audit_reports.common.findings import Numbered
from sgl_audit_reports.common.text import visible
from sgl_audit_reports.html.data import Badge, FamilyGroup, FamilyItem
from sgl_audit_reports.html.parts import STANDING_BADGE, Anchors, maybe_link


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
        tuple(_item(row, standing, audit, numbers) for standing, row in ranked),
    )


def _item(
    row: FamilyRow, standing: Standing, audit: Audit, numbers: dict[str, tuple[int, str]]
) -> FamilyItem:
    badge = STANDING_BADGE[standing]
    return FamilyItem(
        visible(row.family),
        visible(row.capability),
        Badge(badge.symbol, launch_text(row, standing), badge.kind),
        tuple(numbers[found] for found in row.findings if found in numbers),
        tuple(f"{visible(name)} = {visible(value)}" for name, value in row.values),
        visible(row.why),
        maybe_link(row.place, audit.source),
    )
