"""Somebody's launches out of a file, each with its model and its capabilities."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sgl_audit.cli.choosing import Pair
from sgl_audit.cli.launching import Assumptions, archs_of, launches, notes_of, server_arguments
from sgl_audit.cli.models import Described, find
from sgl_audit.cli.resolving import BatchModels
from sgl_audit.errors import UsageError
from sgl_audit.launch import (
    LaunchLine,
    parse_launch_lines,
    read_batch,
    read_launch_file,
)
from sgl_audit.launch.text import LAUNCH_FILE_LIMIT, decode, read_bounded, shown_path
from sgl_audit.review.launches import Asked

_BARE = re.compile(r"^[ \t]*--[a-z]", re.MULTILINE)
_ENVIRONMENT = "env."


def read_team(
    path: Path, pairs: Sequence[Pair], assume: Assumptions, folder: Path
) -> tuple[Asked, ...]:
    """The launches of a file: a list, a script, a compose file, a batch, or a line for each.

    Args:
        pairs: capabilities for launches that name none.
        folder: an empty folder of ours, for model files under other names.

    Raises:
        UsageError: the file holds no launch, or one that cannot be read.
    """
    if path.suffix.lower() == ".jsonl":
        return tuple(_batch(path, assume))
    return tuple(_named_apart(list(_lines(path, pairs, assume, folder))))


def _batch(path: Path, assume: Assumptions) -> Iterator[Asked]:
    models = BatchModels()
    for launch in read_batch(path):
        yield Asked(models.prepared(launch, assume))


def _lines(path: Path, pairs: Sequence[Pair], assume: Assumptions, folder: Path) -> Iterator[Asked]:
    for number, line in enumerate(_launch_lines(path, assume)):
        place = folder / str(number)
        place.mkdir()
        described = Described(config=line.model_config)
        model = find(server_arguments(line), described, place)
        # What stands in the file speaks of that launch; --arch speaks of the rest.
        where = archs_of((), line) or tuple(pairs)
        if not where:
            raise UsageError(
                f"{shown_path(path)}: launch {line.name or number + 1} names no GPU; give --arch, "
                "or arch beside it"
            )
        for launch in launches(line, model, described, where, assume):
            named = replace(launch, id=line.name or f"launch {number + 1}")
            yield Asked(named, line.program, notes_of(line, model))


def _launch_lines(path: Path, assume: Assumptions) -> tuple[LaunchLine, ...]:
    variables = {
        key.removeprefix(_ENVIRONMENT): value
        for key, value in assume
        if key.startswith(_ENVIRONMENT)
    }
    if path.suffix.lower() not in (".yaml", ".yml", ".json", ".sh", ".bash"):
        origin = shown_path(path)
        text = decode(read_bounded(path, LAUNCH_FILE_LIMIT, "launch file"), origin)
        if _BARE.search(text) and not re.search(r"launch_server|sglang serve", text):
            return tuple(_bare_lines(text, origin, variables))
    return read_launch_file(path, variables=variables)


def _bare_lines(text: str, origin: str, variables: dict[str, str]) -> Iterator[LaunchLine]:
    """Lines that hold the server's arguments alone."""
    joined = text.replace("\\\n", " ")
    for number, line in enumerate(joined.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        where = f"{origin}, line {number}"
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            raise UsageError(f"{where} has a quote that is never closed; close it") from None
        for found in parse_launch_lines(words, origin=where, variables=variables):
            yield replace(found, name=found.name or f"line {number}")


def _named_apart(asked: list[Asked]) -> Iterator[Asked]:
    """The launches with names that tell them apart."""
    seen: dict[tuple[str, str], int] = {}
    for item in asked:
        key = (item.launch.id, item.launch.capability)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            name = f"{item.launch.id} ({seen[key]})"
            item = replace(item, launch=replace(item.launch, id=name))
        yield item
