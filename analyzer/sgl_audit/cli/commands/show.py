"""`sgl-audit show SOURCE NAME`: everything about one name."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from sgl_audit.cli import options


@click.command(
    "show",  # A flag is a name here, not an option of ours.
    context_settings={"ignore_unknown_options": True},
    short_help="Everything about an option, choice, gate, enum or variable.",
)
@click.argument("words", nargs=-1, required=True, metavar="[SOURCE] NAME")
@options.arch_option
@options.opening_options
@options.working_options
@click.option("--details", "--all", "details", is_flag=True, help="Every place, with its source.")
@options.color_option
def command(
    words: tuple[str, ...],
    archs: tuple[tuple[tuple[str, str | None], ...], ...],
    offline: bool,
    cache_dir: Path | None,
    jobs: int,
    no_progress: bool,
    details: bool,
    color: str,
) -> int:
    """Show everything about NAME, an option or flag, a choice, a gate, an enum, a choice list or
    an environment variable: where it is defined, who sets, reads and refuses it under which
    condition, and what each capability makes of it."""
    from sgl_audit.audit.own import server_facts
    from sgl_audit.cli import choosing, output
    from sgl_audit.cli.pages import find_pages
    from sgl_audit.cli.pages.subject import Subject
    from sgl_audit.cli.reading import read
    from sgl_audit.cli.stderr import Feedback
    from sgl_audit.cli.unread import completeness
    from sgl_audit.model.capability import ALL_CAPABILITIES
    from sgl_audit_reports.terminal import render_show

    source, name = choosing.source_and(words, "NAME")
    with Feedback(bar=not no_progress) as feedback:
        tree, facts = read(source, archs, choosing.Opening(offline, cache_dir), jobs, feedback)
    names = choosing.names_of(choosing.chosen(archs))
    facts = server_facts(tree, facts)
    pages = find_pages(Subject(tree, facts, names or ALL_CAPABILITIES, bool(names), details), name)
    target = output.Target(output.TERMINAL, output.STDOUT)
    output.write(
        (target,),
        lambda one: "\n".join(
            output.on_terminal(partial(render_show, page, details=details), one.path, color)
            for page in pages
        ),
    )
    return completeness(facts.diagnostics)
