"""What an unbuilt project says of itself: pyproject.toml and version literals in its source."""

from __future__ import annotations

import ast
import posixpath
import tomllib
from collections.abc import Callable
from typing import Any

from packaging.utils import canonicalize_name

from sgl_audit.model.source import Distribution, Pin
from sgl_audit.source.metadata import parse_requirements
from sgl_audit.source.names import Notes, shown
from sgl_audit.source.wanted import Wanted

# Reads one file by its path relative to the folder that holds the package; None where absent.
Fetch = Callable[[str], bytes | None]
# setuptools-scm writes _version.py, FlashInfer's build _build_meta.py.
_VERSION_FILES = ("version.py", "_version.py", "_build_meta.py", "__init__.py")
_VERSION_NAMES = ("__version__", "version")


def project_distribution(fetch: Fetch, wanted: Wanted, notes: Notes) -> Distribution:
    """Metadata of a checkout.

    The version is the one in `[project]`, else a literal in the package's own version files,
    else the file that `[tool.setuptools.dynamic]` names, else None: a version that only a build
    would compute is not guessed.
    """
    folder, table = _project_file(fetch, wanted, notes)
    project = _table(table, "project")
    version = project.get("version")
    if not isinstance(version, str):
        version = _literal_version(fetch, wanted) or _version_file(fetch, folder, table)
    return Distribution(
        name=wanted.normal_name, version=version, requires=_requirements(project, notes)
    )


def _project_file(fetch: Fetch, wanted: Wanted, notes: Notes) -> tuple[str, dict[str, Any]]:
    # A src/ layout keeps the file one folder above the one that holds the package.
    for folder in ("", ".."):
        path = posixpath.join(folder, "pyproject.toml")
        data = fetch(path)
        if data is None:
            continue
        try:
            table = tomllib.loads(data.decode("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            notes.add(f"{path} was not understood ({shown(error)}), so no pins are known.")
            continue
        name = _table(table, "project").get("name")
        if isinstance(name, str) and canonicalize_name(name) == wanted.normal_name:
            return folder, table
    return "", {}


def _table(table: dict[str, Any], *keys: str) -> dict[str, Any]:
    for key in keys:
        inner = table.get(key)
        table = inner if isinstance(inner, dict) else {}
    return table


def _requirements(project: dict[str, Any], notes: Notes) -> tuple[Pin, ...]:
    pins = parse_requirements(_strings(project.get("dependencies")), notes)
    for extra, lines in _table(project, "optional-dependencies").items():
        pins += parse_requirements(_strings(lines), notes, extra)
    return pins


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _literal_version(fetch: Fetch, wanted: Wanted) -> str | None:
    for file in _VERSION_FILES:
        data = fetch(f"{wanted.package}/{file}")
        version = None if data is None else version_literal(data)
        if version is not None:
            return version
    return None


def version_literal(data: bytes) -> str | None:
    """The string that a module's top level assigns to `__version__` or `version`, else None."""
    try:
        body = ast.parse(data).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for statement in body:
        match statement:
            case ast.Assign(targets=targets, value=ast.Constant(value=str(version))):
                names = [target.id for target in targets if isinstance(target, ast.Name)]
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=str(version))):
                names = [name]
            case _:
                continue
        if any(name in _VERSION_NAMES for name in names):
            return version
    return None


def _version_file(fetch: Fetch, folder: str, table: dict[str, Any]) -> str | None:
    file = _table(table, "tool", "setuptools", "dynamic", "version").get("file")
    path = file[0] if isinstance(file, list) and file else file
    if not isinstance(path, str) or path.startswith("/") or ".." in path.split("/"):
        return None
    data = fetch(posixpath.join(folder, path))
    text = "" if data is None else data.decode("utf-8", errors="replace").strip()
    return text if text and len(text.split()) == 1 else None
