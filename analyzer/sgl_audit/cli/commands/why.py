"""`sgl-audit why SOURCE --arch X OPTION=VALUE`: which launches reach a value there, or why none."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from sgl_audit.cli import options
from sgl_audit.cli.parsing import AssumingCommand


@click.command(
    "why",
    cls=AssumingCommand,  # A flag is a name here, not an option of ours.
    context_settings={"ignore_unknown_options": True},
    short_help="Which launches reach OPTION=VALUE.",
)
@click.argument("words", nargs=-1, required=True, metavar="[SOURCE] OPTION=VALUE")
@options.arch_option
@options.assume_option
@click.option("--no-families", is_flag=True, help="Do not resolve the model families.")
@options.transformers_option
@options.opening_options
@options.working_options
@click.option("--details", "--all", "details", is_flag=True, help="Every place, with its source.")
@options.color_option
def command(
    words: tuple[str, ...],
    archs: tuple[tuple[tuple[str, str | None], ...], ...],
    assumed: tuple[str, ...],
    no_families: bool,
    transformers: str | None,
    offline: bool,
    cache_dir: Path | None,
    jobs: int,
    no_progress: bool,
    details: bool,
    color: str,
) -> int:
    """Tell which launches make OPTION become VALUE on each capability: by flag, by default, by a
    decision of the tree (conditions, smallest first), and which model families end up with it
    with nothing set; or why none does. Exit code:
    0 where one does, 1 where none does, 3 where that is not known."""
    from sgl_audit.audit.own import server_facts
    from sgl_audit.cli import choosing, output
    from sgl_audit.cli.pages.subject import Subject
    from sgl_audit.cli.reading import read_facts
    from sgl_audit.cli.reverse import families_with, reverse_page, wanted
    from sgl_audit.cli.stderr import Feedback
    from sgl_audit.cli.unread import unread
    from sgl_audit.launch import parse_assumptions
    from sgl_audit_reports.terminal import render_show

    source, text = choosing.source_and(words, "OPTION=VALUE")
    assume = parse_assumptions(assumed)
    opening = choosing.Opening(offline, cache_dir, transformers)
    with Feedback(bar=not no_progress) as feedback:
        tree = choosing.open_tree(source, opening, feedback)
        pairs = choosing.chosen_or_local(archs, feedback)
        facts = server_facts(tree, read_facts(tree, (pairs,), cache_dir, jobs, feedback))
        names = choosing.names_of(pairs)
        option, value = wanted(facts, text)
        found = (
            None
            if no_families
            else families_with(
                tree,
                facts,
                names,
                option,
                value,
                libraries=choosing.open_beside(tree, opening, feedback)[0],
                assume=assume,
                jobs=jobs,
                progress=feedback.progress("resolving families"),
            )
        )
    pages = [
        reverse_page(Subject(tree, facts, (name,), True, details), option, value, found)
        for name in names
    ]
    target = output.Target(output.TERMINAL, output.STDOUT)
    output.write(
        (target,),
        lambda one: "\n".join(
            output.on_terminal(partial(render_show, page, details=details), one.path, color)
            for page, _ in pages
        ),
    )
    # What a file that was not read says might reach it.
    unknown = None if unread(facts.diagnostics) else False
    return exit_code([unknown if reached is False else reached for _, reached in pages])


def exit_code(reached: list[bool | None]) -> int:
    """0 where something reaches the value, 3 where that is not known, 1 where nothing does."""
    from sgl_audit.errors import EXIT_CLEAN, EXIT_FINDINGS, EXIT_INCOMPLETE

    if True in reached:
        return EXIT_CLEAN
    return EXIT_INCOMPLETE if None in reached else EXIT_FINDINGS
