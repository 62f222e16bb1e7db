"""What `sgl-audit probe` does, from its words to its exit code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sgl_audit.cli import output
from sgl_audit.cli.probing.asking import Words, prepare, read_axes
from sgl_audit.cli.probing.display import Display
from sgl_audit.cli.probing.keeping import render
from sgl_audit.cli.probing.running import carry_out, plan
from sgl_audit.cli.stderr import Feedback, say
from sgl_audit.errors import EXIT_CLEAN, EXIT_FINDINGS, EXIT_INCOMPLETE, UsageError
from sgl_audit.model.evidence import Agreement, Evidence, RunOutcome
from sgl_audit.probe.matrix import Entry, parse_shard
from sgl_audit.probe.matrix import shard as part_of
from sgl_audit.probe.store import Kept, Store, read_folder

RUN_FORMS = ("terminal", "json", "html")
PLAN_FORMS = ("terminal", "json", "github", "slurm")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which combinations, and how far to go."""

    vary: tuple[str, ...] = ()
    vary_all: bool = False
    until: str = "all"
    try_refused: bool = False
    again: bool = False
    plan: bool = False
    shard: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """How the answer is wanted."""

    form: str | None
    outputs: tuple[str, ...]
    color: str
    live: bool


def probe(words: Words, wanted: Wanted, report: Report) -> int:
    """Run a launch or a matrix of them; gives the exit code.

    Raises:
        UsageError: the words make no sense, or the machine is not as they say.
    """
    forms = PLAN_FORMS if wanted.plan else RUN_FORMS
    targets = _targets(report, forms)
    number, count = parse_shard(wanted.shard) if wanted.shard else (1, 1)
    with Feedback(bar=False) as feedback:
        setting = prepare(words, feedback)
        varied = bool(wanted.vary or wanted.vary_all)
        axes = read_axes(wanted.vary, wanted.vary_all, setting) if varied else ()
        kept = _kept(words.folder)
        # One launch that is asked for by itself is run, whatever is known of it.
        again = wanted.again or not varied
        entries = plan(
            setting,
            axes,
            kept,
            again=again,
            try_refused=wanted.try_refused,
            everything=wanted.vary_all,
        )
    entries = part_of(entries, number, count)
    if wanted.plan:
        output.write(targets, lambda target: _plan(entries, target, report, count))
        return EXIT_CLEAN
    setting.predictor.forget()
    store = Store(words.folder)
    found: list[Evidence] = []
    with Display(live=report.live) as display:
        try:
            for evidence in carry_out(entries, setting, store, display, until=wanted.until):
                found.append(evidence)
                display.say(_line(evidence))
        except KeyboardInterrupt:
            if varied:
                display.say("interrupted; the same command goes on where this one stopped")
            raise
    output.write(targets, lambda target: render(found, target, report.color))
    return exit_code(found)


def _targets(report: Report, forms: Sequence[str]) -> tuple[output.Target, ...]:
    if report.form is not None and report.form not in forms:
        raise UsageError(f"--format {report.form} is not one of {', '.join(forms)} here")
    return output.targets(report.form, report.outputs, forms)


def _kept(folder: Path) -> tuple[Kept, ...]:
    if not folder.is_dir():
        return ()
    kept, unread = read_folder(folder)
    for item in unread:
        say(f"{item.path} is not read: {item.reason}")
    return kept


def _line(evidence: Evidence) -> str:
    name = " ".join(f"{a}={b}" for a, b in evidence.launch.varied) or "the launch"
    what = f"{evidence.outcome}: {evidence.failure}" if evidence.failure else str(evidence.outcome)
    wrong = sum(one.agreement is Agreement.CONTRADICTED for one in evidence.compared)
    more = f"; {wrong} prediction{'' if wrong == 1 else 's'} contradicted" if wrong else ""
    return f"{name}: {what}. {evidence.summary}{more}"


def exit_code(found: Sequence[Evidence]) -> int:
    """0 where something passed, 3 where nothing did and something is unfinished, else 1."""
    outcomes = {evidence.outcome for evidence in found}
    if RunOutcome.PASSED in outcomes:
        return EXIT_CLEAN
    unfinished = {RunOutcome.INTERRUPTED, RunOutcome.RUNNING}
    return EXIT_INCOMPLETE if not outcomes or outcomes & unfinished else EXIT_FINDINGS


def _plan(entries: Sequence[Entry], target: output.Target, report: Report, count: int) -> str:
    from sgl_audit.cli.probing import plans

    match target.form:
        case "json":
            return plans.as_json(entries)
        case "github":
            return plans.as_github(entries, count)
        case "slurm":
            return plans.as_slurm(entries, count)
    return plans.as_text(entries)


def judge_running(
    url: str, allow_remote: bool, words: Words, wanted: Wanted, report: Report
) -> int:
    """Judge a server that already runs; nothing is started or stopped.

    Raises:
        UsageError: the URL is none, or names another machine without leave.
    """
    from sgl_audit.cli.probing.existing import judge

    if words.launch or words.launch_file or wanted != Wanted(again=wanted.again):
        raise UsageError("--url judges one server that runs; drop the launch and what varies it")
    targets = _targets(report, RUN_FORMS)
    found = [judge(url, allow_remote, words)]
    output.write(targets, lambda target: render(found, target, report.color))
    return exit_code(found)
