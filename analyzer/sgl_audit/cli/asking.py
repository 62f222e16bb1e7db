"""The questions of `sgl-audit resolve`, asked and answered."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sgl_audit.cli import output
from sgl_audit.cli.choosing import (
    Opening,
    Pair,
    chosen_or_local,
    known_name,
    open_beside,
    open_known,
)
from sgl_audit.cli.choosing import open_tree as open_sglang
from sgl_audit.cli.flags import explain_unknown_flags
from sgl_audit.cli.joining import Runs, read_runs, with_runs
from sgl_audit.cli.launching import (
    Assumptions,
    archs_of,
    launches,
    notes_of,
    read_line,
    server_arguments,
)
from sgl_audit.cli.models import Described, check_path, find
from sgl_audit.cli.remembering import of_knowledge, of_launches, of_trees, once
from sgl_audit.cli.resolving import exit_code, finished, resolve_each, resolve_file
from sgl_audit.cli.stderr import Feedback
from sgl_audit.errors import EXIT_CLEAN, UsageError
from sgl_audit.launch import LaunchLine
from sgl_audit.model.resolution import Launch, Outcome, Resolution
from sgl_audit.model.source import SourceInfo, SourceTree

if TYPE_CHECKING:
    from sgl_audit.audit.verdicts.knowledge import Knowledge

__all__ = [
    "BatchQuestion",
    "Question",
    "Report",
    "answer",
    "answer_batch",
    "check_batch",
    "read_line",
]
FORMS = ("terminal", "json", "jsonl", "html", "markdown")


@dataclass(frozen=True, slots=True)
class Report:
    """How the answer is wanted."""

    form: str | None
    outputs: tuple[str, ...]
    color: str


@dataclass(frozen=True, slots=True)
class Question:
    """One launch, on one capability or several.

    Attributes:
        everything: also show values that nothing changed.
        every: ask for every server argument.
        verdicts: follow the launch into the layers and judge what it runs.
        evidence: folder of runs to lay beside the answer.
        typed: whether the launch was typed here, not read from a file made for another machine.
    """

    source: str | None
    line: LaunchLine
    archs: tuple[Pair, ...]
    described: Described
    assume: Assumptions
    options: tuple[str, ...]
    everything: bool
    every: bool
    verdicts: bool = False
    evidence: Path | None = None
    typed: bool = False


@dataclass(frozen=True, slots=True)
class BatchQuestion:
    """Many launches, each with its own capability."""

    source: str | None
    file: Path
    assume: Assumptions
    outputs: tuple[str, ...]
    jobs: int


def answer(question: Question, opening: Opening, report: Report, feedback: Feedback) -> int:
    """Resolve, write, and give the exit code."""
    targets = output.targets(report.form, report.outputs, FORMS)
    with tempfile.TemporaryDirectory(prefix="sgl-audit-") as folder:
        if question.typed and not question.described:
            check_path(server_arguments(question.line))
        model = find(server_arguments(question.line), question.described, Path(folder))
        pairs = archs_of(question.archs, question.line)
        pairs = pairs or chosen_or_local((), feedback)
        tree = open_sglang(question.source, opening, feedback)
        libraries, missing = open_beside(tree, opening, feedback)
        asked = launches(question.line, model, question.described, pairs, question.assume)
        every = question.every or bool(question.options)
        known = None
        if question.verdicts and model.known:
            known = open_known(tree, opening, question.assume, feedback)
        found = _resolved(tree, libraries, asked, every, opening, feedback, known)
    names = _names(question.options, found)
    notes = (*notes_of(question.line, model), *(item.message for item in missing))
    shown = [finished(item, model, notes, names) for item in found]
    shown = explain_unknown_flags(shown, tree, opening.cache_dir, question.source)
    feedback.clear()
    version, capabilities = tree.info.distribution.version, [capability for capability, _ in pairs]
    variables = question.line.environment
    runs = read_runs(question.evidence, version, capabilities, model.argv, variables)
    output.write(
        targets,
        lambda target: with_runs(
            _render(shown, tree.info, target, question, report, runs), target, runs, report.color
        ),
    )
    return exit_code(shown)


def _resolved(
    tree: SourceTree,
    libraries: tuple[SourceTree, ...],
    asked: tuple[Launch, ...],
    every: bool,
    opening: Opening,
    feedback: Feedback,
    known: Knowledge | None,
) -> list[Resolution]:
    """The answers, or what they were when the same was asked of the same bytes."""
    about = of_launches(asked)
    given = about and (*about, *of_trees(tree, *libraries), *of_knowledge(known), every)
    found = once(
        "resolve",
        given,
        opening.cache_dir,
        list,
        lambda: resolve_each(tree, libraries, asked, every, feedback, known),
    )
    return [replace(item, launch=launch) for item, launch in zip(found, asked, strict=True)]


def _names(options: tuple[str, ...], found: list[Resolution]) -> frozenset[str]:
    known = {v.name for item in found for v in (*item.options, *item.runtime)}
    if not known or all(item.outcome is Outcome.REJECTED for item in found):
        return frozenset(options)
    return frozenset(known_name(name, known, "server argument") for name in options)


def _render(
    shown: list[Resolution],
    info: SourceInfo,
    target: output.Target,
    question: Question,
    report: Report,
    runs: Runs | None,
) -> str:
    from sgl_audit import __version__

    match target.form:
        case "json" | "jsonl":
            return _json(shown, target.form)
        case "html":
            from sgl_audit_reports.html import resolution_html

            return resolution_html(shown, info, __version__, runs or ())
        case "markdown":
            from sgl_audit_reports.markdown import resolution_to_markdown

            return resolution_to_markdown(shown, info)
    from sgl_audit_reports.terminal import render_resolutions

    everything = question.everything or question.every or bool(question.options)
    return output.on_terminal(
        lambda c: render_resolutions(shown, c, everything=everything), target.path, report.color
    )


def _json(shown: list[Resolution], form: str) -> str:
    from sgl_audit_reports.json import dump, resolution_to_json

    found = [resolution_to_json(item) for item in shown]
    if form == "jsonl":
        return "".join(f"{dump(item, indent=None)}\n" for item in found)
    # One launch on one capability is one object, as its schema says.
    return dump(found[0] if len(found) == 1 else list(found)) + "\n"


def check_batch(more: bool, form: str | None) -> None:
    """Refuse what a batch cannot be given.

    Raises:
        UsageError: a launch, a model or a capability beside the file, or another form.
    """
    if more:
        raise UsageError(
            "--batch names launch, model and arch on each line; drop the ones beside it"
        )
    if form not in (None, "jsonl"):
        raise UsageError(f"--batch answers in jsonl, not in {form}; drop --format")


def answer_batch(question: BatchQuestion, opening: Opening, feedback: Feedback) -> int:
    """Resolve the launches of a file, one answer a line in the same order."""
    targets = output.targets("jsonl", question.outputs, ("jsonl",))
    tree = open_sglang(question.source, opening, feedback)
    lines = _batch_lines(tree, question, opening, feedback)
    if targets == (output.Target("jsonl", output.STDOUT),):
        _stream(lines)
        return EXIT_CLEAN
    text = "".join(lines)
    feedback.clear()
    output.write(targets, lambda target: text)
    return EXIT_CLEAN


def _stream(lines: Iterator[str]) -> None:
    for line in lines:
        # Each at once: a reader can begin, and nothing is kept.
        sys.stdout.write(line)
    sys.stdout.flush()


def _batch_lines(
    tree: SourceTree, question: BatchQuestion, opening: Opening, feedback: Feedback
) -> Iterator[str]:
    from sgl_audit_reports.json import dump, resolution_to_json

    # Rows hold answers and no place to say what they lack, so a batch gets what they rest on.
    libraries, missing = open_beside(tree, replace(opening, fetch=True), feedback)
    for gap in missing:
        feedback.notify(gap.message)
    answers = resolve_file(tree, libraries, question.file, question.assume, question.jobs, feedback)
    for item in answers:
        yield dump(resolution_to_json(item, trace=False), indent=None) + "\n"
