"""`sgl-audit matrix SOURCE`: options and choices by capability, on one screen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sgl_audit.cli import options
from sgl_audit.cli.parsing import AssumingCommand
from sgl_audit.errors import UsageError

if TYPE_CHECKING:
    from sgl_audit.cli.joining import Runs
    from sgl_audit.cli.output import Target
    from sgl_audit.model.report import Audit

FORMS = ("terminal", "json", "csv")


@click.command(
    "matrix",
    cls=AssumingCommand,
    short_help="Every choice by GPU: default, automatic, by flag, refused.",
)
@options.source_argument
@options.arch_option
@options.option_option
@options.format_option(*FORMS)
@options.output_option
@options.evidence_option
@options.assume_option
@options.transformers_option
@options.opening_options
@options.working_options
@options.color_option
def command(
    source: str | None,
    archs: tuple[tuple[tuple[str, str | None], ...], ...],
    options: tuple[str, ...],
    form: str | None,
    outputs: tuple[str, ...],
    evidence: Path | None,
    assumed: tuple[str, ...],
    transformers: str | None,
    offline: bool,
    cache_dir: Path | None,
    jobs: int,
    no_progress: bool,
    color: str,
) -> int:
    """Show what each capability makes of each choice of each backend option of SOURCE."""
    from sgl_audit.cli import choosing, output
    from sgl_audit.cli.auditing import make_audit, only
    from sgl_audit.cli.joining import read_runs, with_runs
    from sgl_audit.cli.stderr import Feedback
    from sgl_audit.cli.unread import completeness
    from sgl_audit.model.capability import ALL_CAPABILITIES

    targets = output.targets(form, outputs, FORMS)
    opening = choosing.Opening(offline, cache_dir, transformers)
    # A table by capability for the one GPU that happens to be here would be no table.
    everything = archs or (tuple((name, None) for name in ALL_CAPABILITIES),)
    with Feedback(bar=not no_progress) as feedback:
        audit = make_audit(source, everything, opening, assumed, jobs, feedback)
    if options:
        audit = only(audit, options)
        empty = [name for name in options if not _has_cells(audit, name)]
        if empty:
            raise UsageError(f"{empty[0]} has no choices, so that there is nothing to tabulate")
    runs = read_runs(evidence, audit.source.distribution.version, audit.capabilities)
    output.write(
        targets, lambda target: with_runs(render(audit, target, color, runs), target, runs, color)
    )
    return completeness(audit.facts.diagnostics)


def _has_cells(audit: Audit, name: str) -> bool:
    wanted = name.strip().lstrip("-").replace("-", "_")
    return any(cell.option.replace("-", "_") == wanted for cell in audit.cells)


def render(audit: Audit, target: Target, color: str, runs: Runs | None = None) -> str:
    """The matrix in the form of the target."""
    if target.form == "json":
        from sgl_audit.cli.parts import part_of_audit

        return part_of_audit(audit, "matrix")
    if target.form == "csv":
        from sgl_audit_reports.ci import matrix_to_csv

        return matrix_to_csv(audit, runs)
    from sgl_audit.cli.output import on_terminal
    from sgl_audit_reports.terminal import render_matrix

    return on_terminal(lambda c: render_matrix(audit, c), target.path, color)
