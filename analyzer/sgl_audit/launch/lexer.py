"""Shell text to commands: words, operators, comments, continuations, here-documents.

Redirections are dropped: they never reach the program's arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sgl_audit.launch.cursor import Cursor
from sgl_audit.launch.words import Command, Literal, Part, Word

# ASCII: a pasted no-break space is no blank to a shell, so it stays inside its word.
_BLANK = re.compile(r"(?:[^\S\n]|\\\n)+", re.ASCII)
_RUN = re.compile(r"[^\s'\"\\$`;&|<>()]+", re.ASCII)
# Most words are plain; the lookahead keeps `30000>log` (a descriptor number) out.
_PLAIN = re.compile(r"[^\s'\"\\$`;&|<>()]+(?=[ \t\n;])", re.ASCII)
_COMMENT = re.compile(r"#[^\n]*")
_REDIRECTION = re.compile(r"&>>|&>|[0-9]*(?:<<<|<<-|<<|>>|>\||>&|<&|<>|<(?!\()|>(?!\())")
_OPERATOR = re.compile(r"\|\||&&|\|&|;;&|;;|;&|[;&|()\n]")
_ARRAY_HEAD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=\(")


class Lexer(Cursor):
    """Yields the commands of a shell text, lazily and in order."""

    def __init__(self, text: str, origin: str, first_line: int = 1) -> None:
        super().__init__(text, origin, first_line)
        self._documents: list[tuple[str, bool]] = []

    def commands(self) -> Iterator[Command]:
        """Every command, also empty ones, because their operators open and close blocks.

        Raises:
            UsageError: a quote, bracket or array is never closed.
        """
        words: list[Word] = []
        start = 0
        while True:
            self._skip_blanks()
            if not words:
                start = self.position
            if self.position >= len(self.text):
                yield Command(tuple(words), self.line_at(start), "\n")
                return
            if plain := _PLAIN.match(self.text, self.position):
                words.append(Word((Literal(plain.group()),), self.line_at(self.position)))
                self.position = plain.end()
                continue
            redirection = _REDIRECTION.match(self.text, self.position)
            operator = _OPERATOR.match(self.text, self.position)
            if redirection:
                self._redirect(redirection)
            elif operator:
                self.position = operator.end()
                yield Command(tuple(words), self.line_at(start), operator.group())
                words = []
                if operator.group() == "\n":
                    self._skip_documents()
            else:
                words.append(self._word())

    def _skip_blanks(self) -> None:
        if blank := _BLANK.match(self.text, self.position):
            self.position = blank.end()
        # A comment starts a word; `a#b` is one word.
        if comment := _COMMENT.match(self.text, self.position):
            self.position = comment.end()

    def _redirect(self, redirection: re.Match[str]) -> None:
        self.position = redirection.end()
        blank = _BLANK.match(self.text, self.position)
        if blank:
            self.position = blank.end()
        start = self.position
        if start >= len(self.text) or _OPERATOR.match(self.text, start):
            return
        word = self._word()
        if redirection.group().endswith(("<<", "<<-")):
            texts = [part.text for part in word.parts if isinstance(part, Literal)]
            self._documents.append(("".join(texts), redirection.group().endswith("-")))

    def _skip_documents(self) -> None:
        for delimiter, tabs in self._documents:
            while self.position < len(self.text):
                end = self.text.find("\n", self.position)
                end = len(self.text) if end < 0 else end
                line = self.text[self.position : end]
                self.position = min(end + 1, len(self.text))
                if (line.lstrip("\t") if tabs else line) == delimiter:
                    break
        self._documents.clear()

    def _word(self) -> Word:
        start = self.position
        if head := _ARRAY_HEAD.match(self.text, start):
            return self._array(head)
        parts: list[Part] = []
        while self.position < len(self.text):
            if run := _RUN.match(self.text, self.position):
                self.position = run.end()
                parts.append(Literal(run.group()))
            elif not self._append_special(parts):
                break
        return Word(tuple(parts), self.line_at(start))

    def _append_special(self, parts: list[Part]) -> bool:
        """One quote, escape or expansion onto `parts`; False where the word ends."""
        character = self.text[self.position]
        following = self.text[self.position + 1 : self.position + 2]
        if character == "'":
            parts.append(self.single_quoted())
        elif character == '"':
            parts.extend(self.double_quoted())
        elif character == "\\":
            self.position += 2
            if following != "\n":
                parts.append(Literal(following or "\\", quoted=True))
        elif character == "$" and following in ("'", '"'):
            self.position += 1
        elif character in "$`":
            parts.append(self.expansion(quoted=False))
        elif character in "<>" and following == "(":
            parts.append(self._enclosed(self.position, self.position + 2, ")", False))
        else:
            return False
        return True

    def _array(self, head: re.Match[str]) -> Word:
        self.position = head.end()
        elements: list[Word] = []
        while self.position < len(self.text):
            self._skip_blanks()
            character = self.text[self.position : self.position + 1]
            if character == ")":
                self.position += 1
                name = Literal(head.group()[:-1])
                return Word((name,), self.line_at(head.start()), tuple(elements))
            if character == "\n" or (character and character in ";&|<>("):
                self.position += 1
            elif character:
                elements.append(self._word())
        raise self.never_closed("list (", head.start())
