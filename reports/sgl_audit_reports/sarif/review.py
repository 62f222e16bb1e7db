"""The review of an upgrade as SARIF, for the new tree: what breaks or behaves differently."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from sgl_audit.model.facts import JsonValue
from sgl_audit.model.review import Change, ChangeKind, ChangeSubject, Review
from sgl_audit_reports.common.names import source_heading, upstream_url
from sgl_audit_reports.json.encode import JsonObject, dump, strings
from sgl_audit_reports.sarif.log import SCHEMA
from sgl_audit_reports.sarif.parts import BASE, location, message

# Places that are gone lie in the old version, below this.
OLD_BASE = "OLDROOT"
_LEVEL = {ChangeKind.BREAKING: "error", ChangeKind.BEHAVIOUR: "warning"}


def review_to_sarif(review: Review, base: str = "") -> str:
    """Breaking changes and changes of behaviour; the rest harms nobody and is left to reports.

    Args:
        base: see `sgl_audit_reports.common.messages.path_of`.
    """
    changes = [item for item in review.changes if item.kind in _LEVEL]
    seen: dict[str, int] = {}
    results: list[JsonValue] = []
    for change in changes:
        name = fingerprint(change)
        twin = seen[name] = seen.get(name, 0) + 1
        results.append(_result(change, review, name, twin, base))
    run: JsonObject = {
        "tool": {"driver": _driver(review)},
        "invocations": [
            {
                "executionSuccessful": not review.uncompared,
                "toolExecutionNotifications": [
                    {"level": "warning", "message": message(item.message)}
                    for item in review.uncompared
                ],
            }
        ],
        "originalUriBaseIds": {
            BASE: {"description": message(f"The new version, {source_heading(review.new)}.")},
            OLD_BASE: {"description": message(f"The old version, {source_heading(review.old)}.")},
        },
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return dump({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def fingerprint(change: Change) -> str:
    """What the change is, without the lines where it shows."""
    parts = (change.subject.value, change.name, change.option or "", change.before, change.after)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _rule(subject: ChangeSubject) -> str:
    return f"upgrade/{subject.value.replace(' ', '-')}"


def _driver(review: Review) -> JsonObject:
    return {
        "name": "sgl-audit",
        "semanticVersion": review.tool_version,
        "rules": [
            {
                "id": _rule(subject),
                "shortDescription": message(f"An upgrade changes a {subject.value}"),
            }
            for subject in ChangeSubject
        ],
    }


def _result(change: Change, review: Review, name: str, twin: int, base: str) -> JsonObject:
    found: JsonObject = {
        "ruleId": _rule(change.subject),
        "ruleIndex": list(ChangeSubject).index(change.subject),
        "level": _LEVEL[change.kind],
        "kind": "fail",
        "message": message(*_said(change)),
        "partialFingerprints": {
            "sglAuditUpgrade/v1": name,
            "primaryLocationLineHash": f"{name}:{twin}",
        },
        "properties": {
            "capabilities": strings(change.capabilities),
            "option": change.option,
            "before": change.before,
            "after": change.after,
            "remedy": change.remedy,
            "upstream": upstream_url(review.new, change.new_place) if change.new_place else None,
        },
    }
    old = location(change.old_place, "", "in the old version") if change.old_place else None
    if old is not None:
        _below(old, OLD_BASE)
    if change.new_place is not None:
        found["locations"] = [location(change.new_place, base)]
        if old is not None:
            found["relatedLocations"] = [old]
    elif old is not None:
        found["locations"] = [old]
    return found


def _below(place: JsonObject, base: str) -> None:
    physical = place["physicalLocation"]
    assert isinstance(physical, dict)
    artifact = physical["artifactLocation"]
    assert isinstance(artifact, dict)
    artifact["uriBaseId"] = base


def _said(change: Change) -> Iterator[str]:
    yield change.text
    if change.capabilities:
        yield f"on {', '.join(change.capabilities)}"
    if change.remedy:
        yield f"do: {change.remedy}"
