"""Findings as page data."""

from __future__ import annotations

from collections.abc import Sequence

from sgl_audit.model.report import Audit, ChainLink
from sgl_audit.model.source import SourceInfo
from sgl_audit_reports.common.findings import Numbered
from sgl_audit_reports.common.names import capability_range
from sgl_audit_reports.common.text import visible
from sgl_audit_reports.html.data import ChainItem, FindingItem
from sgl_audit_reports.html.highlight import code_lines
from sgl_audit_reports.html.parts import SEVERITY_BADGE, link, maybe_link


def finding_items(findings: Sequence[Numbered], audit: Audit) -> tuple[FindingItem, ...]:
    """Findings in order, with their chains."""
    return tuple(_item(item, audit) for item in findings)


def _item(item: Numbered, audit: Audit) -> FindingItem:
    finding = item.finding
    return FindingItem(
        number=item.number,
        anchor=item.anchor,
        rule=visible(finding.rule),
        badge=SEVERITY_BADGE[finding.severity],
        title=visible(finding.title) + (f" ({item.handled})" if item.handled else ""),
        message=visible(finding.message),
        place=link(finding.place, audit.source),
        where=capability_range(finding.capabilities, audit.capabilities),
        when=visible(finding.when),
        option=visible(finding.option or ""),
        value=visible(finding.value or ""),
        remedy=visible(finding.remedy),
        capabilities=finding.capabilities,
        chain=tuple(_chain(part, audit.source) for part in finding.chain),
    )


def _chain(part: ChainLink, source: SourceInfo) -> ChainItem:
    return ChainItem(
        visible(part.text),
        maybe_link(part.place, source),
        () if part.excerpt is None else code_lines(part.excerpt),
    )
