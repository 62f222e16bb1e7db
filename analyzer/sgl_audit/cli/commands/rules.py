"""`sgl-audit rules`: what is looked for."""

from __future__ import annotations

import click

from sgl_audit.cli import options


@click.command("rules", short_help="The rules, one a line.")
@options.color_option
def command(color: str) -> None:
    """List the rules; `sgl-audit explain ID` explains one."""
    from sgl_audit.cli import output
    from sgl_audit.rules import all_rules
    from sgl_audit_reports.terminal import render_rules

    docs = tuple(all_rules())
    target = output.Target(output.TERMINAL, output.STDOUT)
    output.write(
        (target,), lambda one: output.on_terminal(lambda c: render_rules(docs, c), one.path, color)
    )
