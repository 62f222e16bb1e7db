"""One launch's resolution as a JSON value: one line of `resolve --format jsonl`."""

from __future__ import annotations

from collections.abc import Iterable

from sgl_audit.model.facts import JsonValue
from sgl_audit.model.resolution import Refusal, Resolution, ResolvedValue, Step
from sgl_audit_reports.json.encode import (
    JsonObject,
    assumption_json,
    case_json,
    maybe_place,
    plain,
    strings,
)
from sgl_audit_reports.json.verdicts import path_json, verdict_json


def resolution_to_json(resolution: Resolution, *, trace: bool = True) -> JsonObject:
    """The answer to one launch. `trace=False` leaves out what set each value."""
    rejection = resolution.rejection
    return {
        "id": resolution.launch.id,
        "arch": resolution.launch.capability,
        "card": resolution.launch.card,
        "outcome": resolution.outcome.value,
        "reason": resolution.reason,
        "rejection": None if rejection is None else refusal_json(rejection),
        "options": _values(resolution.options, trace),
        "runtime": _values(resolution.runtime, trace),
        "possible": [refusal_json(item) for item in resolution.possible],
        "late": late_json(resolution.late),
        "assumptions": [assumption_json(item) for item in resolution.assumptions],
        "notes": strings(resolution.notes),
        **_followed(resolution),
    }


def _followed(resolution: Resolution) -> JsonObject:
    """What was found beyond the resolution, where that was asked."""
    if not (resolution.paths or resolution.verdicts):
        return {}
    return {
        "paths": [path_json(path) for path in resolution.paths],
        "verdicts": [verdict_json(row) for row in resolution.verdicts],
    }


def late_json(late: tuple[Refusal, ...] | None) -> JsonObject:
    """Refusals met once loading starts, or that they are unknown."""
    if late is None:
        return {"status": "unknown"}
    return {"refusals": [refusal_json(item) for item in late]}


def refusal_json(refusal: Refusal) -> JsonObject:
    """One refusal; one by the argument parser has no place."""
    return {
        "stage": refusal.stage,
        "type": refusal.type,
        "message": refusal.message,
        "file": None if refusal.place is None else refusal.place.file,
        "line": None if refusal.place is None else refusal.place.line,
        "when": refusal.guard,
    }


def _values(values: Iterable[ResolvedValue], trace: bool) -> JsonObject:
    return {value.name: _value(value, trace) for value in values}


def _value(value: ResolvedValue, trace: bool) -> JsonObject:
    found: JsonObject
    if value.decided:
        found = {"status": "decided", "value": plain(value.value)}
    else:
        cases: list[JsonValue] = [case_json(case) for case in value.cases]
        found = {"status": "undecided", "reason": value.reason, "cases": cases}
    if trace:
        found["trace"] = [_step(step) for step in value.steps]
    return found


def _step(step: Step) -> JsonObject:
    return {
        "value": step.value,
        "what": step.what,
        "where": maybe_place(step.place),
        "conditions": strings(step.conditions),
    }
