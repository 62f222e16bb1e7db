"""Quotes and `$` in shell text: one pass over the text, nothing evaluated.

Source of the rules: POSIX.1-2017, Shell Command Language, 2.2 Quoting and 2.6 Word Expansions.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from sgl_audit.errors import UsageError
from sgl_audit.launch.words import Literal, Opaque, Part, Reference

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_BRACED = re.compile(
    r"(?P<name>[A-Za-z_][A-Za-z0-9_]*|[0-9@*])(?P<whole>\[[@*]\])?(?:(?P<op>:?[-=+?])(?P<rest>.*))?",
    re.DOTALL,
)
_QUOTED_RUN = re.compile(r'[^"\\$`]+')
_OPERAND_RUN = re.compile(r"[^\"'\\$`]+")
_CLOSER = re.compile(r"\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"|[(){}`]", re.DOTALL)
_DEEPEST = 20


class Cursor:
    """A position in shell text."""

    def __init__(self, text: str, origin: str, first_line: int = 1, depth: int = 0) -> None:
        self.text = text
        self.origin = origin
        self.position = 0
        self._first_line = first_line
        self._depth = depth
        self._newlines: list[int] | None = None

    def line_at(self, position: int) -> int:
        """1-based line of a position."""
        if self._newlines is None:
            self._newlines = [match.start() for match in re.finditer("\n", self.text)]
        return self._first_line + bisect_right(self._newlines, position - 1)

    def never_closed(self, opener: str, start: int) -> UsageError:
        """The error for a quote or bracket without its end."""
        return UsageError(
            f"{self.origin}, line {self.line_at(start)}: the {opener} that opens here is never "
            f"closed; close it or remove it."
        )

    def single_quoted(self) -> Literal:
        """`'...'`, with the position on the opening quote."""
        start = self.position
        end = self.text.find("'", start + 1)
        if end < 0:
            raise self.never_closed("quote '", start)
        self.position = end + 1
        return Literal(self.text[start + 1 : end], quoted=True)

    def double_quoted(self) -> list[Part]:
        """`"..."`, with the position on the opening quote."""
        start = self.position
        self.position += 1
        parts: list[Part] = []
        while self.position < len(self.text):
            character = self.text[self.position]
            if character == '"':
                self.position += 1
                # `""` is an empty argument, while `"$@"` may be none at all.
                return parts or [Literal("", quoted=True)]
            if run := _QUOTED_RUN.match(self.text, self.position):
                self.position = run.end()
                parts.append(Literal(run.group(), quoted=True))
            elif character == "\\":
                parts.append(self._escaped_in_quotes())
            else:
                parts.append(self.expansion(quoted=True))
        raise self.never_closed('quote "', start)

    def _escaped_in_quotes(self) -> Literal:
        pair = self.text[self.position : self.position + 2]
        self.position += len(pair)
        if pair == "\\\n":
            return Literal("", quoted=True)
        return Literal(pair[1:] if pair[1:] in set('"$`\\') else pair, quoted=True)

    def expansion(self, *, quoted: bool) -> Part:
        """What begins with `$` or a backquote at the position."""
        start = self.position
        if self.text[start] == "`":
            return self._enclosed(start, start + 1, "`", quoted)
        following = self.text[start + 1 : start + 2]
        if following == "(":
            return self._enclosed(start, start + 2, ")", quoted)
        if following == "{":
            return self._braced(start, quoted)
        name = _NAME.match(self.text, start + 1)
        if name is None:
            self.position = start + 1
            return Literal("$", quoted)
        self.position = name.end()
        return self._reference(name.group(), quoted=quoted, source=f"${name.group()}")

    def _reference(
        self,
        name: str,
        *,
        quoted: bool,
        source: str,
        operator: str = "",
        operand: tuple[Part, ...] = (),
        whole: bool = False,
    ) -> Part:
        if name in ("#", "?", "$", "!", "-"):
            return Opaque(source, quoted)
        return Reference(source, name, operator, operand, whole or name in "@*", quoted)

    def _enclosed(self, start: int, inner: int, closer: str, quoted: bool) -> Opaque:
        self.position = self._end_of(start, inner, closer)
        return Opaque(self.text[start : self.position], quoted)

    def _end_of(self, start: int, inner: int, closer: str) -> int:
        opener = {")": "(", "}": "{", "`": ""}[closer]
        open_count = 1
        for match in _CLOSER.finditer(self.text, inner):
            if match.group() == closer:
                open_count -= 1
            elif match.group() == opener:
                open_count += 1
            if open_count == 0:
                return match.end()
        raise self.never_closed(self.text[start:inner], start)

    def _braced(self, start: int, quoted: bool) -> Part:
        self.position = self._end_of(start, start + 2, "}")
        source = self.text[start : self.position]
        match = _BRACED.fullmatch(source[2:-1])
        if match is None or self._depth >= _DEEPEST:
            return Opaque(source, quoted)
        operand: tuple[Part, ...] = ()
        if match["rest"]:
            inside = Cursor(match["rest"], self.origin, self.line_at(start), self._depth + 1)
            operand = tuple(inside.operand(quoted=quoted))
        return self._reference(
            match["name"],
            quoted=quoted,
            source=source,
            operator=match["op"] or "",
            operand=operand,
            whole=match["whole"] is not None,
        )

    def operand(self, *, quoted: bool) -> list[Part]:
        """The whole text as the operand of `${NAME:-operand}`."""
        parts: list[Part] = []
        while self.position < len(self.text):
            character = self.text[self.position]
            if run := _OPERAND_RUN.match(self.text, self.position):
                self.position = run.end()
                parts.append(Literal(run.group(), quoted))
            elif character == '"':
                parts.extend(self.double_quoted())
            elif character == "'" and not quoted:
                parts.append(self.single_quoted())
            elif character == "\\":
                parts.append(Literal(self.text[self.position + 1 : self.position + 2], quoted=True))
                self.position += 2
            elif character == "'":
                parts.append(Literal("'", quoted=True))
                self.position += 1
            else:
                parts.append(self.expansion(quoted=quoted))
        return parts
