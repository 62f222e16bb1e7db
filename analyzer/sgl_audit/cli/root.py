"""The command group: `sgl-audit` alone is `sgl-audit audit`."""

from __future__ import annotations

import difflib
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from click_default_group import DefaultGroup

from sgl_audit.errors import EXIT_CLEAN

COMMANDS = (
    "audit",
    "resolve",
    "check",
    "diff",
    "history",
    "recommend",
    "why",
    "families",
    "matrix",
    "show",
    "facts",
    "graph",
    "kernels",
    "probe",
    "verify",
    "evidence",
    "rules",
    "explain",
    "cache",
    "completion",
)
DEFAULT = "audit"
_LIKE_A_COMMAND = 0.75
_EVIDENCE = "--evidence"


class Commands(DefaultGroup):  # type: ignore[misc]
    """Commands in the order in which people meet them; a mistyped one is told from a SOURCE."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in order."""
        return list(COMMANDS)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; `--evidence DIR` may stand before the command too."""
        found: list[str] = super().parse_args(ctx, evidence_last(args))
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments begin with, else the default one."""
        first = args[0]
        if first not in COMMANDS and not first.startswith("-") and not Path(first).exists():
            near = difflib.get_close_matches(first, COMMANDS, 1, _LIKE_A_COMMAND)
            if near:
                raise click.UsageError(
                    f"'{first}' is no command and no SOURCE; did you mean {near[0]}?", ctx
                )
        found: tuple[str | None, click.Command | None, list[str]] = super().resolve_command(
            ctx, args
        )
        return found

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a reader that goes away ends it, without a complaint."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            from sgl_audit_reports.output import silence_stdout

            silence_stdout()
            return EXIT_CLEAN


def evidence_last(args: list[str]) -> list[str]:
    """`--evidence DIR COMMAND ...` as `COMMAND --evidence DIR ...`."""
    if args[:1] == [_EVIDENCE] and len(args) > 2 and args[2] in COMMANDS:
        return [args[2], *args[:2], *args[3:]]
    if args and args[0].startswith(f"{_EVIDENCE}=") and len(args) > 1 and args[1] in COMMANDS:
        return [args[1], args[0], *args[2:]]
    return args


def _version(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    from importlib.metadata import PackageNotFoundError, version

    from sgl_audit import __version__

    try:
        libcst = version("libcst")
    except PackageNotFoundError:
        libcst = "not installed"
    click.echo(f"sgl-audit {__version__} (libcst {libcst})")
    ctx.exit()


@click.group(
    cls=Commands,
    default=DEFAULT,
    default_if_no_args=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 nothing found (or accepted), 1 findings (or rejected), 2 wrong usage or "
    "input, 3 incomplete (or unknown).",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_version,
    help="Show the version and exit.",
)
def root() -> None:
    """What SGLang's backend configuration becomes on each GPU, read from its source.

    SOURCE is a checkout, a wheel file, a release such as sglang==0.5.23, or DIR@GITREF; without
    one it is the SGLang installed here.

    \b
    sgl-audit --arch sm120 sglang==0.5.23
    sgl-audit resolve sglang==0.5.23 --arch sm120 -- python -m sglang.launch_server ...
    """


def _add_commands() -> None:
    for name in COMMANDS:
        # Each is light: what it needs it imports when it runs.
        root.add_command(import_module(f"sgl_audit.cli.commands.{name}").command, name)


_add_commands()
