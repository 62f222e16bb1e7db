"""`--show-config`: the settings that hold, as a file would say them, each with its origin."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from typing import Any

import click
from click.core import ParameterSource

from sgl_audit.cli.configured import current
from sgl_audit.errors import EXIT_CLEAN
from sgl_audit.model.settings import Settings, Suppression
from sgl_audit_reports.output import write_stdout

_NAMES = {
    "source": "source",
    "archs": "arch",
    "fail_on": "fail-on",
    "baseline": "baseline",
    "transformers": "transformers",
    "flashinfer": "flashinfer",
    "advisories": "advisories",
    "evidence": "evidence",
    "launches": "launches",
    "offline": "offline",
    "cache_dir": "cache-dir",
}
_ORIGIN = {
    ParameterSource.COMMANDLINE: "command line",
    ParameterSource.ENVIRONMENT: "environment",
    ParameterSource.DEFAULT: "default",
}


def show_settings(ctx: click.Context) -> int:
    """Print what the command would work with; gives the exit code."""
    settings = current()
    write_stdout("\n".join([*_plain(ctx, settings), *_tables(ctx, settings)]) + "\n")
    return EXIT_CLEAN


def _plain(ctx: click.Context, settings: Settings) -> Iterator[str]:
    yield f"# read from {settings.origin}" if settings.origin else "# no configuration file"
    for name, key in _NAMES.items():
        if name not in ctx.params:
            continue
        source = ctx.get_parameter_source(name)
        origin = _ORIGIN.get(source, settings.origin) if source is not None else "default"
        value = _value(ctx.params[name])
        yield f"{key} = {value}  # {origin}" if value else f"# {key} is not set"


def _tables(ctx: click.Context, settings: Settings) -> Iterator[str]:
    yield from ("", "[assume]  # the file's, and in place of them the command line's")
    for item in ctx.params.get("assumed", ()):
        name, _, value = item.partition("=")
        yield f"{json.dumps(name)} = {json.dumps(value)}"
    if settings.rules:
        yield from ("", f"[rules]  # {settings.origin}")
        yield from (f"{json.dumps(rule)} = {json.dumps(how)}" for rule, how in settings.rules)
    for item in settings.suppressions:
        yield from _suppression(item)


def _suppression(item: Suppression) -> Iterator[str]:
    expired = item.expires is not None and item.expires < date.today()
    yield from ("", f"[[suppress]]  # {'expired, ' if expired else ''}{item.origin}")
    for key in ("reason", "rule", "fingerprint", "option", "value", "file"):
        value = getattr(item, key)
        if value is not None:
            yield f"{key} = {json.dumps(value)}"
    if item.arch:
        yield f"arch = {json.dumps(list(item.arch))}"
    if item.expires is not None:
        yield f"expires = {item.expires}"


def _value(value: Any) -> str:
    """The value as TOML, or "" where there is none."""
    if value in (None, (), ""):
        return ""
    if isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, tuple):
        return json.dumps([_word(item) for group in value for item in _flat(group)])
    return json.dumps(str(value))


def _flat(value: Any) -> tuple[Any, ...]:
    # `--arch` gives pairs of a capability and the card that it was named by.
    return value if isinstance(value, tuple) else (value,)


def _word(value: Any) -> str:
    return str(value[1] or value[0]) if isinstance(value, tuple) else str(value)
