"""Launch lines in every form that people have them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from sgl_audit.errors import UsageError
from sgl_audit.launch.compose import read_compose
from sgl_audit.launch.kubernetes import containers, read_kubernetes
from sgl_audit.launch.line import LaunchLine, no_launch
from sgl_audit.launch.listing import read_listing
from sgl_audit.launch.scope import Field
from sgl_audit.launch.script import Context, Found, read_fields, read_script
from sgl_audit.launch.structured import Document, load_json, load_yaml_texts
from sgl_audit.launch.text import LAUNCH_FILE_LIMIT, clean, decode, read_bounded, shown_path

_COMMENTS = re.compile(r"(?:[^\S\n]*(?:#[^\n]*)?\n)*")
_YAML_HEAD = re.compile(r"\s*(?:---|%YAML|- *\{|(?:- +)?[A-Za-z][\w.-]*\s*:(?:\s|$))")
_JSON_HEAD = re.compile(r"\s*(?:\{\s*\"|\[\s*\{)")
_SUFFIXES = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".sh": "shell", ".bash": "shell"}


class LaunchForm(StrEnum):
    """How a launch text is written."""

    SHELL = "shell"
    YAML = "yaml"
    JSON = "json"


def parse_launch_lines(
    given: str | Sequence[str],
    *,
    origin: str = "the launch line",
    form: LaunchForm | None = None,
    variables: Mapping[str, str] | None = None,
) -> tuple[LaunchLine, ...]:
    """Every server start in a text, or the one in an argument list.

    Args:
        given: shell text, compose file, Kubernetes manifest or list of launches; or arguments that
            a shell has split already, with or without the program.
        origin: how messages name the text.
        form: how the text is written, where the caller knows.
        variables: values for variables that the text refers to and does not set.

    Raises:
        UsageError: no server is started, the text is broken, or a launch uses a value that the
            text does not tell.
    """
    context = Context(origin, variables or {})
    if not isinstance(given, str):
        found = _read_arguments(list(given), context)
    else:
        text = clean(given, origin)
        form = form or _form_of(text)
        if form is LaunchForm.SHELL:
            found = read_script(text, context)
        else:
            found = _read_documents(_documents(text, form, origin), context)
    if not found.lines:
        raise no_launch(origin, found.others)
    return tuple(found.lines)


def read_launch_file(
    path: Path, *, variables: Mapping[str, str] | None = None
) -> tuple[LaunchLine, ...]:
    """Every server start in a file; its form is told by the suffix, else by the content.

    Raises:
        UsageError: the file cannot be read, is larger than 8 MB, is no UTF-8, or as for
            `parse_launch_lines`.
    """
    origin = shown_path(path)
    text = decode(read_bounded(path, LAUNCH_FILE_LIMIT, "launch file"), origin)
    suffix = _SUFFIXES.get(path.suffix.lower())
    form = LaunchForm(suffix) if suffix else None
    return parse_launch_lines(text, origin=origin, form=form, variables=variables)


def _read_arguments(arguments: list[str], context: Context) -> Found:
    for argument in arguments:
        clean(argument, context.origin)
    if len(arguments) == 1 and re.search(r"\s", arguments[0]):
        return read_script(arguments[0], context)
    return read_fields([Field(argument) for argument in arguments], context, bare=True)


def _form_of(text: str) -> LaunchForm:
    start = _COMMENTS.match(text)
    position = start.end() if start else 0
    if text.startswith("#!"):
        return LaunchForm.SHELL
    if _JSON_HEAD.match(text, position):
        return LaunchForm.JSON
    return LaunchForm.YAML if _YAML_HEAD.match(text, position) else LaunchForm.SHELL


def _documents(text: str, form: LaunchForm, origin: str) -> list[Document]:
    if form is LaunchForm.JSON:
        return [Document(load_json(text, origin), {})]
    return load_yaml_texts(text, origin)


def _read_documents(documents: list[Document], context: Context) -> Found:
    found = Found()
    for document in documents:
        part = _read_document(document, context)
        found.lines.extend(part.lines)
        found.others.extend(part.others)
    return found


def _read_document(document: Document, context: Context) -> Found:
    data = document.data
    if isinstance(data, list):
        kubernetes = next(containers(data), None) is not None
        return (
            read_kubernetes(document, context)
            if kubernetes
            else read_listing(document, data, context)
        )
    if not isinstance(data, dict):
        return Found()
    services, launches = data.get("services"), data.get("launches")
    if isinstance(services, dict):
        return read_compose(document, services, context)
    if isinstance(launches, list):
        return read_listing(document, launches, context)
    if "argv" in data or ("command" in data and "containers" not in data):
        return read_listing(document, [data], context)
    if "model-path" in data or "model_path" in data:
        raise UsageError(
            f"{context.origin} looks like a file for SGLang's own --config; give it as "
            f"`-- --config {context.origin}`."
        )
    return read_kubernetes(document, context)
