"""Text from the analysed source, made fit for people to read."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from sgl_audit.model.facts import JsonValue

# Format characters can reorder or hide what a reader sees, separators can break a line where the
# report expects one, and surrogates cannot be written as UTF-8.
_SHOWN_ESCAPED = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}


def visible(text: str) -> str:
    """The text on one line, with every control character spelled out as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible_character(character) for character in text)


def visible_lines(text: str) -> tuple[str, ...]:
    """The lines of a text that may have several; tabs become spaces, other controls escapes."""
    return tuple(
        visible(line.expandtabs(4)) for line in text.replace("\r\n", "\n").rstrip("\n").split("\n")
    )


def _visible_character(character: str) -> str:
    if unicodedata.category(character) not in _SHOWN_ESCAPED:
        return character
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def plural(count: int, noun: str, many: str | None = None) -> str:
    """`1 error`, `2 errors`, `2 families`."""
    return f"{count} {noun if count == 1 else many or noun + 's'}"


def clipped(text: str, length: int) -> str:
    """The text, cut to `length` characters with an ellipsis where it is longer."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def shortened(text: str, length: int) -> str:
    """The text, cut in its middle where it is longer: lists of numbers differ at their end."""
    if len(text) <= length:
        return text
    tail = length // 3
    return f"{text[: length - tail - 1].rstrip()}…{text[-tail:].lstrip()}"


def listed(items: Sequence[str], limit: int | None = None, separator: str = ", ") -> str:
    """Items joined; beyond `limit` only how many more there are."""
    if limit is None or len(items) <= limit:
        return separator.join(items)
    return separator.join([*items[:limit], f"{len(items) - limit} more"])


def value_text(value: JsonValue) -> str:
    """A value as a reader would name it."""
    if value is None:
        return "(unset)"
    if isinstance(value, str):
        return visible(value) if value else '""'
    if isinstance(value, list):
        return "[" + ", ".join(value_text(item) for item in value) + "]"
    if isinstance(value, dict):
        inner = (f"{visible(key)}: {value_text(item)}" for key, item in value.items())
        return "{" + ", ".join(inner) + "}"
    return str(value)


def default_text(default: str) -> str:
    """A declared default as text; the several ways to say "nothing" become one."""
    # Not "null": that is what an option may be called that is set.
    return "(unset)" if default in {"None", "unset", ""} else visible(default)


def unique(items: Iterable[str]) -> tuple[str, ...]:
    """The items in order, each once."""
    return tuple(dict.fromkeys(items))
