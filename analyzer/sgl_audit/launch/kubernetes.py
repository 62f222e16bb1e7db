"""Kubernetes manifests to launch lines.

Source of the rules: the Kubernetes API reference, Container v1 (command, args, env and `$(VAR)`
references). Any kind of object is read: what counts is its lists named `containers`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sgl_audit.launch.plain import text_of
from sgl_audit.launch.program import Inner, find_start
from sgl_audit.launch.scope import Field, Unresolved
from sgl_audit.launch.script import Context, Found, read_fields
from sgl_audit.launch.structured import Document
from sgl_audit.launch.text import shown

_REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_][-._A-Za-z0-9]*)\)")


def read_kubernetes(document: Document, context: Context) -> Found:
    """The server starts among the containers of one manifest document.

    Raises:
        UsageError: a launch uses a value that the manifest does not tell.
    """
    found = Found()
    for path, container in containers(document.data):
        label = ".".join([*path, str(container.get("name", ""))]).strip(".")
        here = replace(context, name=label, line=document.line(container))
        part = _read_container(container, here)
        found.lines.extend(part.lines)
        found.others.extend(part.others)
    return found


def containers(
    data: object, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Mapping[object, object]]]:
    """Every container below a value, with the names of the objects that hold it."""
    if isinstance(data, Mapping):
        metadata = data.get("metadata")
        if isinstance(metadata, Mapping) and isinstance(metadata.get("name"), str):
            path = (*path, str(metadata["name"]))
        for key, value in data.items():
            if key == "containers" and isinstance(value, list):
                yield from ((path, item) for item in value if isinstance(item, Mapping))
            elif key != "initContainers":
                yield from containers(value, path)
    elif isinstance(data, list):
        for item in data:
            yield from containers(item, path)


def _read_container(container: Mapping[object, object], context: Context) -> Found:
    environment = _environment(container.get("env"), context)
    texts = [
        text_of(item, f"{context.origin}, {key} of {shown(context.name)}")
        for key in ("command", "args")
        for item in _items(container.get(key))
    ]
    fields = [Field(_known_only(text, environment, context)) for text in texts]
    if not isinstance(find_start(fields), Inner):
        fields = [_referenced(text, environment, context) for text in texts]
    bare = "sglang" in str(container.get("image", ""))
    found = read_fields(fields, context, environment.items(), bare=bare)
    if container.get("envFrom"):
        note = "the variables of the container's envFrom are not known here."
        found.lines = [replace(line, notes=(*line.notes, note)) for line in found.lines]
    return found


def _items(value: object) -> Sequence[object]:
    if value is None:
        return ()
    return value if isinstance(value, list) else (value,)


def _environment(value: object, context: Context) -> dict[str, Field]:
    environment: dict[str, Field] = {}
    for item in _items(value):
        if not isinstance(item, Mapping) or "name" not in item:
            continue
        name = str(item["name"])
        where = f"{context.origin}, env {shown(name)} of {shown(context.name)}"
        if "valueFrom" not in item:
            text = text_of(item.get("value"), where)
            environment[name] = _referenced(text, environment, context)
        elif name in context.given:
            environment[name] = Field(context.given[name])
        else:
            why = "comes from valueFrom, which only the cluster knows"
            environment[name] = Field("", Unresolved(f"$({name})", why, name))
    return environment


def _known_only(text: str, environment: Mapping[str, Field], context: Context) -> str:
    """Text for a shell: an unknown `$(NAME)` stays, and there means a command to run."""

    def value(match: re.Match[str]) -> str:
        if match[1] is None:
            return "$"
        field = environment.get(match[1])
        if field is None and match[1] in context.given:
            return context.given[match[1]]
        return match[0] if field is None or field.unresolved else field.text

    return _REFERENCE.sub(value, text)


def _referenced(text: str, environment: Mapping[str, Field], context: Context) -> Field:
    """Text for a program.

    A cluster would leave an unknown `$(NAME)` as typed. Such names are in practice those that it
    injects (LWS_WORKER_INDEX), so they are unresolved rather than literal text.
    """
    unresolved: list[Unresolved] = []

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return "$"
        why = "is set nowhere in this manifest"
        missing = Field("", Unresolved(match[0], why, name))
        given = context.given.get(name)
        field = environment.get(name, missing if given is None else Field(given))
        unresolved.extend([field.unresolved] if field.unresolved else [])
        return field.text

    replaced = _REFERENCE.sub(value, text)
    return Field(replaced, unresolved[0] if unresolved else None)
