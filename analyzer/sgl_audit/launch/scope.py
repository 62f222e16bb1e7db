"""The variables of one script: their values, what is exported, and what only a run would tell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sgl_audit.launch.text import shown
from sgl_audit.launch.words import Literal, Opaque, Part, Reference, Word

# Doubling a variable forty times in a script would otherwise fill the memory.
_LONGEST_VALUE = 1 << 20
_BLANKS = re.compile(r"[ \t\n]+")


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A value that the text does not tell. `name` is None where no variable stands for it."""

    source: str
    why: str
    name: str | None = None


Value = str | tuple["Field", ...] | Unresolved


@dataclass(frozen=True, slots=True)
class Field:
    """One argument after expansion; its text means nothing where `unresolved` is set."""

    text: str
    unresolved: Unresolved | None = None


@dataclass(slots=True)
class _Block:
    kind: str
    line: int
    before: dict[str, tuple[Value | None, bool]] = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)


class Scope:
    """Variables as a shell would hold them at one point of a script.

    `given` are values of the user for what the script does not set itself.
    """

    def __init__(
        self,
        given: Mapping[str, str] | None = None,
        exported: Iterable[tuple[str, Field]] = (),
    ) -> None:
        self._given = dict(given or {})
        self._values: dict[str, Value] = {
            name: value.unresolved or value.text for name, value in exported
        }
        self._exported: dict[str, None] = dict.fromkeys(self._values)
        self._blocks: list[_Block] = []
        self.export_all = False
        self.notes: list[str] = []

    @property
    def conditional(self) -> bool:
        """Whether the point is inside a branch, loop, function or subshell."""
        return bool(self._blocks)

    def assign(self, name: str, value: Value) -> None:
        """`NAME=value`."""
        if isinstance(value, str) and len(value) > _LONGEST_VALUE:
            value = Unresolved(f"${name}", "is longer than sgl-audit keeps", name)
        self._remember(name)
        self._values[name] = value
        if self.export_all:
            self.export(name)

    def _remember(self, name: str) -> None:
        for block in self._blocks[-1:]:
            block.before.setdefault(name, (self._values.get(name), name in self._exported))

    def appended(self, name: str, value: Value) -> Value:
        """What `NAME+=value` makes of the variable."""
        old = self._values.get(name)
        if old is None:
            return value
        if isinstance(old, tuple) or isinstance(value, tuple):
            return (*self._elements(old), *self._elements(value))
        merged = _merge(self._joined(old), self._joined(value))
        return merged.unresolved or merged.text

    def _elements(self, value: Value) -> tuple[Field, ...]:
        return value if isinstance(value, tuple) else (self._joined(value),)

    def unset(self, name: str) -> None:
        """`unset NAME`."""
        self._remember(name)
        self._values.pop(name, None)
        self._exported.pop(name, None)

    def export(self, name: str) -> None:
        """`export NAME`."""
        self._remember(name)
        for block in self._blocks[-1:]:
            block.exported.add(name)
        self._exported[name] = None

    def open(self, kind: str, line: int) -> None:
        """A branch, loop, function body or subshell begins."""
        self._blocks.append(_Block(kind, line))

    def next_arm(self) -> None:
        """`else`, `elif` or `;;`: this arm does not see what the arm before it set."""
        if self._blocks:
            self._restore(self._blocks[-1])

    def close(self, kind: str) -> None:
        """The innermost block ends, if it is of that kind."""
        if not self._blocks or self._blocks[-1].kind != kind:
            return
        block = self._blocks.pop()
        self._restore(block)
        if kind != "(":
            for name in block.before:
                self.assign_conditionally(name, block.line)
                if name in block.exported:
                    self.export(name)

    def assign_conditionally(self, name: str, line: int) -> None:
        """The variable has one of several values from here on."""
        why = f"is set under a condition at line {line}"
        self.assign(name, Unresolved(f"${name}", why, name))

    def _restore(self, block: _Block) -> None:
        for name, (value, exported) in block.before.items():
            if value is None:
                self._values.pop(name, None)
            else:
                self._values[name] = value
            if exported:
                self._exported.setdefault(name)
            else:
                self._exported.pop(name, None)

    def environment(self) -> list[tuple[str, Field]]:
        """The exported variables that have a value, in order of export."""
        return [
            (name, self._joined(self._values[name]))
            for name in self._exported
            if name in self._values
        ]

    def _joined(self, value: Value) -> Field:
        if isinstance(value, str):
            return Field(value)
        if isinstance(value, Unresolved):
            given = self._given.get(value.name or "")
            return Field("", value) if given is None else Field(given)
        return value[0] if value else Field("")

    def expand(self, word: Word) -> list[Field]:
        """The arguments that one word becomes: none, one or several."""
        fields: list[Field | None] = [None]
        for part in word.parts:
            if isinstance(part, Literal):
                _append(fields, Field(part.text))
                continue
            whole = self._value_of(part)
            pieces: list[Field | None] = [*whole]
            if not part.quoted:
                pieces = [item for piece in whole for item in _split(piece)]
            for index, piece in enumerate(pieces):
                if index:
                    fields.append(None)
                if piece is not None:
                    _append(fields, piece)
        return [item for item in fields if item is not None]

    def joined(self, word: Word) -> Value:
        """The value that a word has on the right of an assignment: never split."""
        if word.array is not None:
            return tuple(item for element in word.array for item in self.expand(element))
        merged = Field("")
        for part in word.parts:
            pieces = [Field(part.text)] if isinstance(part, Literal) else self._value_of(part)
            for index, piece in enumerate(pieces):
                merged = _merge(merged, Field(" ") if index else Field(""))
                merged = _merge(merged, piece)
        return merged.unresolved or merged.text

    def _value_of(self, part: Reference | Opaque) -> list[Field]:
        if isinstance(part, Opaque):
            why = "is known only to a running shell"
            return [Field("", Unresolved(part.source, why))]
        value = self._values.get(part.name)
        if value is None and part.name in self._given:
            value = self._given[part.name]
        if isinstance(value, Unresolved) and value.name in self._given:
            value = self._given[value.name]
        if part.operator:
            return self._with_operator(part, value)
        if value is None:
            return self._unset(part)
        if isinstance(value, tuple) and part.whole:
            return list(value)
        return [self._joined(value)]

    def _with_operator(self, part: Reference, value: Value | None) -> list[Field]:
        empty = value is None or (part.operator.startswith(":") and value in ("", ()))
        kind = part.operator[-1]
        if kind == "+":
            if isinstance(value, Unresolved) and part.operator == ":+":
                # It may be empty.
                return [self._joined(value)]
            return [] if empty else [self._operand(part.operand)]
        if value is not None and not empty:
            return list(value) if isinstance(value, tuple) and part.whole else [self._joined(value)]
        if kind == "?":
            return self._unset(part)
        default = self._operand(part.operand)
        if default.unresolved is None and value is None and part.name.isidentifier():
            self.notes.append(
                f"{part.source} is taken as {shown(default.text) or 'empty'}, because nothing here "
                f"sets {part.name}."
            )
        if kind == "=":
            self.assign(part.name, default.unresolved or default.text)
        return [default]

    def _operand(self, parts: tuple[Part, ...]) -> Field:
        value = self.joined(Word(parts, 0))
        if isinstance(value, Unresolved):
            return Field("", value)
        return Field(value if isinstance(value, str) else "")

    def _unset(self, part: Reference) -> list[Field]:
        if part.whole and not part.name.isidentifier():
            self.notes.append(f"{part.source} is taken as no arguments.")
            return []
        why = "is set nowhere in this text"
        return [Field("", Unresolved(part.source, why, part.name))]


def _append(fields: list[Field | None], piece: Field) -> None:
    last = fields[-1]
    fields[-1] = piece if last is None else _merge(last, piece)


def _merge(first: Field, second: Field) -> Field:
    unresolved = first.unresolved or second.unresolved
    if len(first.text) + len(second.text) > _LONGEST_VALUE:
        unresolved = unresolved or Unresolved("a value", "is longer than sgl-audit keeps")
        return Field("", unresolved)
    return Field(first.text + second.text, unresolved)


def _split(piece: Field) -> list[Field | None]:
    """Word splitting of an unquoted value; None marks a blank at an end."""
    if piece.unresolved is not None:
        return [piece]
    texts = _BLANKS.split(piece.text)
    return [Field(text) if text else None for text in texts] if piece.text else []
