"""`sgl-audit explain SGA101`: one rule, with examples."""

from __future__ import annotations

import click

from sgl_audit.cli import options


@click.command("explain", short_help="One rule explained, with examples.")
@click.argument("rule")
@options.color_option
def command(rule: str, color: str) -> None:
    """Explain RULE, for example SGA101."""
    from sgl_audit.cli import output
    from sgl_audit.cli.choosing import suggestion
    from sgl_audit.errors import UsageError
    from sgl_audit.rules import all_rules
    from sgl_audit_reports.terminal import render_explain

    docs = {doc.id: doc for doc in all_rules()}
    wanted = rule.strip().upper()
    wanted = f"SGA{wanted}" if wanted.isdigit() else wanted
    if wanted not in docs:
        hint = suggestion(rule, docs) or "; `sgl-audit rules` lists them."
        raise UsageError(f"there is no rule {rule!r}{hint}")
    target = output.Target(output.TERMINAL, output.STDOUT)
    output.write(
        (target,),
        lambda one: output.on_terminal(lambda c: render_explain(docs[wanted], c), one.path, color),
    )
