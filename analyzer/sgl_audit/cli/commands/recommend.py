"""`sgl-audit recommend SOURCE --arch X -- LAUNCH...`: the flags for which everything works."""

from __future__ import annotations

from pathlib import Path

import click

from sgl_audit.cli import options
from sgl_audit.cli.parsing import LaunchCommand


@click.command(
    "recommend", cls=LaunchCommand, short_help="The flags to add so that a launch works."
)
@options.source_argument
@options.arch_option
@options.assume_option
@click.option("--model-config", metavar="PATH", help="Model folder or config.json to read.")
@click.option("--model-arch", metavar="NAME", help="Architecture, where there is no file.")
@click.option("--quantization-of", metavar="NAME", help="NVFP4, FP8 ... with --model-arch.")
@click.option(
    "--launch-file",
    type=click.Path(path_type=Path),
    help="Script, compose file, Kubernetes manifest or list with the launch.",
)
@click.option("--name", metavar="NAME", help="Which launch of --launch-file.")
@options.evidence_option
@options.knowledge_options
@options.format_option("terminal", "json", "html", "markdown")
@options.output_option
@options.transformers_option
@options.opening_options
@click.option("--no-progress", is_flag=True, help="No progress bar on stderr.")
@options.color_option
def command(
    source: str | None,
    archs: tuple[tuple[tuple[str, str | None], ...], ...],
    assumed: tuple[str, ...],
    model_config: str | None,
    model_arch: str | None,
    quantization_of: str | None,
    launch_file: Path | None,
    name: str | None,
    evidence: Path | None,
    flashinfer: str | None,
    advisories: Path | None,
    binaries: tuple[Path, ...],
    form: str | None,
    outputs: tuple[str, ...],
    transformers: str | None,
    offline: bool,
    cache_dir: Path | None,
    no_progress: bool,
    color: str,
    launch: tuple[str, ...],
) -> int:
    """The smallest change of flags for which a launch of SOURCE works on a GPU, or the best there
    is: one line to copy, with the reason and the cost of each flag. Every proposal is resolved by
    SOURCE's own code before it is made.

    \b
    sgl-audit recommend sglang==0.5.9 --arch sm120 -- \\
        python -m sglang.launch_server --model-path DIR --tp 8

    Exit code: 0 everything works with these flags, 1 something does not even so, 3 something is
    unknown.
    """
    from sgl_audit.cli import recommending
    from sgl_audit.cli.asking import Report
    from sgl_audit.cli.choosing import Opening, chosen
    from sgl_audit.cli.launching import read_line
    from sgl_audit.cli.models import Described
    from sgl_audit.cli.stderr import Feedback
    from sgl_audit.launch import parse_assumptions

    assume = parse_assumptions(assumed)
    described = Described(model_config, model_arch, quantization_of)
    with Feedback(bar=not no_progress) as feedback:
        line = read_line(launch, launch_file, name, assume, bool(described))
        wanted = recommending.Wanted(source, line, chosen(archs), described, assume, evidence)
        opening = Opening(offline, cache_dir, transformers, flashinfer, advisories, binaries)
        return recommending.answer(wanted, opening, Report(form, outputs, color), feedback)
