"""Advisories: facts that source cannot tell, kept as one TOML file each."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from sgl_audit.errors import UsageError
from sgl_audit.kernels.advisory_match import matching
from sgl_audit.kernels.advisory_schema import parse_advisory
from sgl_audit.model.kernels import Advisory
from sgl_audit.model.source import Diagnostic

__all__ = ["load_advisories", "matching"]

_MAX_FILE_BYTES = 65536
_MAX_FILES = 5000


def load_advisories(extra_dir: Path | None) -> tuple[tuple[Advisory, ...], tuple[Diagnostic, ...]]:
    """Read the packaged advisories and those of a user's folder, sorted by id.

    A wrong file becomes one diagnostic and the others go on. A user's file with the id of a
    packaged one replaces it, which is how a fact is corrected without a new release.

    Raises:
        UsageError: `extra_dir` is not a folder that can be read.
    """
    by_id: dict[str, Advisory] = {}
    diagnostics: list[Diagnostic] = []
    for stem, origin, content in (*_packaged(), *_in_folder(extra_dir)):
        try:
            advisory = _parse(content, stem, origin)
        except UsageError as error:
            diagnostics.append(Diagnostic(f"advisory {origin} is not used: {error}."))
        else:
            by_id[advisory.id] = advisory
    return tuple(by_id[key] for key in sorted(by_id)), tuple(diagnostics)


def _packaged() -> Iterator[tuple[str, str, bytes]]:
    folder = files("sgl_audit").joinpath("advisories")
    for item in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if item.name.endswith(".toml"):
            yield item.name.removesuffix(".toml"), item.name, item.read_bytes()


def _in_folder(folder: Path | None) -> Iterator[tuple[str, str, bytes]]:
    if folder is None:
        return
    if not folder.is_dir():
        raise UsageError(
            f"--advisories {folder}: no such folder. Give one that holds *.toml files."
        )
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".toml")
    except OSError as error:
        raise UsageError(f"--advisories {folder}: cannot be read ({error.strerror}).") from error
    if len(paths) > _MAX_FILES:
        raise UsageError(
            f"--advisories {folder}: it holds {len(paths)} files, more than the {_MAX_FILES} that "
            "are read. Give a folder with advisories only."
        )
    for path in paths:
        yield path.stem, str(path), _content(path)


def _content(path: Path) -> bytes:
    """At most one byte over the limit; empty where the file cannot be read, which is then said."""
    try:
        with path.open("rb") as stream:
            return stream.read(_MAX_FILE_BYTES + 1)
    except OSError:
        return b""


def _parse(content: bytes, stem: str, origin: str) -> Advisory:
    if not content:
        raise UsageError("it is empty or cannot be read; fill it or remove it")
    if len(content) > _MAX_FILE_BYTES:
        raise UsageError(f"it is over {_MAX_FILE_BYTES} bytes; one file holds one fact")
    try:
        table = tomllib.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"it is no readable TOML ({error})") from error
    return parse_advisory(table, stem, origin)
