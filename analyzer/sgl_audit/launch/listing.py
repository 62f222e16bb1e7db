"""A list of launches in YAML or JSON: `[{name, command|argv, environment, model_config, arch}]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sgl_audit.errors import UsageError
from sgl_audit.launch.line import LaunchLine, no_launch
from sgl_audit.launch.plain import pairs_of, text_of, texts_of
from sgl_audit.launch.scope import Field
from sgl_audit.launch.script import Context, Found, read_fields, read_script
from sgl_audit.launch.structured import Document
from sgl_audit.launch.text import did_you_mean, shown

_KEYS = ("name", "id", "command", "argv", "environment", "env", "model_config", "arch")


def read_listing(document: Document, items: list[object], context: Context) -> Found:
    """The launches of a list, in order.

    Raises:
        UsageError: an entry has an unknown key, a value of the wrong kind, or no server start.
    """
    found = Found()
    for index, item in enumerate(items):
        where = f"{context.origin}, launch {index + 1}"
        if not isinstance(item, Mapping):
            raise UsageError(f"{where} is {shown(item, 40)}, not a mapping; write name and argv.")
        here = replace(
            context,
            origin=where,
            name=str(item.get("name", item.get("id", index + 1))),
            line=document.line(item),
        )
        found.lines.extend(_read_entry(item, here))
    return found


def _read_entry(entry: Mapping[object, object], context: Context) -> list[LaunchLine]:
    for key in entry:
        if key not in _KEYS:
            near = did_you_mean(str(key), _KEYS) or f"; known are {', '.join(_KEYS)}."
            raise UsageError(f"{context.origin} has the unknown key {shown(key)}{near}")
    environment = [
        (name, Field(text))
        for name, text in pairs_of(
            entry.get("environment", entry.get("env")), f"{context.origin}: environment"
        )
    ]
    command = entry.get("command", entry.get("argv"))
    if isinstance(command, str):
        found = read_script(command, context, environment, first_line=context.line or 1)
    else:
        texts = texts_of(command, f"{context.origin}: command or argv")
        found = read_fields([Field(text) for text in texts], context, environment, bare=True)
    if not found.lines:
        raise no_launch(context.origin, found.others)
    return [_with_extras(line, entry, context.origin) for line in found.lines]


def _with_extras(line: LaunchLine, entry: Mapping[object, object], where: str) -> LaunchLine:
    extras = {
        key: text_of(entry[key], f"{where}: {key}")
        for key in ("model_config", "arch")
        if entry.get(key) is not None
    }
    return replace(line, model_config=extras.get("model_config"), arch=extras.get("arch"))
