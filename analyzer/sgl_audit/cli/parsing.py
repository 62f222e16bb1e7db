"""Commands that read more of their words than click does by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import click

SEPARATOR = "--"
_OF_A_LAUNCH = ("python", "python3", "sglang", "serve")
# The names are repeated here because the list itself lies behind imports that help does without.
_ASSUMPTION = re.compile(
    r"(?:cuda|cudnn|driver|torch|flashinfer|device_name|gpu_count|gpu_memory_mib"
    r"|env\.\w+|package\.[\w.-]+)=.*",
    re.DOTALL,
)


def spread_assumptions(words: Sequence[str]) -> Iterator[str]:
    """`--assume A=1 B=2` as `--assume A=1 --assume B=2`."""
    state = ""
    for word in words:
        if state == "more" and _ASSUMPTION.fullmatch(word):
            yield "--assume"
        elif word == "--assume":
            state = "first"
        else:
            state = "more" if state == "first" or word.startswith("--assume=") else ""
        yield word


class AssumingCommand(click.Command):
    """Takes several assumptions after one `--assume`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse."""
        return super().parse_args(ctx, list(spread_assumptions(args)))


class LaunchCommand(AssumingCommand):
    """Takes what follows `--` as the parameter `launch`, whatever it looks like."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what stands before `--`; keep the rest."""
        own, launch = list(args), []
        if SEPARATOR in own:
            index = own.index(SEPARATOR)
            own, launch = own[:index], own[index + 1 :]
        try:
            rest = super().parse_args(ctx, own)
        except click.UsageError as error:
            if SEPARATOR in args or not set(_OF_A_LAUNCH) & set(args):
                raise
            said = f"{error.format_message()} The launch must stand after {SEPARATOR}."
            raise click.UsageError(said, ctx) from error
        ctx.params["launch"] = tuple(launch)
        return rest

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The usual pieces, and the launch."""
        return [*super().collect_usage_pieces(ctx), "-- LAUNCH..."]
