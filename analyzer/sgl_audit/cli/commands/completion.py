"""`sgl-audit completion bash|zsh|fish`: the script that completes commands and options."""

from __future__ import annotations

import click


@click.command("completion", short_help="The completion script of a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script for SHELL.

    \b
    bash: eval "$(sgl-audit completion bash)"
    zsh:  eval "$(sgl-audit completion zsh)"
    fish: sgl-audit completion fish | source
    """
    from click.shell_completion import get_completion_class

    from sgl_audit.cli.root import root

    cls = get_completion_class(shell)
    if cls is None:
        raise click.UsageError(f"no completion is known for {shell}")
    # The class's own source() first runs the shell to ask its version, which nothing here needs.
    maker = cls(root, {}, "sgl-audit", "_SGL_AUDIT_COMPLETE")
    click.echo(maker.source_template % maker.source_vars())
