"""Compose files to launch lines.

Source of the rules: the Compose Specification, services (command, entrypoint, environment) and
interpolation.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import replace

from sgl_audit.errors import UsageError
from sgl_audit.launch.cursor import Cursor
from sgl_audit.launch.plain import text_of
from sgl_audit.launch.scope import Field, Scope, Unresolved
from sgl_audit.launch.script import Context, Found, read_fields
from sgl_audit.launch.structured import Document
from sgl_audit.launch.text import shown
from sgl_audit.launch.words import Literal, Part, Word

_INTERPOLATED = re.compile(r"\$\$|\$\{|\$[A-Za-z_]")


def read_compose(document: Document, services: Mapping[object, object], context: Context) -> Found:
    """The server starts among the services of a compose file.

    Raises:
        UsageError: a command cannot be split, or a launch uses a value that the file does not tell.
    """
    found = Found()
    for name, service in services.items():
        if isinstance(service, Mapping):
            here = replace(context, name=str(name), line=document.line(service))
            part = _read_service(service, here)
            found.lines.extend(part.lines)
            found.others.extend(part.others)
    return found


def _read_service(service: Mapping[object, object], context: Context) -> Found:
    environment = _environment(service.get("environment"), context)
    fields = [
        *_command(service.get("entrypoint"), context, "entrypoint"),
        *_command(service.get("command"), context, "command"),
    ]
    bare = "sglang" in str(service.get("image", ""))
    found = read_fields(fields, context, environment.items(), bare=bare)
    if service.get("env_file"):
        note = "the service's env_file was not read."
        found.lines = [replace(line, notes=(*line.notes, note)) for line in found.lines]
    return found


def _where(context: Context, key: str) -> str:
    return f"{context.origin}, {key} of service {shown(context.name)}"


def _command(value: object, context: Context, key: str) -> list[Field]:
    if value is None:
        return []
    where = _where(context, key)
    if isinstance(value, list):
        return [_interpolated(text_of(item, where), context) for item in value]
    try:
        # Compose splits the text like a shell does but lets no shell see it.
        words = shlex.split(text_of(value, where).replace("\\\n", " "))
    except ValueError:
        raise UsageError(f"{where} has a quote that is never closed; close it.") from None
    return [field for word in words for field in _interpolated_word(word, context)]


def _interpolated_word(word: str, context: Context) -> list[Field]:
    field = _interpolated(word, context)
    if field.unresolved is not None or field.text == word:
        return [field]
    # Compose interpolates before it splits: `${EXTRA_ARGS}` may be several arguments, or none.
    return [Field(text) for text in field.text.split()]


def _interpolated(text: str, context: Context) -> Field:
    if "$" not in text:
        return Field(text)
    parts: list[Part] = []
    cursor = Cursor(text, context.origin, context.line or 1)
    while match := _INTERPOLATED.search(text, cursor.position):
        parts.append(Literal(text[cursor.position : match.start()], quoted=True))
        cursor.position = match.start()
        if match.group() == "$$":
            parts.append(Literal("$", quoted=True))
            cursor.position = match.end()
        else:
            parts.append(cursor.expansion(quoted=True))
    parts.append(Literal(text[cursor.position :], quoted=True))
    value = Scope(context.given).joined(Word(tuple(parts), context.line or 1))
    return Field("", value) if isinstance(value, Unresolved) else Field(str(value))


def _environment(value: object, context: Context) -> dict[str, Field]:
    where = _where(context, "environment")
    pairs: dict[str, str | None] = {}
    if isinstance(value, Mapping):
        for name, item in value.items():
            pairs[str(name)] = None if item is None else text_of(item, where)
    elif isinstance(value, list):
        for item in value:
            name, equals, text = text_of(item, where).partition("=")
            pairs[name] = text if equals else None
    return {
        name: _passed(name, context) if text is None else _interpolated(text, context)
        for name, text in pairs.items()
    }


def _passed(name: str, context: Context) -> Field:
    if name in context.given:
        return Field(context.given[name])
    return Field("", Unresolved(f"${name}", "is taken from the caller's environment", name))
