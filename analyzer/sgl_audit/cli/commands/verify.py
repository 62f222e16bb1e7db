"""`sgl-audit verify --python PY -- LAUNCH...`: SGLang's own resolver beside ours."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from sgl_audit.cli import options
from sgl_audit.cli.parsing import LaunchCommand

FORMS = ("terminal", "json")


@click.command("verify", cls=LaunchCommand, short_help="SGLang's own resolver beside the answer.")
@click.option(
    "--python",
    default=sys.executable,
    show_default="this one",
    metavar="PY",
    envvar="SGL_AUDIT_PYTHON",
    help="Interpreter that has SGLang.",
)
@click.option(
    "--fake", metavar="X", help="Capability or card to pretend, in place of the GPU here."
)
@click.option("--device", type=click.Choice(["cuda", "cpu"]), help="What the server would run on.")
@click.option(
    "--launch-file",
    type=click.Path(path_type=Path),
    help="Script, compose file, Kubernetes manifest or list with the launch.",
)
@click.option("--name", metavar="NAME", help="Which launch of --launch-file.")
@click.option(
    "--batch",
    type=click.Path(path_type=Path),
    help="Many launches, one JSON object a line; the arch of each is pretended.",
)
@options.format_option(*FORMS)
@options.output_option
def command(
    python: str,
    fake: str | None,
    device: str | None,
    launch_file: Path | None,
    name: str | None,
    batch: Path | None,
    form: str | None,
    outputs: tuple[str, ...],
    launch: tuple[str, ...],
) -> int:
    """Run SGLang's own argument parser and resolver (not the server) for a launch, and print where
    `resolve` says something else. What --fake pretends is in docs/verify.md.

    \b
    sgl-audit verify --python venv/bin/python --fake sm120 -- --model-path DIR --tp 8

    Exit code: 0 they agree, 1 they differ, 2 wrong usage, 3 SGLang's resolver cannot be run.
    """
    from sgl_audit.cli import output
    from sgl_audit.cli.probing import verifying
    from sgl_audit.cli.probing.differences import exit_code, render

    asked = verifying.Asked(python, fake, device, launch, launch_file, name, batch)
    targets = output.targets(form, outputs, FORMS)
    verified = verifying.verify(asked)
    output.write(targets, lambda target: render(verified, target))
    return exit_code(verified)
