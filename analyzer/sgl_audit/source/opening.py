"""From the words of a user to a tree: which form of SOURCE is this?"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

from sgl_audit.errors import SourceError, UsageError
from sgl_audit.model.source import SourceTree
from sgl_audit.source.folder import open_folder
from sgl_audit.source.gitref import open_git, split_git_spec
from sgl_audit.source.installed import open_installed
from sgl_audit.source.names import shown
from sgl_audit.source.pypi import open_pypi
from sgl_audit.source.wanted import Wanted
from sgl_audit.source.wheel import open_wheel

_ARCHIVES = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar", ".zip")


def _to_stderr(message: str) -> None:
    print(f"sgl-audit: {message}", file=sys.stderr)


def open_source(
    spec: str | None,
    *,
    offline: bool = False,
    cache_dir: Path | None = None,
    package: str = "sglang",
    distribution: str = "sglang",
    notify: Callable[[str], None] = _to_stderr,
) -> SourceTree:
    """Open a SOURCE as one read-only tree of bytes. Nothing of it is imported or extracted.

    Args:
        spec: a checkout (repository root, its `python/`, the package folder), an unpacked wheel,
            a wheel file, `NAME==VERSION`, `DIR@GITREF`, or None for what is installed here and,
            where nothing is, the bundled demonstration tree.
        offline: never fetch; releases come from the cache only.
        cache_dir: folder for fetched wheels; SGL_AUDIT_CACHE_DIR or the user's cache otherwise.
        package: import name of the package to open.
        distribution: its name on PyPI.
        notify: receives one line for the user before a download or a fallback.

    Raises:
        UsageError: the words name nothing that can be a SOURCE.
        SourceError: the SOURCE cannot be opened or is not what it should be.
    """
    wanted = Wanted(package, distribution)
    try:
        if spec is None:
            return open_installed(wanted, notify)
        local = _open_local(spec, wanted)
        if local is not None:
            return local
        return open_pypi(spec, wanted, offline=offline, cache_dir=cache_dir, notify=notify)
    except OSError as error:
        raise SourceError(
            f"{shown(spec or distribution)} cannot be read ({shown(error.strerror or error)}); "
            "check that it exists and that you may read it."
        ) from error


def _open_local(spec: str, wanted: Wanted) -> SourceTree | None:
    """A tree from a path or `DIR@GITREF`, or None for words that are neither."""
    status = _status(spec)
    if status is not None:
        return _open_path(Path(spec), status, wanted)
    git = split_git_spec(spec)
    if git is not None:
        return open_git(*git, wanted)
    _refuse_missing_file(spec)
    return None


def _status(spec: str) -> os.stat_result | None:
    """What lies at that path, or None where nothing does."""
    if not spec.strip() or "\0" in spec:
        raise UsageError(
            f"'{shown(spec)}' is no SOURCE; give a checkout, a wheel file, NAME==VERSION or "
            "DIR@GITREF."
        )
    try:
        return Path(spec).stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        # A long requirement or one with odd characters is no path, which is no error yet.
        if isinstance(error, PermissionError):
            raise
        return None


def _open_path(path: Path, status: os.stat_result, wanted: Wanted) -> SourceTree:
    if stat.S_ISDIR(status.st_mode):
        return open_folder(path, wanted)
    if not stat.S_ISREG(status.st_mode):
        raise SourceError(
            f"{shown(path)} is neither a file nor a folder; give a checkout, a wheel file or "
            f"{wanted.distribution}==VERSION."
        )
    name = path.name.lower()
    if name.endswith(".whl"):
        return open_wheel(path, wanted)
    if name.endswith(_ARCHIVES):
        raise SourceError(
            f"{shown(path)} is a source archive, which is not read; unpack it and give the folder, "
            "or give a wheel file."
        )
    raise SourceError(
        f"{shown(path)} is not a wheel; give a checkout folder, a file that ends in .whl or "
        f"{wanted.distribution}==VERSION."
    )


def _refuse_missing_file(spec: str) -> None:
    if spec.lower().endswith((".whl", *_ARCHIVES)) or spec.startswith(("/", "./", "../", "~")):
        raise SourceError(
            f"{shown(spec)} does not exist; give an existing folder or wheel file, NAME==VERSION "
            "or DIR@GITREF."
        )
