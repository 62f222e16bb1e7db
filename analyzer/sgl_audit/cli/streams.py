"""The three standard streams, of which a shell may have closed any (`>&-`)."""

from __future__ import annotations

import errno
import io
import os
import sys
from pathlib import Path
from typing import IO, TypeGuard

_NUMBERS = (0, 1, 2)
_NO_PLACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}


class ClosedStream(io.TextIOBase):
    """Stands for a stdout that is closed: what is written to it is an error, as in any program."""

    encoding = "utf-8"
    _lost = False

    def write(self, text: str, /) -> int:
        """Refuse.

        Raises:
            OSError: always, where there is anything to write.
        """
        if text:
            self._lost = True
            raise OSError(errno.EBADF, "stdout is closed")
        return 0

    def flush(self) -> None:
        """Refuse where something was lost.

        Raises:
            OSError: something was written before.
        """
        if self._lost:
            raise OSError(errno.EBADF, "stdout is closed")


def open_missing() -> None:
    """Put something in place of each closed stream.

    Else the next file that is opened gets its number, and what is meant for the screen.
    """
    for number in _NUMBERS:
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    # None is what Python itself puts in their places.
    if sys.stdin is None:
        sys.stdin = _nowhere("r")
    if sys.stdout is None:
        sys.stdout = ClosedStream()
    if sys.stderr is None:
        sys.stderr = _nowhere("w")


def _nowhere(mode: str) -> IO[str]:
    return Path(os.devnull).open(mode, encoding="utf-8")


def is_full(error: BaseException) -> TypeGuard[OSError]:
    """Whether it says that output finds no place: a full disk, a closed or broken stream.

    Files that are opened or moved are named in their errors; streams have no name.
    """
    return isinstance(error, OSError) and error.filename is None and error.errno in _NO_PLACE


def unwritable(stream: object) -> str | None:
    """Why what was written to stdout does not reach it, or None where it does."""
    try:
        stream.flush()  # type: ignore[attr-defined]
    except BrokenPipeError:
        # A reader that went away has what it wanted.
        return None
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    return None
