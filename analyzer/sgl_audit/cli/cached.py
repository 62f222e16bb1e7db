"""What the cache folder holds, and emptying it."""

from __future__ import annotations

import shutil
from pathlib import Path

from sgl_audit.errors import UsageError

# Only folders that sgl-audit makes: --cache-dir may name one that holds other things too.
_OURS = ("wheels", "facts", "results")


def describe(root: Path) -> list[str]:
    """The folder, its size, and one line for each release in it."""
    lines = [f"{root}: {_size(root) / 1e6:.1f} MB"]
    lines += [f"  {_size(part) / 1e6:8.1f} MB  {part.relative_to(root)}" for part in _parts(root)]
    return lines


def clear(root: Path) -> int:
    """Remove our own folders in it; gives the bytes removed.

    Raises:
        UsageError: something cannot be removed.
    """
    removed = 0
    for name in _OURS:
        folder = root / name
        if folder.is_symlink() or not folder.is_dir():
            continue
        size = _size(folder)
        try:
            shutil.rmtree(folder)
        except OSError as error:
            raise UsageError(
                f"{folder} cannot be removed ({error.strerror}); check that it is yours"
            ) from error
        removed += size
    return removed


def _parts(root: Path) -> list[Path]:
    releases = sorted((root / "wheels").glob("*/*")) if (root / "wheels").is_dir() else []
    others = [root / name for name in _OURS[1:] if (root / name).is_dir()]
    return [*releases, *others]


def _size(folder: Path) -> int:
    if not folder.is_dir():
        return 0
    return sum(p.lstat().st_size for p in folder.rglob("*") if p.is_file() or p.is_symlink())
