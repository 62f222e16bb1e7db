"""Checked launches as Markdown."""

from __future__ import annotations

from sgl_audit.model.checks import CheckReport, LaunchCheck, Standing
from sgl_audit_reports.common.launches import name_of, said_of, standing_counts, where_of
from sgl_audit_reports.common.names import source_heading
from sgl_audit_reports.markdown.escape import code, escaped, table

_WORD = {
    Standing.ACCEPTED: "✅ accepted",
    Standing.REFUSED: "❌ refused",
    Standing.UNKNOWN: "❔ unknown",
}
# A comment on GitHub holds 65,536 characters.
_ROWS = 100
_REASON = 400


def checks_to_markdown(report: CheckReport) -> str:
    """What is refused first, then what is unknown, then what is accepted."""
    order = (Standing.REFUSED, Standing.UNKNOWN, Standing.ACCEPTED)
    checks = sorted(report.checks, key=lambda item: order.index(item.standing))
    lines = [f"## sgl-audit check: {escaped(source_heading(report.source))}", ""]
    lines += [f"{escaped(standing_counts(report))}.", ""]
    if checks:
        columns = ("launch", "on", "", "why")
        lines += table(columns, [_row(item) for item in checks[:_ROWS]])
    if len(checks) > _ROWS:
        lines += [f"{len(checks) - _ROWS} more are left out here.", ""]
    lines += [f"- passed over: {escaped(item.message)}" for item in report.notices[:_ROWS]]
    return "\n".join(lines).rstrip() + "\n"


def _row(item: LaunchCheck) -> tuple[str, ...]:
    named = f" {escaped(name_of(item))}" if name_of(item) else ""
    why = "; ".join(said_of(item))
    shown = why if len(why) <= _REASON else f"{why[:_REASON]}…"
    return (
        f"{code(where_of(item))}{named}",
        escaped(item.capability),
        _WORD[item.standing],
        escaped(shown),
    )
