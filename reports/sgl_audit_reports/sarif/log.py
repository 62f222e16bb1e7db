"""One audit as a SARIF log with one run."""

from __future__ import annotations

from collections.abc import Sequence

from sgl_audit.model.facts import JsonValue
from sgl_audit.model.report import Audit, RuleDoc
from sgl_audit.model.source import Diagnostic
from sgl_audit_reports.common.findings import numbered_of
from sgl_audit_reports.json.encode import JsonObject, dump
from sgl_audit_reports.sarif.descriptors import descriptors
from sgl_audit_reports.sarif.parts import BASE, location, message
from sgl_audit_reports.sarif.results import result

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def audit_to_sarif(audit: Audit, rules: Sequence[RuleDoc], base: str = "") -> str:
    """The audit as SARIF. Paths are relative, and the same audit gives the same bytes.

    Args:
        rules: what the rules say of themselves.
        base: see `sgl_audit_reports.common.messages.path_of`.
    """
    found = [item.finding for item in numbered_of(audit)]
    described = descriptors(rules, found)
    index = {str(item["id"]): position for position, item in enumerate(described)}
    results: list[JsonValue] = []
    seen: dict[str, int] = {}
    for finding in found:
        twin = seen[finding.fingerprint] = seen.get(finding.fingerprint, 0) + 1
        results.append(result(finding, audit, index[finding.rule], twin, base))
    run: JsonObject = {
        "tool": {"driver": _driver(audit, described)},
        "invocations": [_invocation(audit, base)],
        "originalUriBaseIds": {BASE: {"description": message(_root(audit, base))}},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return dump({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def _driver(audit: Audit, described: Sequence[JsonObject]) -> JsonObject:
    return {
        "name": "sgl-audit",
        "semanticVersion": audit.tool_version,
        "rules": list(described),
        # What is said of the run itself: each kind has a name.
        "notifications": [
            {"id": "not-read", "shortDescription": message("A file was skipped or read in part")},
            {"id": "not-understood", "shortDescription": message("A place was not understood")},
            {"id": "stale", "shortDescription": message("A suppression that fits nothing")},
        ],
    }


def _root(audit: Audit, base: str) -> str:
    info = audit.source
    if base:
        return "The root of the repository that holds the analysed source."
    version = info.distribution.version or "of unknown version"
    return f"The folder that holds the package {info.package} {version}."


def _invocation(audit: Audit, base: str) -> JsonObject:
    unread = (*audit.source.diagnostics, *audit.facts.diagnostics)
    whole = not any(item.place is not None for item in audit.facts.diagnostics)
    rest = [item for item in audit.diagnostics if item not in unread]
    notifications = [_notification(item, "not-read", "warning", base) for item in unread]
    notifications += [_notification(item, "not-read", "warning", base) for item in rest]
    notifications += [
        _notification(item, "not-understood", "note", base)
        for item in audit.coverage.not_understood
    ]
    found: JsonObject = {
        "executionSuccessful": whole,
        "toolExecutionNotifications": [*notifications],
    }
    if audit.triage.notices:
        found["toolConfigurationNotifications"] = [
            _notification(item, "stale", "warning", base) for item in audit.triage.notices
        ]
    return found


def _notification(item: Diagnostic, kind: str, level: str, base: str) -> JsonObject:
    found: JsonObject = {
        "level": level,
        "message": message(item.message),
        "descriptor": {"id": kind},
    }
    if item.place is not None:
        found["locations"] = [location(item.place, base)]
    return found
