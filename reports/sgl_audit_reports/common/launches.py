"""What is said of one checked launch."""

from __future__ import annotations

from collections.abc import Iterable

from sgl_audit.model.checks import CheckReport, LaunchCheck, Standing
from sgl_audit.model.resolution import Refusal
from sgl_audit_reports.common.text import plural, visible


def where_of(check: LaunchCheck) -> str:
    """`serve.sh:12`."""
    line = f":{check.line}" if check.line is not None else ""
    return visible(f"{check.file}{line}")


def name_of(check: LaunchCheck) -> str:
    """The launch's own name, where it has one that is not just its line."""
    return "" if check.name == f"line {check.line}" else visible(check.name)


def refusal_line(refusal: Refusal) -> str:
    """`AssertionError (attention) at sglang/...:205: ...`."""
    if refusal.type == "SystemExit":
        return visible(f"the argument parser: {refusal.message}")
    stage = "" if refusal.stage == "resolution" else f" ({refusal.stage})"
    place = f" at {refusal.place}" if refusal.place is not None else ""
    return visible(f"{refusal.type}{stage}{place}: {refusal.message}")


def said_of(check: LaunchCheck) -> tuple[str, ...]:
    """Why it stands as it does, a line for each reason."""
    if check.standing is Standing.REFUSED:
        return tuple(refusal_line(item) for item in check.refusals)
    if check.standing is Standing.UNKNOWN:
        return tuple(visible(text) for text in (check.reason, *check.resolution.notes))
    return ()


def standing_counts(report: CheckReport) -> str:
    """`3 launches: 1 refused, 2 accepted, 0 unknown` (each capability counts by itself)."""
    counts = ", ".join(_counts(item.standing for item in report.checks))
    return f"{plural(len(report.checks), 'launch', 'launches')}: {counts}"


def _counts(standings: Iterable[Standing]) -> list[str]:
    seen = list(standings)
    order = (Standing.REFUSED, Standing.UNKNOWN, Standing.ACCEPTED)
    return [f"{seen.count(standing)} {standing.value}" for standing in order]
