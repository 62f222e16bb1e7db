"""From an audit to the data of its page."""

from __future__ import annotations

from sgl_audit.model.report import Audit, Severity
from sgl_audit.model.verdict import Verdict
from sgl_audit_reports.common.names import SEVERITIES
from sgl_audit_reports.common.overview import overview_of
from sgl_audit_reports.common.text import unique, visible
from sgl_audit_reports.html.data import AuditPage, Tile
from sgl_audit_reports.html.facts import choice_list_items, environment_items
from sgl_audit_reports.html.families import family_groups
from sgl_audit_reports.html.findings import finding_items
from sgl_audit_reports.html.matrix import matrix_options, option_items
from sgl_audit_reports.html.opening import advice_items, standing_items, verdict_badge
from sgl_audit_reports.html.parts import (
    STATE_BADGE,
    VERDICT_BADGE,
    Anchors,
    assumption_items,
    gap_items,
    head,
)
from sgl_audit_reports.html.paths import path_groups, quantizations

_SECTIONS = (
    ("summary", "Summary"),
    ("options", "Options"),
    ("matrix", "Matrix"),
    ("paths", "Paths"),
    ("findings", "Findings"),
    ("families", "Families"),
    ("facts", "Facts"),
    ("honesty", "Limits"),
)

_LEGEND = (Verdict.WORKS, Verdict.SLOW, Verdict.NO_KERNEL, Verdict.WRONG)


def audit_page(audit: Audit) -> AuditPage:
    """Everything the audit page shows, as plain data."""
    overview = overview_of(audit)
    findings = finding_items(overview.findings, audit)
    anchors = Anchors()
    paths = path_groups(audit, overview, anchors)
    to_path = {group.option: group.anchor for group in paths}
    return AuditPage(
        head=head("Backend audit", audit.source, audit.tool_version, _SECTIONS),
        verdict=verdict_badge(overview),
        standings=standing_items(audit, overview),
        advice=advice_items(overview),
        tiles=_tiles(audit),
        capabilities=tuple(visible(name) for name in audit.capabilities),
        options=option_items(overview, to_path),
        matrix=matrix_options(audit, overview, anchors),
        paths=paths,
        undrawn=len(overview.rows) - len(paths),
        path_families=tuple(sorted(unique(group.family for group in paths))),
        path_quantizations=tuple(
            (f"q{index}", name) for index, name in enumerate(quantizations(audit))
        ),
        legend=(
            *STATE_BADGE.values(),
            VERDICT_BADGE[Verdict.WORKS],
            VERDICT_BADGE[Verdict.NO_KERNEL],
        ),
        findings=findings,
        finding_options=tuple(sorted(unique(item.option for item in findings if item.option))),
        families=family_groups(audit, overview.findings, anchors),
        choice_lists=choice_list_items(audit),
        environment=environment_items(audit),
        assumptions=assumption_items(audit.assumptions),
        gaps=gap_items(audit.coverage.not_understood, audit.source),
        diagnostics=gap_items(audit.diagnostics, audit.source),
    )


def _tiles(audit: Audit) -> tuple[Tile, ...]:
    coverage = audit.coverage
    counts = {s: sum(1 for f in audit.findings if f.severity is s) for s in SEVERITIES}
    gates = f"{coverage.gates_understood} of {coverage.gates_total}"
    decisions = f"{coverage.decisions_understood} of {coverage.decisions_total}"
    return (
        Tile("errors", str(counts[Severity.ERROR]), "error"),
        Tile("warnings", str(counts[Severity.WARNING]), "warning"),
        Tile("notes", str(counts[Severity.NOTE]), "note"),
        Tile("gates understood", gates, "plain"),
        Tile("decisions understood", decisions, "plain"),
    )
