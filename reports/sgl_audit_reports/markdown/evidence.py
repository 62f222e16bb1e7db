"""Runs of the actual server as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from sgl_audit.model.evidence import JoinedRun
from sgl_audit_reports.common.evidence import counts, outcome, run_name, where, worth_showing
from sgl_audit_reports.markdown.escape import code, escaped, table


def runs_to_markdown(runs: Sequence[JoinedRun]) -> str:
    """A table of runs, and for each that counts what it confirmed and contradicted."""
    lines = ["## Runs of the actual server", ""]
    if not runs:
        return "\n".join([*lines, "No runs are kept."]) + "\n"
    rows = [
        (
            escaped(outcome(item.evidence)),
            code(run_name(item.evidence)),
            escaped(where(item.evidence)),
            escaped(item.evidence.summary),
            escaped(item.foreign or "yes"),
        )
        for item in runs
    ]
    lines += table(("outcome", "launch", "where", "what", "counts here"), rows)
    for item in runs:
        shown = worth_showing(item.evidence.compared)
        if item.foreign or not shown:
            continue
        lines += ["", f"### {escaped(run_name(item.evidence))}", ""]
        compared = [
            (
                escaped(one.agreement.value),
                code(one.subject),
                escaped(one.predicted),
                escaped(one.observed),
                escaped(one.why),
            )
            for one in shown
        ]
        lines += table(("verdict", "what", "predicted", "server", "why"), compared)
        lines += ["", escaped(counts(item.evidence.compared))]
    return "\n".join(lines).rstrip() + "\n"
