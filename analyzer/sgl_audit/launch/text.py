"""Reading what a user hands over: bounded, decoded, and shown in messages without surprises."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from sgl_audit.errors import UsageError

LAUNCH_FILE_LIMIT = 8 * 2**20
_SHOWN_LENGTH = 80
_LINE_SHOWN_LENGTH = 200


def shown(text: object, limit: int = _SHOWN_LENGTH) -> str:
    """Text of a user as part of a one-line message: control characters escaped, cut when long."""
    plain = str(text)
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in plain)
    return safe if len(safe) <= limit else f"{safe[: limit - 3]}..."


def shown_path(path: Path | str) -> str:
    """A path as part of a message."""
    return shown(path, _LINE_SHOWN_LENGTH)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` Did you mean X?` for the nearest known name, else an empty text."""
    near = difflib.get_close_matches(name[:_SHOWN_LENGTH], list(known), 1)
    return f"; did you mean {near[0]}?" if near else ""


def read_bounded(path: Path, limit: int, what: str) -> bytes:
    """The bytes of a regular file of at most `limit` bytes.

    Raises:
        UsageError: the file is missing, unreadable, no regular file, or larger than `limit`.
    """
    # O_NONBLOCK: opening a FIFO for reading would otherwise wait for a writer for ever.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        descriptor = os.open(path, flags)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{what} {shown_path(path)} cannot be read ({_reason(error)}); check the path."
        ) from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UsageError(f"{what} {shown_path(path)} is no regular file; give a plain file.")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise UsageError(
            f"{what} {shown_path(path)} cannot be read ({_reason(error)}); check the file."
        ) from None
    finally:
        os.close(descriptor)
    if len(data) > limit:
        raise UsageError(
            f"{what} {shown_path(path)} is larger than {_size(limit)}, the most that sgl-audit "
            f"reads of one; give a smaller file."
        )
    return data


def decode(data: bytes, origin: str) -> str:
    """UTF-8 text with one kind of line ending and no byte order mark.

    Raises:
        UsageError: the bytes are no UTF-8, or hold NUL.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{origin} is no UTF-8 text (line {line}, byte {error.start}); save it as UTF-8."
        ) from None
    return clean(text, origin)


def clean(text: str, origin: str) -> str:
    """Text with `\\n` as its only line ending.

    Raises:
        UsageError: the text holds NUL, which no argument and no path can.
    """
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise UsageError(
            f"{origin} holds a NUL byte (line {line}) and so is no launch line; give a text file."
        )
    return text.replace("\r\n", "\n")


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else shown(error)


def _size(limit: int) -> str:
    return f"{limit // 2**20} MB" if limit >= 2**20 else f"{limit // 2**10} kB"
