"""`sgl-audit resolve SOURCE --arch X -- LAUNCH...`: what one launch really ends up with."""

from __future__ import annotations

from pathlib import Path

import click

from sgl_audit.cli import options
from sgl_audit.cli.parsing import LaunchCommand


@click.command(
    "resolve", cls=LaunchCommand, short_help="What one launch ends up with, value by value."
)
@options.source_argument
@options.arch_or_cpu_option
@options.option_option
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
@click.option(
    "--batch", type=click.Path(path_type=Path), help="Many launches, one JSON object a line."
)
@options.format_option("terminal", "json", "jsonl", "html", "markdown")
@options.output_option
@click.option("--all", "everything", is_flag=True, help="Also values that nothing changed.")
@click.option(
    "--verdicts",
    is_flag=True,
    help="Follow the launch to the kernels it runs, and say of each whether it works.",
)
@options.knowledge_options
@click.option("--every", is_flag=True, help="Every server argument, not only of backends.")
@options.evidence_option
@options.transformers_option
@options.opening_options
@options.working_options
@options.color_option
def command(
    source: str | None,
    archs: tuple[tuple[tuple[str, str | None], ...], ...],
    options: tuple[str, ...],
    assumed: tuple[str, ...],
    model_config: str | None,
    model_arch: str | None,
    quantization_of: str | None,
    launch_file: Path | None,
    name: str | None,
    batch: Path | None,
    form: str | None,
    outputs: tuple[str, ...],
    everything: bool,
    verdicts: bool,
    flashinfer: str | None,
    advisories: Path | None,
    binaries: tuple[Path, ...],
    every: bool,
    evidence: Path | None,
    transformers: str | None,
    offline: bool,
    cache_dir: Path | None,
    jobs: int,
    no_progress: bool,
    color: str,
    launch: tuple[str, ...],
) -> int:
    """Resolve a launch of SOURCE on GPUs that need not be here: what each backend option becomes
    and why, or where the launch is refused.

    \b
    sgl-audit resolve sglang==0.5.23 --arch sm120 --arch b200 -- \\
        python -m sglang.launch_server --model-path DIR --quantization modelopt_fp4 --tp 8

    Several --arch make one table. Exit code: 0 accepted, 1 refused at once or once loading
    starts, 3 unknown; 0 for a batch.
    """
    from sgl_audit.cli import asking
    from sgl_audit.cli.choosing import Opening, chosen
    from sgl_audit.cli.models import Described
    from sgl_audit.cli.stderr import Feedback
    from sgl_audit.launch import parse_assumptions

    assume = parse_assumptions(assumed)
    opening = Opening(offline, cache_dir, transformers, flashinfer, advisories, binaries)
    described = Described(model_config, model_arch, quantization_of)
    with Feedback(bar=not no_progress) as feedback:
        if batch is not None:
            asking.check_batch(bool(launch or launch_file or described or archs), form)
            asked = asking.BatchQuestion(source, batch, assume, outputs, jobs)
            return asking.answer_batch(asked, opening, feedback)
        line = asking.read_line(launch, launch_file, name, assume, bool(described))
        question = asking.Question(
            source,
            line,
            chosen(archs),
            described,
            assume,
            options,
            everything,
            every,
            verdicts,
            evidence,
            typed=launch_file is None,
        )
        return asking.answer(question, opening, asking.Report(form, outputs, color), feedback)
