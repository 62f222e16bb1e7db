"""`sgl-audit [audit] SOURCE`: is the default safe on this GPU, and if not, what to pass?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sgl_audit.cli import options
from sgl_audit.cli.parsing import AssumingCommand
from sgl_audit.errors import EXIT_CLEAN

if TYPE_CHECKING:
    from sgl_audit.cli.joining import Runs
    from sgl_audit.cli.output import Target
    from sgl_audit.model.report import Audit

FORMS = ("terminal", "json", "html", "markdown", "sarif", "github", "junit", "csv")
NEVER = "never"


@click.command(
    "audit",
    cls=AssumingCommand,
    short_help="What the defaults become on each GPU, and what is wrong.",
)
@options.source_argument
@options.arch_option
@options.option_option
@options.format_option(*FORMS)
@options.output_option
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "note", NEVER]),
    default="error",
    show_default=True,
    envvar="SGL_AUDIT_FAIL_ON",
    help="Exit with 1 where a finding is at least this bad, or a model family is not safe by "
    "default; with never not at all.",
)
@options.baseline_options
@click.option("--show-config", is_flag=True, help="Print the settings that hold, and stop.")
@click.option("--details", "--all", "details", is_flag=True, help="Everything, not only a screen.")
@options.evidence_option
@options.assume_option
@options.transformers_option
@options.knowledge_options
@options.opening_options
@options.working_options
@options.color_option
def command(
    source: str | None,
    archs: tuple[tuple[tuple[str, str | None], ...], ...],
    options: tuple[str, ...],
    form: str | None,
    outputs: tuple[str, ...],
    fail_on: str,
    baseline: Path | None,
    write_baseline: Path | None,
    show_config: bool,
    details: bool,
    evidence: Path | None,
    assumed: tuple[str, ...],
    transformers: str | None,
    flashinfer: str | None,
    advisories: Path | None,
    binaries: tuple[Path, ...],
    offline: bool,
    cache_dir: Path | None,
    jobs: int,
    no_progress: bool,
    color: str,
) -> int:
    """Audit SOURCE: what each backend option becomes on each GPU with nothing set, per model
    family, and what is wrong with it.

    Without --arch it is for the GPU of this machine, or for all where there is none.
    """
    from sgl_audit.cli import choosing, output
    from sgl_audit.cli.auditing import accept, exit_code, make_audit, only
    from sgl_audit.cli.joining import read_runs, with_runs
    from sgl_audit.cli.stderr import Feedback

    if show_config:
        from sgl_audit.cli.showing import show_settings

        return show_settings(click.get_current_context())
    targets = output.targets(form, outputs, FORMS)
    opening = choosing.Opening(offline, cache_dir, transformers, flashinfer, advisories, binaries)
    with Feedback(bar=not no_progress) as feedback:
        # A baseline that is about to be written need not be there yet.
        known = baseline if write_baseline is None or (baseline and baseline.exists()) else None
        audit = make_audit(source, archs, opening, assumed, jobs, feedback, known)
        if write_baseline is not None:
            accept(audit, write_baseline, feedback)
            return EXIT_CLEAN
    if options:
        audit = only(audit, options)
    shown = Shown(source, details, color, fail_on)
    runs = read_runs(evidence, audit.source.distribution.version, audit.capabilities)
    output.write(
        targets,
        lambda target: with_runs(render(audit, target, shown, runs), target, runs, color),
    )
    return exit_code(audit, fail_on)


@dataclass(frozen=True, slots=True)
class Shown:
    """How the audit was asked for, as far as reports say it."""

    source: str | None
    details: bool
    color: str
    fail_on: str


def render(audit: Audit, target: Target, shown: Shown, runs: Runs | None = None) -> str:
    """The audit in the form of the target."""
    match target.form:
        case "json":
            from sgl_audit_reports.json import audit_to_json

            return audit_to_json(audit)
        case "html":
            from sgl_audit_reports.html import audit_html

            return audit_html(audit, runs or ())
        case "markdown":
            from sgl_audit_reports.markdown import audit_to_markdown

            return audit_to_markdown(audit)
        case "sarif" | "github" | "junit" | "csv":
            from sgl_audit.cli.ci_reports import ci_report

            return ci_report(audit, target.form, shown.source, shown.fail_on, runs)
    from sgl_audit.cli.output import on_terminal
    from sgl_audit_reports.terminal import render_audit

    return on_terminal(
        lambda c: render_audit(audit, c, details=shown.details), target.path, shown.color
    )
