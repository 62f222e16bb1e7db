"""The question of `sgl-audit recommend`, asked and answered."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sgl_audit import api
from sgl_audit.cli import output
from sgl_audit.cli.asking import Report
from sgl_audit.cli.choosing import (
    Opening,
    Pair,
    chosen_or_local,
    open_beside,
    open_known,
    open_tree,
)
from sgl_audit.cli.joining import Runs, read_runs, with_runs
from sgl_audit.cli.launching import Assumptions, archs_of, launches, notes_of, server_arguments
from sgl_audit.cli.models import Described, find
from sgl_audit.cli.remembering import of_knowledge, of_launches, of_trees, once
from sgl_audit.cli.stderr import Feedback
from sgl_audit.errors import EXIT_CLEAN, EXIT_FINDINGS, EXIT_INCOMPLETE, UsageError
from sgl_audit.launch import LaunchLine
from sgl_audit.model.source import SourceInfo
from sgl_audit.model.verdict import Recommendation
from sgl_audit.version import __version__

FORMS = ("terminal", "json", "html", "markdown")


@dataclass(frozen=True, slots=True)
class Wanted:
    """One launch, on one capability or several."""

    source: str | None
    line: LaunchLine
    archs: tuple[Pair, ...]
    described: Described
    assume: Assumptions
    evidence: Path | None = None


def answer(wanted: Wanted, opening: Opening, report: Report, feedback: Feedback) -> int:
    """Recommend, write, and give the exit code."""
    targets = output.targets(report.form, report.outputs, FORMS)
    with tempfile.TemporaryDirectory(prefix="sgl-audit-") as folder:
        model = find(server_arguments(wanted.line), wanted.described, Path(folder))
        if not model.known or (model.config is None and "--model-path" not in " ".join(model.argv)):
            raise UsageError(
                "a recommendation needs the model: give --model-config PATH, or --model-arch NAME "
                "with --quantization-of; `sgl-audit audit` speaks of families of models"
            )
        pairs = archs_of(wanted.archs, wanted.line)
        pairs = pairs or chosen_or_local((), feedback)
        tree = open_tree(wanted.source, opening, feedback)
        libraries, missing = open_beside(tree, opening, feedback)
        known = open_known(tree, opening, wanted.assume, feedback)
        asked = launches(wanted.line, model, wanted.described, pairs, wanted.assume)
        about = of_launches(asked)
        found = once(
            "recommend",
            about and (*about, *of_trees(tree, *libraries), *of_knowledge(known)),
            opening.cache_dir,
            list,
            lambda: api.recommend(
                tree, asked, known, libraries=libraries, progress=feedback.progress("trying")
            ),
        )
    notes = (
        *notes_of(wanted.line, model),
        *(item.message for item in (*missing, *known.diagnostics)),
    )
    shown = [replace(item, notes=(*notes, *item.notes)) for item in found]
    feedback.clear()
    version, capabilities = tree.info.distribution.version, [capability for capability, _ in pairs]
    # Of any launch: what failed with other flags is what a recommendation is asked for.
    runs = read_runs(wanted.evidence, version, capabilities)
    output.write(
        targets,
        lambda target: with_runs(
            _render(shown, tree.info, target, report, runs), target, runs, report.color
        ),
    )
    return exit_code(shown)


def exit_code(found: Sequence[Recommendation]) -> int:
    """0 where all works, 1 where something does not, 3 where something is unknown."""
    if all(item.complete for item in found):
        return EXIT_CLEAN
    bad = any(row.verdict.bad for item in found for row in item.after)
    return EXIT_FINDINGS if bad else EXIT_INCOMPLETE


def _render(
    shown: list[Recommendation],
    info: SourceInfo,
    target: output.Target,
    report: Report,
    runs: Runs | None,
) -> str:
    match target.form:
        case "html":
            from sgl_audit_reports.html import recommendation_html

            return recommendation_html(shown, info, __version__, runs or ())
        case "json":
            from sgl_audit_reports.json import dump, recommendation_to_json

            found = [recommendation_to_json(item) for item in shown]
            return dump(found[0] if len(found) == 1 else list(found)) + "\n"
        case "markdown":
            from sgl_audit_reports.markdown import recommendations_to_markdown

            return recommendations_to_markdown(shown, info)
    from sgl_audit_reports.terminal import render_recommendations

    return output.on_terminal(
        lambda c: render_recommendations(shown, info, c), target.path, report.color
    )
