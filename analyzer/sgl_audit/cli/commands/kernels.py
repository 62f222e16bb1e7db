"""`sgl-audit kernels`: where the kernels of libraries and binaries work."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sgl_audit.cli import options

if TYPE_CHECKING:
    from sgl_audit.cli.kernel_reports import KernelAnswer
    from sgl_audit.cli.output import Target

FORMS = ("terminal", "json")


@click.command("kernels", short_help="Which GPUs the kernels of a library or binary are for.")
@options.source_argument
@click.option(
    "--flashinfer", metavar="SOURCE", help="FlashInfer to read: a folder, wheel or release."
)
@click.option(
    "--binary",
    "binaries",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A wheel or shared object with GPU code (sgl-kernel). Repeatable.",
)
@options.arch_option
@options.format_option(*FORMS)
@options.output_option
@options.opening_options
@options.color_option
def command(
    source: str | None,
    flashinfer: str | None,
    binaries: tuple[Path, ...],
    archs: tuple[tuple[tuple[str, str | None], ...], ...],
    form: str | None,
    outputs: tuple[str, ...],
    offline: bool,
    cache_dir: Path | None,
    color: str,
) -> None:
    """Tell on which capabilities FlashInfer's functions work, as its own source says, and which
    device images a binary carries. FlashInfer is the release that SOURCE pins unless
    --flashinfer names another."""
    from sgl_audit.cli import choosing, output
    from sgl_audit.cli.kernel_reports import read_kernels
    from sgl_audit.cli.stderr import Feedback
    from sgl_audit.model.capability import ALL_CAPABILITIES

    targets = output.targets(form, outputs, FORMS)
    names = choosing.names_of(choosing.chosen(archs))
    opening = choosing.Opening(offline, cache_dir)
    with Feedback(bar=False) as feedback:
        answer = read_kernels(source, flashinfer, binaries, opening, feedback)
    asked = names or ALL_CAPABILITIES
    output.write(targets, lambda target: render(answer, asked, target, color))


def render(answer: KernelAnswer, asked: tuple[str, ...], target: Target, color: str) -> str:
    """The answer in the form of the target."""
    from sgl_audit.cli.kernel_reports import kernels_json, render_kernels

    if target.form == "json":
        from sgl_audit_reports.json import dump

        return dump(kernels_json(answer, asked)) + "\n"
    from sgl_audit.cli.output import on_terminal

    return on_terminal(lambda c: render_kernels(answer, asked, c), target.path, color)
