"""A review as a JSON value."""

from __future__ import annotations

from sgl_audit.model.resolution import Outcome
from sgl_audit.model.review import (
    Change,
    FamilyChange,
    LaunchEnd,
    LaunchReview,
    LoneValue,
    Review,
    ValueChange,
)
from sgl_audit_reports.json.encode import (
    FORMAT_VERSION,
    JsonObject,
    assumption_json,
    diagnostic_json,
    dump,
    maybe_place,
    plain,
    source_json,
    strings,
)
from sgl_audit_reports.json.resolution import late_json, refusal_json


def review_to_json(review: Review) -> str:
    """The whole review."""
    return dump(review_object(review)) + "\n"


def review_object(review: Review) -> JsonObject:
    """The whole review as plain data."""
    return {
        "format": FORMAT_VERSION,
        "tool": {"name": "sgl-audit", "version": review.tool_version},
        "old": source_json(review.old),
        "new": source_json(review.new),
        "capabilities": strings(review.capabilities),
        "same": review.same,
        "trees_compared": review.trees,
        "verdict": review.verdict.value if review.verdict is not None else None,
        "launches": [_launch(item) for item in review.launches],
        "changes": [_change(change) for change in review.changes],
        "families": [_family(row) for row in review.families],
        "renames": [
            {
                "old": item.old,
                "new": item.new,
                "confidence": item.confidence.value,
                "evidence": item.evidence,
            }
            for item in review.renames
        ],
        "assumptions": [assumption_json(item) for item in review.assumptions],
        "not_compared": [diagnostic_json(item) for item in review.uncompared],
    }


def _change(change: Change) -> JsonObject:
    return {
        "kind": change.kind.value,
        "subject": change.subject.value,
        "name": change.name,
        "text": change.text,
        "before": change.before,
        "after": change.after,
        "option": change.option,
        "capabilities": strings(change.capabilities),
        "families": strings(change.families),
        "groups": strings(change.groups),
        "old_where": maybe_place(change.old_place),
        "new_where": maybe_place(change.new_place),
        "remedy": change.remedy,
        "confidence": change.confidence.value if change.confidence is not None else None,
        "evidence": change.evidence,
        "backend": change.backend,
    }


def _family(row: FamilyChange) -> JsonObject:
    return {
        "family": row.family,
        "group": row.group,
        "arch": row.capability,
        "flags": strings(row.flags),
        "before": {"outcome": row.before, "why": row.why_before},
        "after": {"outcome": row.after, "why": row.why_after},
        "values": [
            {"option": name, "before": before, "after": after} for name, before, after in row.values
        ],
    }


def _launch(item: LaunchReview) -> JsonObject:
    edit: JsonObject | None = None
    if item.edit is not None:
        edit = {
            "argv": strings(item.edit.argv),
            "steps": strings(item.edit.steps),
            "left": [_value(change) for change in item.edit.left],
        }
    return {
        "id": item.launch.id,
        "arch": item.launch.capability,
        "argv": strings(item.launch.argv),
        "verdict": item.verdict.value,
        "old": _end(item.old),
        "new": _end(item.new),
        "changes": [_value(change) for change in item.changes],
        "gone": [_lone(value) for value in item.gone],
        "added": [_lone(value) for value in item.added],
        "unknown": [
            {"group": value.group, "name": value.name, "reason": value.reason}
            for value in item.unknown
        ],
        "warnings": strings(item.warnings),
        "edit": edit,
        "notes": strings(item.notes),
    }


def _value(change: ValueChange) -> JsonObject:
    return {
        "group": change.group,
        "name": change.name,
        "old_name": change.old_name or change.name,
        "before": plain(change.before),
        "after": plain(change.after),
        "settled": change.settled,
        "why": change.why,
        "where": maybe_place(change.place),
    }


def _lone(value: LoneValue) -> JsonObject:
    return {
        "group": value.group,
        "name": value.name,
        "value": plain(value.value),
        "other_name": value.other_name or None,
    }


def _end(end: LaunchEnd) -> JsonObject:
    return {
        "outcome": end.outcome.value,
        "reason": end.reason or None,
        "rejection": None if end.refusal is None else refusal_json(end.refusal),
        "late": late_json(end.late if end.outcome is Outcome.OK else None),
    }
