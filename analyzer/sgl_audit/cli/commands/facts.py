"""`sgl-audit facts SOURCE`: everything that was read, each with its place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sgl_audit.cli import options

if TYPE_CHECKING:
    from sgl_audit.cli.output import Target
    from sgl_audit.model.facts import Facts
    from sgl_audit.model.source import SourceInfo

FORMS = ("terminal", "json")


@click.command("facts", short_help="Choices, options, enums, gates, decisions with their places.")
@options.source_argument
@options.arch_option
@options.format_option(*FORMS)
@options.output_option
@options.opening_options
@options.working_options
@options.color_option
def command(
    source: str | None,
    archs: tuple[tuple[tuple[str, str | None], ...], ...],
    form: str | None,
    outputs: tuple[str, ...],
    offline: bool,
    cache_dir: Path | None,
    jobs: int,
    no_progress: bool,
    color: str,
) -> int:
    """Read the facts of SOURCE: choice lists, options, enums, gates, environment variables,
    decisions and rejections, each with file and line. Gates are for every capability unless
    --arch says which."""
    from sgl_audit.cli import choosing, output
    from sgl_audit.cli.reading import read
    from sgl_audit.cli.stderr import Feedback
    from sgl_audit.cli.unread import completeness

    targets = output.targets(form, outputs, FORMS)
    with Feedback(bar=not no_progress) as feedback:
        tree, facts = read(source, archs, choosing.Opening(offline, cache_dir), jobs, feedback)
    output.write(targets, lambda target: render(facts, tree.info, target, color))
    return completeness(facts.diagnostics)


def render(facts: Facts, info: SourceInfo, target: Target, color: str) -> str:
    """The facts in the form of the target."""
    if target.form == "json":
        from sgl_audit_reports.json import facts_to_json

        return facts_to_json(facts, info.distribution.version)
    from sgl_audit.cli.output import on_terminal
    from sgl_audit_reports.terminal import render_facts_summary

    return on_terminal(lambda c: render_facts_summary(facts, info, c), target.path, color)
