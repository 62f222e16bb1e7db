"""Findings as workflow commands, which GitHub shows at the line in the pull request."""

from __future__ import annotations

from sgl_audit.model.report import Audit, Severity
from sgl_audit.model.source import Diagnostic
from sgl_audit_reports.ci.commands import command
from sgl_audit_reports.common.findings import Numbered
from sgl_audit_reports.common.messages import (
    counting_findings,
    headline,
    holds_on,
    path_of,
    remedy_line,
)
from sgl_audit_reports.common.names import severity_counts

_COMMAND = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def audit_to_annotations(audit: Audit, base: str = "") -> str:
    """One command a line, the worst first: GitHub shows ten of each kind for one step."""
    findings = counting_findings(audit)
    lines = [_finding(item, audit, base) for item in findings]
    lines += [_unread(item, base) for item in audit.facts.diagnostics if item.place is not None]
    lines += [command("warning", {}, item.message) for item in audit.triage.notices]
    counts = severity_counts(item.finding.severity for item in findings)
    lines.append(f"sgl-audit: {counts}")
    return "\n".join(lines) + "\n"


def _finding(item: Numbered, audit: Audit, base: str) -> str:
    finding = item.finding
    properties = {
        "file": path_of(finding.place, base),
        "line": str(finding.place.line),
        "col": str(finding.place.column + 1),
        "title": headline(finding),
    }
    said = [finding.message, holds_on(finding, audit), remedy_line(finding)]
    return command(_COMMAND[finding.severity], properties, *said)


def _unread(item: Diagnostic, base: str) -> str:
    place = item.place
    where = {"file": path_of(place, base), "line": str(place.line)} if place is not None else {}
    return command("warning", where | {"title": "sgl-audit could not read this"}, item.message)
