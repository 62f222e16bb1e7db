"""The exception that ended a server, found among the tracebacks of its log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sgl_audit.probe.signatures import CHILD_GONE

_TRACE = re.compile(r"Traceback \(most recent call last\):")
_CHAINED = re.compile(
    r"^(?:During handling of the above exception|The above exception was the direct cause)"
)
_FRAME = re.compile(
    r'^\s*(?:\|\s*)?File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<name>\S+))?'
)
_RAISED = re.compile(
    r"^(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Warning|Fault|Found)?)"
    r"(?:: (?P<message>.*)|:?)$"
)
_LONGEST = 2000
_PACKAGE = re.compile(r"(?:^|/)(sglang/.*)$")


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a traceback, with the line of source that Python shows below it."""

    file: str
    line: int
    function: str
    source: str = ""

    @property
    def tree_path(self) -> str | None:
        """The file relative to the folder that holds the package, where it is SGLang's."""
        found = _PACKAGE.search(self.file.replace("\\", "/"))
        return found[1] if found else None


@dataclass(frozen=True, slots=True)
class Cause:
    """An exception with its frames, outermost first.

    Attributes:
        index: of the line in the log that names it.
        start: of the line with which its traceback begins.
        last: of the last line of its message.
    """

    type: str
    message: str
    frames: tuple[Frame, ...]
    index: int
    start: int
    last: int

    @property
    def name(self) -> str:
        """The class without its module."""
        return self.type.rpartition(".")[2]

    @property
    def text(self) -> str:
        """As Python prints it."""
        return f"{self.type}: {self.message}" if self.message else self.type

    @property
    def raised_by(self) -> Frame | None:
        """The innermost frame."""
        return self.frames[-1] if self.frames else None


def causes(lines: Sequence[str]) -> tuple[Cause, ...]:
    """Every exception that the log shows with a traceback, in order."""
    found = []
    index = 0
    while index < len(lines):
        if _TRACE.search(lines[index]):
            cause, index = _read(lines, index)
            if cause is not None:
                found.append(cause)
        else:
            index += 1
    return tuple(found)


def last_cause(lines: Sequence[str], since: int = 0) -> Cause | None:
    """The exception that ended the server, not looking at the lines before `since`.

    SGLang announces that a child process is gone; the last exception before the first such line
    is the cause, what comes after only follows from it. With no exception before it, the first
    one after it (an error of the launcher comes after that line).
    """
    found = [cause for cause in causes(lines) if cause.start >= since]
    if not found:
        return None
    later = range(since, len(lines))
    gone = next((i for i in later if CHILD_GONE.search(lines[i])), None)
    before = [cause for cause in found if gone is None or cause.index < gone]
    if before:
        return before[-1]
    return found[-1]


def _read(lines: Sequence[str], start: int) -> tuple[Cause | None, int]:
    frames: list[Frame] = []
    index = start + 1
    while index < len(lines):
        line = lines[index]
        if _TRACE.search(line):
            return None, index
        frame = _FRAME.match(line)
        if frame:
            frames.append(_frame(frame, lines, index))
            index += 1
            continue
        raised = _RAISED.match(line)
        if raised and not line.startswith(" "):
            message, last = _message(lines, index, raised["message"] or "")
            return Cause(raised["type"], message, tuple(frames), index, start, last), last + 1
        # Lines of another process may stand in between, but not for ever.
        if index - start > _LONGEST:
            return None, index
        index += 1
    return None, index


def _frame(found: re.Match[str], lines: Sequence[str], index: int) -> Frame:
    below = lines[index + 1].strip() if index + 1 < len(lines) else ""
    source = "" if _FRAME.match(below) else below
    return Frame(found["file"], int(found["line"]), found["name"] or "", source)


def _message(lines: Sequence[str], index: int, first: str) -> tuple[str, int]:
    """The message with the lines that belong to it, up to a blank or a dated one."""
    text = [first]
    last = index
    for line in lines[index + 1 : index + 12]:
        if not line.strip() or re.match(r"^\[\d{4}-|^INFO|^\S+:\d+: \w*Warning", line):
            break
        if _TRACE.search(line) or _CHAINED.match(line):
            break
        text.append(line.strip())
        last += 1
    return " ".join(part for part in text if part), last
