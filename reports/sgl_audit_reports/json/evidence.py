"""Runs as they stand in other JSON reports: what they were, how they ended, what they compared."""

from __future__ import annotations

from collections.abc import Sequence

from sgl_audit.model.evidence import Compared, JoinedRun
from sgl_audit.model.facts import JsonValue
from sgl_audit_reports.json.encode import JsonObject, maybe_place, strings


def runs_json(runs: Sequence[JoinedRun]) -> list[JsonValue]:
    """Every run; the whole record is `sgl-audit evidence show --format json`."""
    return [_run(item) for item in runs]


def _run(item: JoinedRun) -> JsonObject:
    run = item.evidence
    return {
        "id": run.id,
        "counts": not item.foreign,
        "foreign": item.foreign or None,
        "sglang": run.environment.sglang,
        "arch": run.environment.device.capability,
        "created": run.created,
        "argv": strings(run.launch.argv),
        "varied": dict(run.launch.varied),
        "outcome": run.outcome.value,
        "failure": run.failure.value if run.failure is not None else None,
        "summary": run.summary,
        "grounds": [
            {"source": ground.source, "text": ground.text, "line": ground.line}
            for ground in run.grounds
        ],
        "compared": [_compared(one) for one in run.compared],
    }


def _compared(item: Compared) -> JsonObject:
    return {
        "subject": item.subject,
        "predicted": item.predicted,
        "observed": item.observed,
        "verdict": item.agreement.value,
        "why": item.why,
        "where": maybe_place(item.place),
    }
