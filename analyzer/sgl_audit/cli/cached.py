"""What the cache folder holds, and emptying it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from sgl_audit.answers import store as answers
from sgl_audit.errors import UsageError
from sgl_audit.source.cache import STAGING, WHEELS

_RESULTS = ("facts", "results")
# Results are named by the hash of what they were made from.
_RESULT = r"[0-9a-f]{32,128}\.[a-z]{2,8}"
_UNFINISHED = re.escape(answers.STAGING) + r"[a-z0-9_]{8}\.part"
_OWN_RESULT = re.compile(f"{_RESULT}|{_UNFINISHED}")
_STAGED = re.compile(re.escape(STAGING) + r"[a-z0-9_]{8}")


def describe(root: Path) -> list[str]:
    """The folder, the size of what is ours in it, and one line for each release."""
    sizes: dict[str, int] = {}
    for path in _ours(root):
        part = "/".join(path.relative_to(root).parts[:-1][: 3 if path.suffix == ".whl" else 1])
        sizes[part] = sizes.get(part, 0) + path.lstat().st_size
    lines = [f"{root}: {sum(sizes.values()) / 1e6:.1f} MB"]
    return lines + [f"  {size / 1e6:8.1f} MB  {part}" for part, size in sorted(sizes.items())]


def clear(root: Path) -> int:
    """Remove what we put there, by its name, and folders that are empty then.

    --cache-dir may name a folder that holds other things too, under the same names as ours; and
    links lead out of it.

    Returns:
        The bytes removed.

    Raises:
        UsageError: something cannot be removed.
    """
    removed = 0
    # Ours are listed first: removing while listing would hide some.
    for path in list(_ours(root)):
        size = path.lstat().st_size
        try:
            path.unlink()
            _remove_empty(path.parent, root)
        except OSError as error:
            raise UsageError(
                f"{path} cannot be removed ({error.strerror}); check that it is yours"
            ) from error
        removed += size
    return removed


def _remove_empty(folder: Path, root: Path) -> None:
    while folder != root and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _ours(root: Path) -> Iterator[Path]:
    """Every file in it that bears the name of one that we write where we write it."""
    for name in _folders(root / WHEELS):
        for release in _folders(name):
            if _STAGED.fullmatch(release.name):
                yield from (path for path in _files(release) if path.suffix in {".whl", ".tmp"})
            else:
                yield from (p for p in _files(release) if _is_wheel(p, name.name, release.name))
    for kind in _RESULTS:
        for folder in (root / kind, *_folders(root / kind)):
            yield from (path for path in _files(folder) if _OWN_RESULT.fullmatch(path.name))


def _is_wheel(path: Path, name: str, version: str) -> bool:
    try:
        own_name, own_version, _, _ = parse_wheel_filename(path.name)
    except InvalidWheelFilename:
        return False
    return own_name == name and str(own_version) == version


def _folders(folder: Path) -> list[Path]:
    return [Path(entry) for entry in _entries(folder) if entry.is_dir(follow_symlinks=False)]


def _files(folder: Path) -> list[Path]:
    return [Path(entry) for entry in _entries(folder) if entry.is_file(follow_symlinks=False)]


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    if folder.is_symlink():
        return []
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        # Not there, no folder, or not ours to read: nothing of ours either way.
        return []
