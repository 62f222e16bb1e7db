"""Where the analysed source lies in the repository that a reviewer looks at."""

from __future__ import annotations

from pathlib import Path

from sgl_audit.errors import SourceError
from sgl_audit.model.source import SourceInfo, SourceKind
from sgl_audit.source.gitref import split_git_spec
from sgl_audit.source.locate import find_package
from sgl_audit.source.wanted import Wanted


def base_in_repository(source: str | None, info: SourceInfo) -> str:
    """Path from the root of the repository around the current folder to the analysed package.

    It ends with a slash, or is empty: then the source is no part of that repository (a wheel, a
    release), or its package lies at the root.
    """
    folder = _folder(source, info)
    if folder is None:
        return ""
    try:
        package = find_package(folder, Wanted(info.package, info.distribution.name))
        relative = package.parent.relative_to(repository_root(Path.cwd()))
    except (SourceError, OSError, ValueError):
        return ""
    text = relative.as_posix()
    return "" if text == "." else f"{text}/"


def _folder(source: str | None, info: SourceInfo) -> Path | None:
    if source is None:
        return None
    if info.kind is SourceKind.GIT:
        parts = split_git_spec(source)
        return parts[0] if parts is not None else None
    return Path(source) if info.kind is SourceKind.CHECKOUT else None


def repository_root(folder: Path) -> Path:
    """The nearest folder upwards that is a git repository, else the folder itself."""
    resolved = folder.resolve()
    return next((p for p in (resolved, *resolved.parents) if (p / ".git").exists()), resolved)
