"""`sgl-audit diff OLD NEW`: what changes for me if I move from this version to that one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sgl_audit.cli import options
from sgl_audit.cli.parsing import AssumingCommand

if TYPE_CHECKING:
    from sgl_audit.cli.output import Target
    from sgl_audit.model.review import Review

FORMS = ("terminal", "json", "html", "markdown", "sarif", "github")


@click.command("diff", cls=AssumingCommand, short_help="What an upgrade changes, worst first.")
@click.argument("old")
@click.argument("new")
@options.arch_option
@options.option_option
@click.option(
    "--launches",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Your launches, repeatable: one a line, or a YAML list with name, command, environment, "
    "model_config, arch.",
)
@click.option("--launches-only", is_flag=True, help="Only the launches: much quicker.")
@click.option(
    "--kernels",
    is_flag=True,
    help="Also compare what the pinned FlashInfer releases require; reads both.",
)
@options.format_option(*FORMS)
@options.output_option
@click.option(
    "--fail-on",
    type=click.Choice(["breaking", "behaviour", "never"]),
    default="breaking",
    show_default=True,
    envvar="SGL_AUDIT_FAIL_ON_CHANGE",
    help="Exit with 1 where a change is at least this bad; with --launches only theirs count.",
)
@click.option("--details", "--all", "details", is_flag=True, help="Every change.")
@options.assume_option
@options.transformers_option
@options.opening_options
@options.working_options
@options.color_option
def command(
    old: str,
    new: str,
    archs: tuple[tuple[tuple[str, str | None], ...], ...],
    options: tuple[str, ...],
    launches: tuple[Path, ...],
    launches_only: bool,
    kernels: bool,
    form: str | None,
    outputs: tuple[str, ...],
    fail_on: str,
    details: bool,
    assumed: tuple[str, ...],
    transformers: str | None,
    offline: bool,
    cache_dir: Path | None,
    jobs: int,
    no_progress: bool,
    color: str,
) -> int:
    """Compare two versions, in order of harm: for your launches, for each GPU, for all.

    \b
    sgl-audit diff sglang==0.5.9 sglang==0.5.23 --arch sm120 --launches launches.yaml
    sgl-audit diff .@v0.5.9 .@main --arch b200

    Exit code: 0 nothing at or above --fail-on, 1 something, 3 part could not be compared.
    """
    from sgl_audit.cli import choosing, output
    from sgl_audit.cli.stderr import Feedback
    from sgl_audit.cli.upgrading import Question, exit_code, make_review, only
    from sgl_audit.launch.assume import parse_assumptions

    targets = output.targets(form, outputs, FORMS)
    opening = choosing.Opening(offline, cache_dir, transformers)
    assume = parse_assumptions(assumed)
    question = Question(old, new, archs, launches, not launches_only, assume, jobs, kernels)
    with Feedback(bar=not no_progress) as feedback:
        review = make_review(question, opening, feedback)
    if options:
        review = only(review, options)
    output.write(targets, lambda target: render(review, target, new, details, color))
    return exit_code(review, fail_on)


def render(review: Review, target: Target, new: str, details: bool, color: str) -> str:
    """The review in the form of the target."""
    match target.form:
        case "json":
            from sgl_audit_reports.json import review_to_json

            return review_to_json(review)
        case "html":
            from sgl_audit_reports.html import review_html

            return review_html(review)
        case "markdown":
            from sgl_audit_reports.markdown import review_to_markdown

            return review_to_markdown(review)
        case "sarif" | "github":
            from sgl_audit.cli.repository import base_in_repository
            from sgl_audit_reports.ci import review_to_annotations
            from sgl_audit_reports.sarif import review_to_sarif

            write = review_to_sarif if target.form == "sarif" else review_to_annotations
            return write(review, base_in_repository(new, review.new))
    from sgl_audit.cli.output import on_terminal
    from sgl_audit_reports.terminal import render_review

    return on_terminal(lambda c: render_review(review, c, details=details), target.path, color)
