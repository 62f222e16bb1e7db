"""The folder in which answers are kept."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from sgl_audit.answers.packing import DamagedError, pack, unpack
from sgl_audit.source.cache import cache_root
from sgl_audit.source.regular import read_regular

FOLDER = Path("results", "answers")
SUFFIX = ".answer"
STAGING = ".answer-"
_STAGED = ".part"
MOST_BYTES = 256_000_000
# Larger than any answer: the audit of the largest release on every capability has 4 MB.
_MOST_OF_ONE = 64_000_000

_Answer = TypeVar("_Answer")


class AnswerStore:
    """Answers by their keys. It only saves time: what it cannot read or write is worked out.

    Several processes may use one folder at once: an answer appears whole, in one step.
    """

    def __init__(self, root: Path | None, *, most_bytes: int = MOST_BYTES) -> None:
        self._folder = cache_root(root) / FOLDER
        self._most = most_bytes

    def once(self, key: str, kind: type[_Answer], make: Callable[[], _Answer]) -> _Answer:
        """The kept answer to a question, else the one that is made now."""
        known = self.find(key, kind)
        if known is not None:
            return known
        made = make()
        self.keep(key, made)
        return made

    def find(self, key: str, kind: type[_Answer]) -> _Answer | None:
        """The kept answer, or None."""
        path = self._path(key)
        try:
            found: Any = unpack(read_regular(path, _MOST_OF_ONE))
        except (OSError, DamagedError):
            return None
        if not isinstance(found, kind):
            return None
        with contextlib.suppress(OSError):
            # The oldest go first; this one is of use.
            os.utime(path)
        return found

    def keep(self, key: str, answer: object) -> None:
        """Keep an answer, and let the oldest go where there is too much."""
        data = pack(answer)
        if len(data) > _MOST_OF_ONE:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            self._make_room(len(data))
            self._write(self._path(key), data)

    def _write(self, path: Path, data: bytes) -> None:
        descriptor, name = tempfile.mkstemp(_STAGED, STAGING, self._folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise

    def _make_room(self, wanted: int) -> None:
        with os.scandir(self._folder) as entries:
            # --cache-dir may name a folder that holds other things too.
            own = [entry for entry in entries if entry.name.endswith((SUFFIX, _STAGED))]
            found = [(item.stat().st_mtime_ns, item.stat().st_size, item.path) for item in own]
        total = wanted + sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if total <= self._most:
                return
            with contextlib.suppress(OSError):
                Path(path).unlink()
                total -= size

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}{SUFFIX}"
