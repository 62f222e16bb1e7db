"""Finding the configuration file and reading it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from sgl_audit.errors import UsageError
from sgl_audit.launch.text import decode, read_bounded, shown_path
from sgl_audit.model.settings import NO_SETTINGS, Settings
from sgl_audit.settings.checking import checked
from sgl_audit.settings.table import Table

OWN = "sgl-audit.toml"
PROJECT = "pyproject.toml"
SECTION = "sgl-audit"
_LIMIT = 2**20


def find_settings(folder: Path) -> Settings:
    """The settings of the nearest file upwards, at most to the root of the repository.

    In one folder `sgl-audit.toml` counts before `[tool.sgl-audit]` of `pyproject.toml`.

    Raises:
        UsageError: the file is there and something in it is wrong.
    """
    resolved = folder.resolve()
    for place in (resolved, *resolved.parents):
        own = place / OWN
        if own.is_file():
            return read_settings(own)
        if (place / PROJECT).is_file():
            found = _of_project(place / PROJECT)
            if found is not None:
                return found
        if (place / ".git").exists():
            break
    return NO_SETTINGS


def read_settings(path: Path) -> Settings:
    """The settings of one file; of a `pyproject.toml` its `[tool.sgl-audit]`.

    Raises:
        UsageError: the file cannot be read, or something in it is wrong.
    """
    if path.name == PROJECT:
        found = _of_project(path)
        if found is None:
            raise UsageError(f"{shown_path(path)} has no [tool.{SECTION}]; add it, or name a file.")
        return found
    return _checked(path, "", _parsed(path))


def _of_project(path: Path) -> Settings | None:
    tool = _parsed(path).get("tool")
    section = tool.get(SECTION) if isinstance(tool, dict) else None
    if section is None:
        for name in tool if isinstance(tool, dict) else ():
            # Settings that nobody reads would pass for settings that hold.
            if _letters(name) == _letters(SECTION):
                raise UsageError(
                    f"{shown_path(path)}: there is no section [tool.{name}]; "
                    f"did you mean [tool.{SECTION}]?"
                )
        return None
    if not isinstance(section, dict):
        raise UsageError(f"{shown_path(path)}: tool.{SECTION} is no table; write [tool.{SECTION}].")
    return _checked(path, f"tool.{SECTION}", section)


def _letters(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def _checked(path: Path, name: str, content: dict[str, Any]) -> Settings:
    return checked(Table(shown_path(path.name), name, content), path.resolve().parent)


def _parsed(path: Path) -> dict[str, Any]:
    text = decode(read_bounded(path, _LIMIT, "the configuration"), shown_path(path))
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{shown_path(path)} is no TOML: {error}; correct it.") from None
