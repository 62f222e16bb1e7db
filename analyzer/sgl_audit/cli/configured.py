"""The configuration file behind a command: its values are the command's defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from sgl_audit.model.settings import Settings

NONE = "none"
_META = "sgl_audit.settings"
# Key of the file -> parameter of a command, where a command has it.
_PARAMETERS = {
    "source": "source",
    "arch": "archs",
    "transformers": "transformers",
    "flashinfer": "flashinfer",
    "fail-on": "fail_on",
    "diff.fail-on": "fail_on",
    "offline": "offline",
    "cache-dir": "cache_dir",
    "baseline": "baseline",
    "advisories": "advisories",
    "evidence": "evidence",
    "launches": "launches",
}
# Two commands have a --fail-on with words of their own, some of them the same.
_OF_ONE_COMMAND = {"fail-on": "audit", "diff.fail-on": "diff"}


def load(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
    """Read the file that `--config` names, else the nearest one, and take its values.

    An eager callback: what other parameters are when they are not given is known after it.
    """
    if ctx.resilient_parsing:
        return
    from sgl_audit.model.settings import NO_SETTINGS
    from sgl_audit.settings.reading import find_settings, read_settings

    if value == NONE:
        settings = NO_SETTINGS
    else:
        settings = read_settings(Path(value)) if value else find_settings(Path.cwd())
    ctx.meta[_META] = settings
    ctx.default_map = {**(ctx.default_map or {}), **dict(_defaults(settings, ctx.command))}


def current() -> Settings:
    """The settings of the command that runs; none outside of a command."""
    from sgl_audit.model.settings import NO_SETTINGS

    ctx = click.get_current_context(silent=True)
    found: Settings = ctx.meta.get(_META, NO_SETTINGS) if ctx is not None else NO_SETTINGS
    return found


def configured_source() -> str | None:
    """The SOURCE of the settings, for commands whose words do not tell it."""
    value = current().value("source")
    return value if isinstance(value, str) else None


def _defaults(settings: Settings, command: click.Command) -> Iterator[tuple[str, Any]]:
    parameters = {item.name: item for item in command.params}
    for key, value in settings.values:
        name = _PARAMETERS.get(key)
        parameter = parameters.get(name) if name is not None else None
        if parameter is not None and _OF_ONE_COMMAND.get(key, command.name) == command.name:
            yield parameter.name or "", _shaped(parameter, key, value, settings.origin)


def _shaped(
    parameter: click.Parameter, key: str, value: str | tuple[str, ...], origin: str
) -> str | tuple[str, ...] | Callable[[], str]:
    if parameter.multiple or parameter.nargs == -1:
        return (value,) if isinstance(value, str) else value
    if isinstance(value, str):
        return value
    if len(value) == 1:
        return value[0]

    def too_many() -> str:
        # Called only where the command line names none.
        from sgl_audit.errors import UsageError

        raise UsageError(f"{origin}: this command takes one of {key}; name it on the command line")

    return too_many


def with_configured(
    ctx: click.Context, parameter: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...]:
    """Assumptions of the file before those of the command line, which win name by name."""
    configured = current().value("assume")
    if not configured or ctx.resilient_parsing:
        return value
    from sgl_audit.launch.assume import parse_assumptions

    given = dict(parse_assumptions(value))
    kept = [item for item in configured if item.partition("=")[0] not in given]
    return (*kept, *value)
