"""The pieces of shell text, as read and before any variable has a value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Literal:
    """Plain text. `quoted` text is never split, and a quoted word is never a keyword."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Reference:
    """`$NAME`, `${NAME}`, `${NAME[@]}` or `${NAME:-operand}`.

    Attributes:
        source: as typed, for messages.
        operator: "", ":-", "-", ":=", "=", ":+", "+", ":?" or "?".
        whole: True for `[@]` and `[*]`: every element of an array.
    """

    source: str
    name: str
    operator: str = ""
    operand: tuple[Part, ...] = ()
    whole: bool = False
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Opaque:
    """Something only a running shell knows: `$(command)`, arithmetic, `${X//a/b}`."""

    source: str
    quoted: bool = False


Part = Literal | Reference | Opaque


@dataclass(frozen=True, slots=True)
class Word:
    """One shell word; `array` holds the elements of `NAME=(...)`, whose parts end in `=`."""

    parts: tuple[Part, ...]
    line: int
    array: tuple[Word, ...] | None = None

    @property
    def plain(self) -> str | None:
        """The text of a word written without quotes and variables, else None."""
        if len(self.parts) == 1 and self.array is None:
            part = self.parts[0]
            if isinstance(part, Literal) and not part.quoted:
                return part.text
        return None


@dataclass(frozen=True, slots=True)
class Command:
    """Words up to an operator. `end` is that operator: ";", "&&", "|", "&", "\\n", "(", ..."""

    words: tuple[Word, ...]
    line: int
    end: str
