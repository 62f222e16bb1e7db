"""The folder of fetched wheels, one sub-folder for each distribution and version."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from sgl_audit.errors import SourceError
from sgl_audit.source.names import shown

CACHE_VARIABLE = "SGL_AUDIT_CACHE_DIR"
WHEELS = "wheels"
STAGING = ".fetch-"


def cache_root(given: Path | None) -> Path:
    """The cache folder: the given one, else SGL_AUDIT_CACHE_DIR, else the user's cache."""
    if given is not None:
        return given
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_cache_dir("sgl-audit", appauthor=False))


class WheelCache:
    """Wheels of one exact release."""

    def __init__(self, root: Path, name: str, version: Version) -> None:
        self._name = name
        self._version = version
        self.folder = root / WHEELS / name / str(version)

    def find(self) -> Path | None:
        """The cached wheel, x86-64 before others, or None."""
        try:
            names = sorted(path.name for path in self.folder.glob("*.whl"))
        except OSError:
            return None
        mine = [name for name in names if self._is_mine(name)]
        mine.sort(key=lambda name: "aarch64" in name)
        return self.folder / mine[0] if mine else None

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """A private folder to download into, on the same file system, removed at the end.

        Raises:
            SourceError: the cache cannot be written.
        """
        try:
            # Beside the release's own folder, which a failed fetch then does not leave behind.
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            staging = Path(tempfile.mkdtemp(prefix=STAGING, dir=self.folder.parent))
        except OSError as error:
            raise SourceError(
                f"the cache folder {shown(self.folder)} cannot be written "
                f"({shown(error.strerror)}); set {CACHE_VARIABLE} to one that can."
            ) from error
        try:
            yield staging
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def store(self, staging: Path) -> Path | None:
        """Move the release's wheel out of `staging` in one step; None where it is not there."""
        for path in sorted(staging.glob("*.whl")):
            if self._is_mine(path.name):
                self.folder.mkdir(exist_ok=True)
                target = self.folder / path.name
                try:
                    path.replace(target)
                except OSError:
                    # Windows refuses while another process reads the copy that it put there.
                    if not target.is_file():
                        raise
                return target
        return None

    def _is_mine(self, filename: str) -> bool:
        try:
            name, version, _, _ = parse_wheel_filename(filename)
        except InvalidWheelFilename:
            return False
        return name == self._name and version == self._version
