"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sgl_audit.cli import configured, remembering
from sgl_audit.cli.fetching import fetch_option
from sgl_audit.errors import UsageError

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Command], Command]
# Each worker holds the parsed tree, so many of them cost memory before they bring speed.
MOST_JOBS = 8
ALL = "all"


if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:
    # Not subscriptable before click 8.2.
    _ParamType = click.ParamType


class ArchType(_ParamType):
    """A capability, a card, or `all`; several may stand in one value, with commas."""

    name = "arch"

    def __init__(self, *, host: bool = False) -> None:
        """Args: host: whether `cpu`, a machine without a GPU, is one too."""
        self.host = host

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[tuple[str, str | None], ...]:
        """(capability, card) pairs."""
        from sgl_audit.model.capability import CAPABILITIES, HOST, parse_capability

        if not isinstance(value, str):
            return tuple(value)
        found: list[tuple[str, str | None]] = []
        for text in value.split(","):
            if text.strip().lower() == ALL:
                found += [(capability.name, None) for capability in CAPABILITIES]
                continue
            if self.host and text.strip().lower() == HOST.name:
                found.append((HOST.name, None))
                continue
            try:
                capability, card = parse_capability(text)
            except UsageError as error:
                self.fail(str(error).removeprefix("--arch "), param, ctx)
            found.append((capability.name, card))
        return tuple(found)


def default_jobs() -> int:
    """One worker for each CPU that this process may use."""
    from sgl_audit.workers import usable_cpus

    return max(1, min(usable_cpus(), MOST_JOBS))


def source_argument(command: Command) -> Command:
    """`[SOURCE]`: without it, what is installed."""
    return click.argument("source", required=False, default=None)(command)


def arch_option(command: Command) -> Command:
    """`--arch`, repeatable."""
    return click.option(
        "--arch",
        "archs",
        type=ArchType(),
        multiple=True,
        envvar="SGL_AUDIT_ARCH",
        metavar="X",
        help="Capability or card: sm120, 12.0, rtx-5090, h100, gfx942 ..., or all. Repeatable.",
    )(command)


def arch_or_cpu_option(command: Command) -> Command:
    """`--arch` of a command that also knows a machine without a GPU."""
    return click.option(
        "--arch",
        "archs",
        type=ArchType(host=True),
        multiple=True,
        envvar="SGL_AUDIT_ARCH",
        metavar="X",
        help="Capability or card: sm120, 12.0, rtx-5090, h100, gfx942 ..., all, or cpu for a "
        "machine without a GPU. Repeatable.",
    )(command)


def option_option(command: Command) -> Command:
    """`--option`, repeatable."""
    return click.option(
        "--option", "options", multiple=True, metavar="NAME", help="Only this option. Repeatable."
    )(command)


def config_option(command: Command) -> Command:
    """`--config`, whose values are the defaults of the other parameters."""
    return click.option(
        "--config",
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        envvar="SGL_AUDIT_CONFIG",
        callback=configured.load,
        help="Settings to read, or none. [default: the nearest sgl-audit.toml or pyproject.toml]",
    )(command)


def opening_options(command: Command) -> Command:
    """How sources are opened, and the settings that say so."""
    offline = click.option(
        "--offline", is_flag=True, envvar="SGL_AUDIT_OFFLINE", help="Fetch nothing."
    )
    cache = click.option(
        "--cache-dir",
        type=click.Path(file_okay=False, path_type=Path),
        envvar="SGL_AUDIT_CACHE_DIR",
        help="Folder for what is fetched, and for answers.",
    )
    anew = click.option(
        "--no-cache",
        is_flag=True,
        expose_value=False,
        envvar="SGL_AUDIT_NO_CACHE",
        callback=remembering.anew,
        help="Work everything out anew, and keep nothing of it.",
    )
    return offline(fetch_option(cache(anew(config_option(command)))))


