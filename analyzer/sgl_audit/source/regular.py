"""Reading regular files from disk without following links and without ever blocking."""

from __future__ import annotations

import os
import stat
from pathlib import Path

# The flags that a platform lacks protect against things it lacks as well.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def read_regular(path: Path, limit: int) -> bytes:
    """Up to `limit` + 1 bytes of the file; one byte over the limit shows that it is too large.

    Raises:
        OSError: not readable, a symbolic link, or not a regular file.
    """
    descriptor = os.open(path, _FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "not a regular file")
        return file.read(limit + 1)


def read_optional(path: Path, limit: int) -> bytes | None:
    """The bytes of a regular file of at most `limit` bytes, or None for anything else."""
    try:
        data = read_regular(path, limit)
    except OSError:
        return None
    return data if len(data) <= limit else None
