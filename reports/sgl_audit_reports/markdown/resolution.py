"""One launch or several as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from sgl_audit.model.resolution import Outcome, Refusal, Resolution
from sgl_audit.model.source import SourceInfo
from sgl_audit_reports.common.names import launch_column, launch_label, source_heading
from sgl_audit_reports.common.resolutions import comparison, shown_value
from sgl_audit_reports.markdown.escape import code, escaped, place_link, table
from sgl_audit_reports.markdown.recommendation import verdict_rows

_OUTCOME = {
    Outcome.OK: "✅ accepted",
    Outcome.REJECTED: "❌ refused",
    Outcome.UNKNOWN: "❔ unknown",
}


def resolution_to_markdown(resolutions: Sequence[Resolution], source: SourceInfo) -> str:
    """How each launch ends, what differs, and for one launch what set each value."""
    lines = [f"## sgl-audit resolve: {escaped(source_heading(source))}", ""]
    for resolution in resolutions:
        lines += _ending(resolution, source)
    if len(resolutions) == 1:
        lines += _values(resolutions[0], source)
        lines += verdict_rows(resolutions[0].verdicts)
    else:
        lines += _comparison(resolutions)
    return "\n".join(lines).rstrip() + "\n"


def _ending(resolution: Resolution, source: SourceInfo) -> list[str]:
    where = escaped(launch_label(resolution.launch))
    reason = f": {escaped(resolution.reason)}" if resolution.reason else ""
    lines = [f"- {_OUTCOME[resolution.outcome]} on {where}{reason}"]
    refusals = [resolution.rejection] if resolution.rejection is not None else []
    refusals += resolution.late or ()
    return [*lines, *(f"  - {_refusal(refusal, source)}" for refusal in refusals), ""]


def _refusal(refusal: Refusal, source: SourceInfo) -> str:
    when = f" when {code(refusal.guard)}" if refusal.guard else ""
    place = place_link(refusal.place, source)
    return (
        f"{escaped(refusal.type)} ({escaped(refusal.stage)}) {place}: "
        f"{escaped(refusal.message)}{when}"
    )


def _values(resolution: Resolution, source: SourceInfo) -> list[str]:
    rows = []
    for value in (*resolution.options, *resolution.runtime):
        if value.decided and len(value.steps) < 2:
            continue
        last = value.steps[-1] if value.steps else None
        why = "" if last is None else f"{escaped(last.what)} {place_link(last.place, source)}"
        because = "" if last is None else "; ".join(escaped(item) for item in last.conditions)
        rows.append((code(value.name), code(shown_value(value)), why, because))
    if not rows:
        return []
    return table(("option", "value", "set by", "because"), rows)


def _comparison(resolutions: Sequence[Resolution]) -> list[str]:
    rows = [
        (
            f"**{code(row.name)}**" if row.differs else code(row.name),
            *(code(value) for value in row.values),
        )
        for row in comparison(resolutions)
    ]
    columns = ["option", *(escaped(launch_column(item.launch)) for item in resolutions)]
    return table(columns, rows) if rows else []
