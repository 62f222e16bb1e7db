"""Checked launches as JSON."""

from __future__ import annotations

from sgl_audit.model.checks import CheckReport, LaunchCheck
from sgl_audit_reports.json.encode import (
    FORMAT_VERSION,
    JsonObject,
    diagnostic_json,
    dump,
    source_json,
)
from sgl_audit_reports.json.resolution import resolution_to_json


def checks_to_json(report: CheckReport) -> str:
    """Each launch with its file, its line and its resolution, without traces."""
    whole: JsonObject = {
        "format": FORMAT_VERSION,
        "tool": {"name": "sgl-audit", "version": report.tool_version},
        "source": source_json(report.source),
        "launches": [_check(item) for item in report.checks],
        "notices": [diagnostic_json(item) for item in report.notices],
    }
    return dump(whole) + "\n"


def _check(check: LaunchCheck) -> JsonObject:
    return {
        "file": check.file,
        "line": check.line,
        "name": check.name,
        "capability": check.capability,
        "standing": check.standing.value,
        "resolution": resolution_to_json(check.resolution, trace=False),
    }
