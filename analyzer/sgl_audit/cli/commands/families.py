"""`sgl-audit families SOURCE --arch X`: model families with nothing set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sgl_audit.cli import options
from sgl_audit.cli.parsing import AssumingCommand

if TYPE_CHECKING:
    from sgl_audit.cli.output import Target
    from sgl_audit.model.report import Audit

FORMS = ("terminal", "json", "html")


@click.command(
    "families", cls=AssumingCommand, short_help="How each model family launches with nothing set."
)
@options.source_argument
@options.arch_option
@options.format_option(*FORMS)
@options.output_option
@options.assume_option
@options.transformers_option
@options.opening_options
@options.working_options
@options.color_option
def command(
    source: str | None,
    archs: tuple[tuple[tuple[str, str | None], ...], ...],
    form: str | None,
    outputs: tuple[str, ...],
    assumed: tuple[str, ...],
    transformers: str | None,
    offline: bool,
    cache_dir: Path | None,
    jobs: int,
    no_progress: bool,
    color: str,
) -> int:
    """Show how the architectures and quantizations that SOURCE itself names launch on each GPU
    with nothing set: worst first, with what to pass."""
    from sgl_audit.cli import choosing, output
    from sgl_audit.cli.auditing import make_audit
    from sgl_audit.cli.stderr import Feedback
    from sgl_audit.cli.unread import completeness

    targets = output.targets(form, outputs, FORMS)
    opening = choosing.Opening(offline, cache_dir, transformers)
    with Feedback(bar=not no_progress) as feedback:
        audit = make_audit(source, archs, opening, assumed, jobs, feedback)
    output.write(targets, lambda target: render(audit, target, color))
    return completeness(audit.facts.diagnostics)


def render(audit: Audit, target: Target, color: str) -> str:
    """The families in the form of the target."""
    if target.form == "json":
        from sgl_audit.cli.parts import part_of_audit

        return part_of_audit(audit, "families", "advice")
    if target.form == "html":
        from sgl_audit_reports.html import families_html

        return families_html(audit)
    from sgl_audit.cli.output import on_terminal
    from sgl_audit_reports.terminal import render_families

    return on_terminal(lambda c: render_families(audit, c), target.path, color)
