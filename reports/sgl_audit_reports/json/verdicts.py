"""Verdicts, paths and recommendations as JSON values."""

from __future__ import annotations

from sgl_audit.model.facts import JsonValue
from sgl_audit.model.paths import KernelCall, LayerPath
from sgl_audit.model.verdict import FlagAdvice, Ground, Recommendation, ValueVerdict
from sgl_audit_reports.json.encode import FORMAT_VERSION, JsonObject, maybe_place, strings


def recommendation_to_json(item: Recommendation) -> JsonObject:
    """What to add to one launch on one capability."""
    return {
        "format": FORMAT_VERSION,
        "capability": item.capability,
        "launch": strings(item.launch),
        "line": item.line,
        "complete": item.complete,
        "flags": [_flag(flag) for flag in item.flags],
        "before": [verdict_json(row) for row in item.before],
        "after": [verdict_json(row) for row in item.after],
        "remaining": strings(item.remaining),
        "notes": strings(item.notes),
    }


def _flag(flag: FlagAdvice) -> JsonObject:
    return {
        "option": flag.option,
        "flag": flag.flag,
        "value": flag.value,
        "reason": flag.reason,
        "where": maybe_place(flag.place),
        "cost": flag.cost,
        "others": [verdict_json(row) for row in flag.others],
    }


def verdict_json(row: ValueVerdict) -> JsonObject:
    """The verdict on one value with everything it rests on."""
    return {
        "option": row.option,
        "value": row.value,
        "effective": row.effective or None,
        "capability": row.capability,
        "site": row.site.value if row.site else None,
        "verdict": row.verdict.value,
        "undecided": row.undecided,
        "grounds": [_ground(ground) for ground in row.grounds],
    }


def _ground(ground: Ground) -> JsonObject:
    return {
        "kind": ground.kind.value,
        "says": ground.says.value,
        "text": ground.text,
        "source": ground.source or None,
        "where": maybe_place(ground.place),
        "call": None if ground.call is None else call_json(ground.call),
    }


def path_json(path: LayerPath) -> JsonObject:
    """Where one kind of layer leads."""
    calls: list[JsonValue] = [call_json(call) for call in path.calls]
    return {
        "site": path.site.value,
        "layer": path.layer,
        "method": path.method,
        "where": maybe_place(path.place),
        "runner": path.runner or None,
        "calls": calls,
        "refused": path.refused or None,
        "gaps": strings(path.gaps),
    }


def call_json(call: KernelCall) -> JsonObject:
    """One call into a library, with the way to it."""
    return {
        "library": call.library,
        "function": call.function,
        "where": maybe_place(call.place),
        "arguments": dict(call.arguments),
        "when": strings(call.when),
        "via": [{"function": hop.function, "where": maybe_place(hop.place)} for hop in call.via],
    }
