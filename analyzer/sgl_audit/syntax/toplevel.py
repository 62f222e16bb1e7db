"""Module-level names and imports by text alone, for files that are not worth parsing yet."""

from __future__ import annotations

import re
from bisect import bisect_right

# A line that begins a top-level statement: no indentation, no comment, no closing bracket.
_TOP = re.compile(rb"^[A-Za-z_@]", re.MULTILINE)
_NAME = re.compile(
    rb"""
    ^\ *(?:async\ )?(?:def|class)\ +([A-Za-z_]\w*)   # a definition
    | ^\ *([A-Za-z_]\w*)(?:\ *:[^=\n]+)?\ *=(?!=)    # an assignment, annotated or not
    | (?<==)\ *([A-Za-z_]\w*)\ *=(?!=)               # the second name of a chain
    """,
    re.VERBOSE | re.MULTILINE,
)
_FROM = re.compile(rb"from\ +([\w.]+)\ +import\ +(?:\(([^)]*)\)|([^\n(]*))")
_IMPORT = re.compile(rb"^\ *import\ +([\w.]+)", re.MULTILINE)
_WORD = re.compile(rb"[A-Za-z_]\w*|\*")
_COMMENT = re.compile(rb"#[^\n]*")
_BLOCKS = (b"if ", b"try:", b"else:", b"elif ", b"except", b"with ")


def mentioning_names(data: bytes, pattern: re.Pattern[bytes]) -> set[str]:
    """Names bound by top-level statements whose text matches a pattern."""
    offsets = [match.start() for match in pattern.finditer(data)]
    if not offsets:
        return set()
    starts = [match.start() for match in _TOP.finditer(data)]
    numbers = sorted({bisect_right(starts, offset) - 1 for offset in offsets})
    found: set[str] = set()
    for number in numbers:
        if number >= 0:
            end = starts[number + 1] if number + 1 < len(starts) else len(data)
            found |= _names(data[starts[number] : end])
    return found


def _names(segment: bytes) -> set[str]:
    if segment.startswith((b"from ", b"import ")):
        return set()
    matches = _NAME.finditer(segment)
    if not segment.startswith(_BLOCKS):
        first_line = segment.partition(b"\n")[0]
        # Below a decorator stands what it decorates.
        head = segment if first_line.startswith(b"@") else first_line
        matches = _NAME.finditer(head)
    return {part.decode() for match in matches for part in match.groups() if part}


def imported_names(path: str, data: bytes) -> set[tuple[str, str]]:
    """Every (module, name) that a file imports, at any level, with relative modules resolved."""
    found: set[tuple[str, str]] = set()
    parts = path.removesuffix(".py").split("/")
    for match in _FROM.finditer(data):
        written = match.group(1).decode()
        plain = written.lstrip(".")
        level = len(written) - len(plain)
        base = parts[: len(parts) - level] if level else []
        module = ".".join([*base, *([plain] if plain else [])])
        names = _COMMENT.sub(b"", match.group(2) or match.group(3) or b"")
        found |= {(module, word.decode()) for word in _WORD.findall(names)}
    for match in _IMPORT.finditer(data):
        module, _, name = match.group(1).decode().rpartition(".")
        found.add((module, name))
    return found
