"""`sgl-audit cache info` and `sgl-audit cache clear`."""

from __future__ import annotations

from pathlib import Path

import click


@click.group(
    "cache",
    invoke_without_command=True,
    short_help="Where fetched releases and results are kept.",
)
@click.pass_context
def command(ctx: click.Context) -> None:
    """The folder in which fetched releases and results are kept."""
    if ctx.invoked_subcommand is None:
        raise click.UsageError("say what to do with the cache: info or clear.", ctx)


_folder = click.option(
    "--cache-dir",
    type=click.Path(file_okay=False, path_type=Path),
    envvar="SGL_AUDIT_CACHE_DIR",
    help="The folder, where it is not the usual one.",
)


@command.command("info")
@_folder
def info(cache_dir: Path | None) -> None:
    """Say where it is and what it holds."""
    from sgl_audit.cli.cached import describe
    from sgl_audit.source.cache import cache_root

    for line in describe(cache_root(cache_dir)):
        click.echo(line)


@command.command("clear")
@_folder
def clear(cache_dir: Path | None) -> None:
    """Delete what sgl-audit has put there, and nothing else."""
    from sgl_audit.cli.cached import clear as clear_folder
    from sgl_audit.source.cache import cache_root

    root = cache_root(cache_dir)
    size = clear_folder(root)
    click.echo(f"{root}: {size / 1e6:.1f} MB removed")
