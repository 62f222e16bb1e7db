"""`sgl-audit probe -- LAUNCH...`: start the actual server and see whether the answer is right."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from sgl_audit.cli import options
from sgl_audit.cli.parsing import LaunchCommand

FORMS = ("terminal", "json", "html")
PLANS = ("terminal", "json", "github", "slurm")


@click.command("probe", cls=LaunchCommand, short_help="Start the actual server, and judge it.")
@click.option(
    "--python",
    default=sys.executable,
    show_default="this one",
    metavar="PY",
    envvar="SGL_AUDIT_PYTHON",
    help="Interpreter that has SGLang.",
)
@click.option("--arch", default="auto", show_default=True, help="Capability of the GPU here.")
@click.option("--device", type=click.Choice(["cuda", "cpu"]), help="What the server runs on.")
@click.option(
    "--launch-file",
    type=click.Path(path_type=Path),
    help="Script, compose file, Kubernetes manifest or list with the launch.",
)
@click.option("--name", metavar="NAME", help="Which launch of --launch-file.")
@options.evidence_folder_option
@click.option(
    "--prompts",
    type=click.Path(path_type=Path),
    help="Prompts of your own with expected answers, YAML or JSON.",
)
@click.option("--vary", multiple=True, metavar="NAME=a,b", help="Values to try. Repeatable.")
@click.option("--vary-all", is_flag=True, help="Try every value of every kernel backend.")
@click.option(
    "--until",
    type=click.Choice(["first-pass", "all"]),
    default="all",
    show_default=True,
    help="When a matrix is done.",
)
@click.option("--try-refused", is_flag=True, help="Also start what is predicted to be refused.")
@click.option("--again", is_flag=True, help="Run also what the evidence holds already.")
@click.option("--plan", is_flag=True, help="Print what would be run, and start nothing.")
@click.option("--shard", metavar="I/N", help="Only every N-th combination, from the I-th on.")
@click.option("--url", metavar="URL", help="Judge a server that already runs.")
@click.option("--allow-remote", is_flag=True, help="Send prompts to another machine.")
@click.option(
    "--deadline",
    "deadlines",
    multiple=True,
    metavar="PHASE=S",
    help="Seconds for start, load, warm-up, smoke, measure or stop. Repeatable.",
)
@click.option(
    "--silence",
    type=click.FloatRange(min=1),
    default=600.0,
    show_default=True,
    metavar="S",
    help="Seconds without log line and CPU time after which it hangs.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 256),
    default=8,
    show_default=True,
    metavar="N",
    help="Requests at once in the measurement.",
)
@click.option("--no-speed", is_flag=True, help="Measure no throughput.")
@click.option(
    "--slow-below",
    type=click.FloatRange(min=0),
    metavar="T",
    help="Tokens a second, alone, below which it counts as slow.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["terminal", "json", "html", "github", "slurm"]),
    help="Form of the report, or of the plan (github, slurm).",
)
@options.output_option
@click.option("--no-progress", is_flag=True, help="Lines instead of a live display.")
@options.color_option
def command(
    python: str,
    arch: str,
    device: str | None,
    launch_file: Path | None,
    name: str | None,
    evidence: Path,
    prompts: Path | None,
    vary: tuple[str, ...],
    vary_all: bool,
    until: str,
    try_refused: bool,
    again: bool,
    plan: bool,
    shard: str | None,
    url: str | None,
    allow_remote: bool,
    deadlines: tuple[str, ...],
    silence: float,
    concurrency: int,
    no_speed: bool,
    slow_below: float | None,
    form: str | None,
    outputs: tuple[str, ...],
    no_progress: bool,
    color: str,
    launch: tuple[str, ...],
) -> int:
    """Start the actual server with a launch, ask it, judge what it answers, and stop it; what it
    showed is laid beside what `resolve` predicts, and kept as evidence.

    \b
    sgl-audit probe --python venv/bin/python -- --model-path DIR --tp 8
    sgl-audit probe --vary moe_runner_backend=triton,flashinfer_cutlass -- --model-path DIR
    sgl-audit probe --url http://127.0.0.1:30000

    Exit code: 0 passed (in a matrix: at least one), 1 failed, 2 wrong usage, 3 interrupted.
    """
    from sgl_audit.cli.probing import command as probing
    from sgl_audit.cli.probing.asking import Words
    from sgl_audit.model.capability import parse_capability

    capability = None if arch == "auto" else parse_capability(arch)[0].name
    words = Words(
        python,
        launch,
        launch_file,
        name,
        capability,
        device,
        evidence,
        prompts,
        deadlines,
        silence,
        0 if no_speed else concurrency,
        slow_below,
    )
    wanted = probing.Wanted(vary, vary_all, until, try_refused, again, plan, shard)
    report = probing.Report(form, outputs, color, not no_progress)
    if url is not None:
        return probing.judge_running(url, allow_remote, words, wanted, report)
    return probing.probe(words, wanted, report)