def baseline_options(command: Command) -> Command:
    """`--baseline` and `--write-baseline`."""
    file = click.Path(dir_okay=False, path_type=Path)
    read = click.option(
        "--baseline",
        type=file,
        envvar="SGL_AUDIT_BASELINE",
        metavar="FILE",
        help="Findings in FILE are known and do not count.",
    )
    write = click.option(
        "--write-baseline",
        type=file,
        metavar="FILE",
        help="Write the findings to FILE as known, and stop.",
    )
    return read(write(command))


def working_options(command: Command) -> Command:
    """How the work is done and shown."""
    jobs = click.option(
        "--jobs",
        type=click.IntRange(min=1),
        default=default_jobs,
        show_default="CPUs",
        envvar="SGL_AUDIT_JOBS",
        metavar="N",
        help="Worker processes, at most one for each CPU.",
    )
    quiet = click.option("--no-progress", is_flag=True, help="No progress bar on stderr.")
    return jobs(quiet(command))


def color_option(command: Command) -> Command:
    """`--color`."""
    return click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        envvar="SGL_AUDIT_COLOR",
        help="Colour in terminal reports.",
    )(command)


def assume_option(command: Command) -> Command:
    """`--assume`, repeatable."""
    return click.option(
        "--assume",
        "assumed",
        multiple=True,
        callback=configured.with_configured,
        metavar="K=V",
        help="Take as given: cuda=12.8, gpu_count=8, gpu_memory_mib=N, cudnn=V, flashinfer=none, "
        "package.NAME=V, env.NAME=V. Repeatable.",
    )(command)


def transformers_option(command: Command) -> Command:
    """`--transformers`."""
    return click.option(
        "--transformers",
        metavar="SOURCE",
        help="transformers to read beside SGLang: a wheel, a release, or none. "
        "[default: the pinned release]",
    )(command)


def knowledge_options(command: Command) -> Command:
    """What is known of kernel libraries."""
    flashinfer = click.option(
        "--flashinfer",
        metavar="SOURCE",
        help="FlashInfer to read: a folder, wheel, release, or none. [default: the pinned release]",
    )
    advisories = click.option(
        "--advisories",
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="Folder with advisories of your own.",
    )
    binaries = click.option(
        "--binary",
        "binaries",
        multiple=True,
        type=click.Path(path_type=Path),
        help="A wheel with prebuilt kernels (sgl-kernel) to read. Repeatable.",
    )
    return flashinfer(advisories(binaries(command)))


def format_option(*formats: str, default: str | None = None) -> Callable[[Command], Command]:
    """`--format`."""

    def decorate(command: Command) -> Command:
        return click.option(
            "--format",
            "form",
            type=click.Choice(formats),
            default=default,
            show_default=default or f"{formats[0]}, or as -o FILE is named",
            help="Form of the report.",
        )(command)

    return decorate


def output_option(command: Command) -> Command:
    """`-o`, repeatable."""
    return click.option(
        "-o",
        "--output",
        "outputs",
        multiple=True,
        metavar="FILE",
        help="Write to FILE in the form that its suffix names (.html .json .md .sarif .xml .csv); "
        "- is stdout, in the form of --format. Repeatable.",
    )(command)


def evidence_folder_option(command: Command) -> Command:
    """`--evidence` of a command that writes there."""
    return click.option(
        "--evidence",
        type=click.Path(file_okay=False, path_type=Path),
        default="sgl-audit-evidence",
        show_default=True,
        envvar="SGL_AUDIT_EVIDENCE",
        metavar="DIR",
        help="Folder for what the runs show.",
    )(command)


def evidence_option(command: Command) -> Command:
    """`--evidence` of a command that lays runs beside its answer."""
    return click.option(
        "--evidence",
        type=click.Path(file_okay=False, path_type=Path),
        default=None,
        envvar="SGL_AUDIT_EVIDENCE",
        metavar="DIR",
        help="Folder of runs (of sgl-audit probe) to lay beside the answer.",
    )(command)
