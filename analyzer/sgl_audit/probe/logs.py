"""The server's log while it is written: lines as they come, and the marks that tell the phase."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from sgl_audit.model.evidence import Ground, LogFile

# Of one look. A log may be of any size; what is kept of it is not.
_MOST_BYTES = 64 << 20
_HALF = 100_000
_MOST_LINE = 8_000
# The line of the arguments is long in earnest.
_MOST_ARGUMENTS = 200_000
_SHOWN = 400
# Written after resolution and before the scheduler starts, in every release seen.
RESOLVED = re.compile(r"\bserver_args=(?:ServerArgs\(|\{)")
OPEN = re.compile(r"Uvicorn running on ")
READY = re.compile(r"The server is fired up and ready to roll")
_TIME = re.compile(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^\]]*\]\s*")


class Log:
    """A log file that grows. Lines are kept as text, without time stamps being touched."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: list[str] = []
        self._offset = 0
        self._rest = b""
        self._dropped = _HALF
        self._seen: dict[re.Pattern[str], tuple[int, int | None]] = {}

    def read(self) -> list[str]:
        """Read what came since; gives the new complete lines."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._offset)
                data = file.read(_MOST_BYTES)
        except FileNotFoundError:
            return []
        self._offset += len(data)
        *done, self._rest = (self._rest + data).split(b"\n")
        # A line that never ends is not kept in memory.
        self._rest = self._rest[:_MOST_ARGUMENTS]
        new = [_line(line) for line in done]
        self.lines += new
        # Of a log without end its beginning and its end are kept, and every line's number.
        last = len(self.lines) - _HALF
        if last > self._dropped:
            self.lines[self._dropped : last] = [""] * (last - self._dropped)
            self._dropped = last
        return new

    @property
    def size(self) -> int:
        """Bytes read so far: a progress bar grows without ending a line."""
        return self._offset

    def finish(self) -> None:
        """Take the rest as a line: nothing more will come."""
        self.read()
        if self._rest:
            self.lines.append(_line(self._rest))
            self._rest = b""

    def last(self) -> str:
        """The last line that says something, as a person reads it."""
        if self._rest.strip():
            return clean(self._rest.decode("utf-8", "replace"))
        return next((clean(line) for line in reversed(self.lines) if line.strip()), "")

    def find(self, pattern: re.Pattern[str], start: int = 0) -> int | None:
        """Index of the first line that matches."""
        indices = range(start, len(self.lines))
        return next((i for i in indices if pattern.search(self.lines[i])), None)

    def seen(self, pattern: re.Pattern[str]) -> int | None:
        """As `find`, for a log that grows: lines that were looked at are not looked at again."""
        start, found = self._seen.get(pattern, (0, None))
        if found is None:
            found = self.find(pattern, start)
            self._seen[pattern] = (len(self.lines), found)
        return found

    def ground(self, index: int) -> Ground:
        """One line as a ground."""
        return Ground("log", clip(self.lines[index]), index + 1)

    def tail(self, count: int = 12) -> tuple[Ground, ...]:
        """The last lines that say something."""
        said = [i for i, line in enumerate(self.lines) if line.strip()]
        return tuple(self.ground(i) for i in said[-count:])

    def file(self, base: Path) -> LogFile:
        """Name, size and hash of the file as it is now."""
        name = self.path.name if self.path.parent == base else str(self.path)
        try:
            return LogFile(name, self.path.stat().st_size, hash_of(self.path))
        except OSError:
            return LogFile(name)


def hash_of(path: Path) -> str:
    """SHA-256 of a file of any size.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _line(data: bytes) -> str:
    most = _MOST_ARGUMENTS if b"server_args=" in data[:_MOST_LINE] else _MOST_LINE
    return data[: 4 * most].decode("utf-8", "replace").rstrip("\r")[:most]


def clean(line: str) -> str:
    """A line for a display: the last state of a progress bar, no time stamp, no control codes."""
    text = line.rstrip().rpartition("\r")[2]
    text = _TIME.sub("", text)
    return "".join(c for c in text if c.isprintable())[:_SHOWN]


def clip(line: str) -> str:
    """A line for the record, without control codes and not endless."""
    text = "".join(c if c.isprintable() else " " for c in line.rstrip())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 4] + " ..."


def from_lines(lines: Sequence[str]) -> Log:
    """A log that is complete already."""
    log = Log(Path("log"))
    log.lines = list(lines)
    return log
