"""`sgl-audit check FILE...`: will the launches that are written there be refused?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sgl_audit.cli import options
from sgl_audit.cli.parsing import AssumingCommand

if TYPE_CHECKING:
    from sgl_audit.cli.output import Target
    from sgl_audit.model.checks import CheckReport

FORMS = ("terminal", "json", "markdown", "github", "junit")


@click.command(
    "check",
    cls=AssumingCommand,
    short_help="Your launches, at the file and line where they are written.",
)
@click.argument("launches", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE]...")
@click.option("--source", metavar="SOURCE", help="The SGLang that they are for.")
@options.arch_option
@options.format_option(*FORMS)
@options.output_option
@click.option(
    "--fail-on",
    type=click.Choice(["refused", "unknown", "never"]),
    default="refused",
    show_default=True,
    help="Exit with 1 where a launch is refused; with 3 also where one is unknown.",
)
@options.assume_option
@options.transformers_option
@options.opening_options
@options.working_options
@options.color_option
def command(
    launches: tuple[Path, ...],
    source: str | None,
    archs: tuple[tuple[tuple[str, str | None], ...], ...],
    form: str | None,
    outputs: tuple[str, ...],
    fail_on: str,
    assumed: tuple[str, ...],
    transformers: str | None,
    offline: bool,
    cache_dir: Path | None,
    jobs: int,
    no_progress: bool,
    color: str,
) -> int:
    """Check every server start in each FILE: a script, a compose file, a Kubernetes manifest or a
    list of launches. Each is resolved on each GPU; one that names its own `arch` on that alone.

    Files in which no server is started are passed over. Without FILE it is the `launches` of the
    settings.
    """
    from sgl_audit.cli import checking, output
    from sgl_audit.cli.choosing import Opening, chosen
    from sgl_audit.cli.stderr import Feedback
    from sgl_audit.launch import parse_assumptions

    targets = output.targets(form, outputs, FORMS)
    opening = Opening(offline, cache_dir, transformers)
    asked = checking.Asked(source, launches, chosen(archs), parse_assumptions(assumed))
    with Feedback(bar=not no_progress) as feedback:
        report = checking.check_launches(asked, opening, feedback)
    output.write(targets, lambda target: render(report, target, color))
    return checking.exit_code(report, fail_on)


def render(report: CheckReport, target: Target, color: str) -> str:
    """The report in the form of the target."""
    match target.form:
        case "json":
            from sgl_audit_reports.json.checks import checks_to_json

            return checks_to_json(report)
        case "markdown":
            from sgl_audit_reports.markdown.checks import checks_to_markdown

            return checks_to_markdown(report)
        case "github":
            from sgl_audit_reports.ci.launches import checks_to_annotations

            return checks_to_annotations(report)
        case "junit":
            from sgl_audit_reports.ci.launches import checks_to_junit

            return checks_to_junit(report)
    from sgl_audit.cli.output import on_terminal
    from sgl_audit_reports.terminal.checks import render_checks

    return on_terminal(lambda c: render_checks(report, c), target.path, color)
