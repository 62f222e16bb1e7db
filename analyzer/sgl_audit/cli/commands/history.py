"""`sgl-audit history sglang==A..B --option NAME`: when each value, gate and verdict changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sgl_audit.cli import options

if TYPE_CHECKING:
    from sgl_audit.cli.output import Target
    from sgl_audit.model.history import History

FORMS = ("terminal", "json", "html")


@click.command("history", short_help="One option from release to release.")
@click.argument("releases", metavar="RANGE")
@options.arch_option
@click.option("--option", "option", required=True, metavar="NAME", help="The option to follow.")
@click.option("--every", is_flag=True, help="Read every release, also between two equal ones.")
@options.format_option(*FORMS)
@options.output_option
@options.transformers_option
@options.opening_options
@options.working_options
@options.color_option
def command(
    releases: str,
    archs: tuple[tuple[tuple[str, str | None], ...], ...],
    option: str,
    every: bool,
    form: str | None,
    outputs: tuple[str, ...],
    transformers: str | None,
    offline: bool,
    cache_dir: Path | None,
    jobs: int,
    no_progress: bool,
    color: str,
) -> int:
    """Follow an option over the releases of RANGE: sglang==0.5.4..0.5.23, or DIR@v0.5.4..v0.5.23
    for the tags of a clone.

    Releases at hand are all read; others only where two that were read differ. What is read is
    kept in the cache.
    """
    from sgl_audit.cli import choosing, output
    from sgl_audit.cli.following import follow
    from sgl_audit.cli.stderr import Feedback
    from sgl_audit.errors import EXIT_CLEAN, EXIT_INCOMPLETE

    targets = output.targets(form, outputs, FORMS)
    opening = choosing.Opening(offline, cache_dir, transformers)
    with Feedback(bar=not no_progress) as feedback:
        found = follow(releases, option, archs, opening, every, jobs, feedback)
    output.write(targets, lambda target: render(found, target, color))
    unread = any(release.problem for release in found.releases)
    return EXIT_INCOMPLETE if unread else EXIT_CLEAN


def render(history: History, target: Target, color: str) -> str:
    """The history in the form of the target."""
    match target.form:
        case "json":
            from sgl_audit_reports.json import history_to_json

            return history_to_json(history)
        case "html":
            from sgl_audit_reports.html import history_html

            return history_html(history)
    from sgl_audit.cli.output import on_terminal
    from sgl_audit_reports.terminal import render_history

    return on_terminal(lambda c: render_history(history, c), target.path, color)
