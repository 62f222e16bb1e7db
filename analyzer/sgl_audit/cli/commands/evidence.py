"""`sgl-audit evidence list|show|check`: the runs that are kept."""

from __future__ import annotations

from pathlib import Path

import click

from sgl_audit.cli import options

FORMS = ("terminal", "json", "html")


@click.group("evidence", short_help="Runs of the actual server: list, show, check.")
def command() -> None:
    """Look at the runs that `sgl-audit probe` keeps, one JSON file and one log each."""


@command.command("list", short_help="One line a run.")
@options.evidence_folder_option
@options.color_option
def list_runs(evidence: Path, color: str) -> None:
    """List the runs of the folder, oldest first."""
    from sgl_audit.cli import output
    from sgl_audit.cli.stderr import say
    from sgl_audit.probe.store import read_folder
    from sgl_audit_reports.terminal import render_list

    kept, unread = read_folder(evidence)
    for item in unread:
        say(f"{item.path} is not read: {item.reason}")
    found = [item.evidence for item in kept]
    target = output.Target("terminal", output.STDOUT)
    text = output.on_terminal(lambda c: render_list(found, c), target.path, color)
    output.write((target,), lambda _: text)


@command.command("show", short_help="Everything about a run.")
@click.argument("run", required=False)
@options.evidence_folder_option
@options.format_option(*FORMS)
@options.output_option
@click.option("--all", "everything", is_flag=True, help="Every value that was compared.")
@options.color_option
def show_run(
    run: str | None,
    evidence: Path,
    form: str | None,
    outputs: tuple[str, ...],
    everything: bool,
    color: str,
) -> None:
    """Show one run: its id, the beginning of one, or a file. Without RUN it is the last one."""
    from sgl_audit.cli import output
    from sgl_audit.cli.probing.keeping import one_run, render

    found = one_run(run, evidence)
    targets = output.targets(form, outputs, FORMS)
    output.write(targets, lambda target: render((found,), target, color, everything=everything))


@command.command("check", short_help="Whether every record is sound.")
@options.evidence_folder_option
def check_runs(evidence: Path) -> int:
    """Check that every file of the folder is evidence of a known format and that its log is what
    it was when the run ended.

    Exit code: 0 all sound, 1 something is not.
    """
    from sgl_audit.cli.probing.keeping import check

    return check(evidence)
