"""`--fetch`: whether what a local SOURCE pins may be fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from sgl_audit.cli.options import Command

_META = "sgl_audit.fetch"


def fetch_option(command: Command) -> Command:
    """`--fetch`, kept with the command: whoever opens a source asks for it."""
    return click.option(
        "--fetch",
        is_flag=True,
        expose_value=False,
        callback=_keep,
        envvar="SGL_AUDIT_FETCH",
        help="Fetch what a local SOURCE pins (transformers, FlashInfer). "
        "[default: only for sglang==X]",
    )(command)


def asked_to_fetch() -> bool:
    """Whether the command that runs has `--fetch`."""
    ctx = click.get_current_context(silent=True)
    return bool(ctx is not None and ctx.meta.get(_META))


def _keep(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    ctx.meta[_META] = value
