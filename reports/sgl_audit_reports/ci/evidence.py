"""Runs of the actual server as workflow commands."""

from __future__ import annotations

from collections.abc import Sequence

from sgl_audit.model.evidence import Agreement, JoinedRun, RunOutcome
from sgl_audit_reports.ci.commands import command
from sgl_audit_reports.common.evidence import counts, outcome, run_name, where


def runs_to_annotations(runs: Sequence[JoinedRun]) -> str:
    """One command for each run that counts, and one line that says how many do not."""
    lines = [_run(item) for item in runs if not item.foreign]
    foreign = sum(bool(item.foreign) for item in runs)
    if foreign:
        lines.append(command("notice", {}, f"runs that do not count here: {foreign}"))
    return "".join(f"{line}\n" for line in lines)


def _run(item: JoinedRun) -> str:
    run = item.evidence
    wrong = [one for one in run.compared if one.agreement is Agreement.CONTRADICTED]
    kind = "warning" if wrong or run.outcome is RunOutcome.FAILED else "notice"
    said = [
        f"{outcome(run)}: {run.summary}",
        where(run),
        counts(run.compared),
        *(f"{one.subject}: predicted {one.predicted}, observed {one.observed}" for one in wrong),
    ]
    return command(kind, {"title": f"run of the server: {run_name(run)}"}, *said)
