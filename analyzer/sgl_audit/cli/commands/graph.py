"""`sgl-audit graph SOURCE`: capabilities, gates, decisions, options and choices as a graph."""

from __future__ import annotations

from pathlib import Path

import click

from sgl_audit.cli import options

FORMS = ("json", "dot", "graphml", "mermaid")


@click.command("graph", short_help="Options, gates, decisions and refusals as a graph.")
@options.source_argument
@options.arch_option
@options.option_option
@options.format_option(*FORMS)
@options.output_option
@options.opening_options
@options.working_options
def command(
    source: str | None,
    archs: tuple[tuple[tuple[str, str | None], ...], ...],
    options: tuple[str, ...],
    form: str | None,
    outputs: tuple[str, ...],
    offline: bool,
    cache_dir: Path | None,
    jobs: int,
    no_progress: bool,
) -> int:
    """Write the graph of SOURCE: capabilities, gates, decisions, rejections, options, choices,
    enum members, variables and dispatch sites, with conditions and places on the edges."""
    from sgl_audit.cli import choosing, output
    from sgl_audit.cli.reading import read
    from sgl_audit.cli.stderr import Feedback
    from sgl_audit.cli.unread import completeness
    from sgl_audit.graph import build_graph, export_graph
    from sgl_audit.model.capability import ALL_CAPABILITIES

    targets = output.targets(form, outputs, FORMS, FORMS[0])
    capabilities = choosing.names_of(choosing.chosen(archs)) or ALL_CAPABILITIES
    with Feedback(bar=not no_progress) as feedback:
        _, facts = read(source, archs, choosing.Opening(offline, cache_dir), jobs, feedback)
    names = {option.name for option in facts.options}
    wanted = tuple(choosing.known_name(name, names, "option") for name in options)
    graph = build_graph(facts, capabilities=capabilities, options=wanted or None)
    output.write(targets, lambda target: _ended(export_graph(graph, target.form)))
    return completeness(facts.diagnostics)


def _ended(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"
