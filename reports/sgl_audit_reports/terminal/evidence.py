"""Runs of the actual server: prediction, what the server said, and the verdict, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from sgl_audit.model.evidence import Agreement, Evidence, JoinedRun, RunOutcome
from sgl_audit_reports.common.evidence import (
    counts,
    outcome,
    run_name,
    speed_text,
    timing_text,
    where,
    worth_showing,
)
from sgl_audit_reports.terminal.console import (
    QUIET,
    heading,
    indented,
    line,
    plain_table,
    text,
)

_STYLE = {
    RunOutcome.PASSED: "bold green",
    RunOutcome.FAILED: "bold red",
    RunOutcome.SKIPPED: "yellow",
    RunOutcome.INTERRUPTED: "magenta",
    RunOutcome.RUNNING: "magenta",
}
_AGREES = {
    Agreement.CONFIRMED: "green",
    Agreement.CONTRADICTED: "bold red",
    Agreement.NOT_EXERCISED: QUIET,
}


def render_evidence(
    found: Sequence[Evidence], console: Console, *, everything: bool = False
) -> None:
    """Print runs: one in full, several as a table and then each that is worth it."""
    if not found:
        console.print(text("no runs"))
        return
    if len(found) > 1:
        render_list(found, console)
    for evidence in found:
        if len(found) > 1:
            if evidence.outcome is RunOutcome.SKIPPED:
                continue
            console.print()
        _run(evidence, console, everything)


def render_joined(runs: Sequence[JoinedRun], console: Console) -> None:
    """Print runs laid beside another answer: those that count in full, the others as a line."""
    heading(console, "Runs of the actual server")
    if not runs:
        console.print(text("none are kept", QUIET))
    for item in runs:
        if item.foreign:
            console.print(
                line(
                    (outcome(item.evidence), _STYLE[item.evidence.outcome]),
                    f"  {run_name(item.evidence)}",
                    (f"  does not count: {item.foreign}", QUIET),
                )
            )
        else:
            _run(item.evidence, console, False)
            console.print()


def render_list(found: Sequence[Evidence], console: Console) -> None:
    """Print one line a run."""
    rows = [
        (
            text(outcome(item), _STYLE[item.outcome]),
            text(run_name(item)),
            text(_device(item), QUIET),
            text(item.summary[:160]),
            text(item.id, QUIET),
        )
        for item in found
    ]
    console.print(plain_table(("outcome", "launch", "where", "what", "run"), rows))


def _device(evidence: Evidence) -> str:
    environment = evidence.environment
    return f"{environment.sglang or '?'} {environment.device.capability}"


def _run(evidence: Evidence, console: Console, everything: bool) -> None:
    style = _STYLE[evidence.outcome]
    console.print(line((outcome(evidence).upper(), style), f"  {where(evidence)}"))
    indented(console, text(run_name(evidence), QUIET))
    indented(console, text(evidence.summary))
    for ground in evidence.grounds:
        at = f"{ground.source} line {ground.line}" if ground.line else ground.source
        indented(console, line((f"{at}: ", QUIET), ground.text), 4)
    _compared(evidence, console, everything)
    _said(evidence, console)
    for note in evidence.notes:
        console.print(line(("note: ", QUIET), note))


def _compared(evidence: Evidence, console: Console, everything: bool) -> None:
    shown = worth_showing(evidence.compared, everything)
    if not shown:
        return
    heading(console, "Predicted, and what the server said")
    rows = [
        (
            text(item.agreement.value, _AGREES[item.agreement]),
            text(item.subject),
            text(item.predicted),
            text(item.observed),
            text("; ".join(filter(None, (item.why, str(item.place or "")))), QUIET),
        )
        for item in shown
    ]
    columns = ("verdict", "what", "predicted", "server", "")
    console.print(plain_table(columns, rows))
    hidden = len(evidence.compared) - len(shown)
    more = f"; {hidden} more in the record" if hidden else ""
    console.print(text(f"{counts(evidence.compared)}{more}", QUIET))


def _said(evidence: Evidence, console: Console) -> None:
    rows = []
    if evidence.observation is not None and evidence.observation.identity:
        rows.append(("identity", evidence.observation.identity))
    if evidence.speed:
        rows.append(("speed", speed_text(evidence.speed)))
    if evidence.timings:
        rows.append(("time", timing_text(evidence)))
    if evidence.stopping is not None:
        stopping = evidence.stopping
        left = f", {stopping.processes_left} processes left" if stopping.processes_left else ""
        code = "" if stopping.exit_code is None else f", exit code {stopping.exit_code}"
        rows.append(("stop", f"{stopping.how}{code}{left}"))
    if evidence.log is not None:
        rows.append(("log", evidence.log.path))
    if rows:
        console.print()
    for name, value in rows:
        console.print(line((f"{name}: ", QUIET), value))
