"""Shell scripts and argument lists to launch lines. Nothing is run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sgl_audit.errors import UsageError
from sgl_audit.launch.keywords import read_keywords
from sgl_audit.launch.lexer import Lexer
from sgl_audit.launch.line import LaunchLine
from sgl_audit.launch.program import Inner, Start, Surroundings, find_start, other_modules
from sgl_audit.launch.scope import Field, Scope, Unresolved, Value
from sgl_audit.launch.text import shown
from sgl_audit.launch.words import Command, Literal, Word

_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^]]*\])?(\+?=)")
_DECLARING = frozenset({"export", "declare", "typeset", "local", "readonly"})
_TESTS = frozenset({"[", "[[", "test", "grep", "command", "which", "type"})
_PIPES = frozenset({"|", "|&"})
_DEEPEST = 5


@dataclass(slots=True)
class Found:
    """What a text holds: launches, and SGLang's other programs for the message if there is none."""

    lines: list[LaunchLine] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Context:
    """Where a text stands.

    Attributes:
        origin: how messages name the text.
        given: values of the user for variables that the text does not set.
        name: name for the launches found, where the surrounding form has one.
        line: line of the surrounding form; None inside a script of its own.
        depth: shells inside shells so far.
    """

    origin: str
    given: Mapping[str, str]
    name: str = ""
    line: int | None = None
    depth: int = 0


def read_script(
    text: str, context: Context, exported: Iterable[tuple[str, Field]] = (), first_line: int = 1
) -> Found:
    """Every server start in a shell text.

    Raises:
        UsageError: a quote is never closed, or a launch uses a value that the text does not tell.
    """
    return _Reader(context, Scope(context.given, exported)).read(text, first_line)


def read_fields(
    fields: Sequence[Field],
    context: Context,
    exported: Iterable[tuple[str, Field]] = (),
    *,
    bare: bool = False,
) -> Found:
    """The server start in an argument list; with `bare`, also a list of flags alone.

    Raises:
        UsageError: the launch uses a value that the text does not tell.
    """
    start = find_start(fields)
    if isinstance(start, Inner):
        return _read_inner(start, context, exported)
    if start is None and bare and fields and fields[0].text.startswith("-"):
        flags = fields[1:] if fields[0].text == "--" else fields
        start = Start("", tuple(flags), ())
    if start is None:
        return Found([], other_modules(fields))
    return Found([_launch(start, context, exported)])


def _read_inner(inner: Inner, context: Context, exported: Iterable[tuple[str, Field]]) -> Found:
    if "sglang" not in inner.text.text:
        return Found()
    if context.depth >= _DEEPEST:
        raise UsageError(
            f"{_at(context)}: shells are nested more than {_DEEPEST} deep; give the innermost text."
        )
    if inner.text.unresolved is not None:
        raise _unresolved([inner.text.unresolved], context)
    around = Surroundings(inner.before, exported)
    deeper = replace(context, depth=context.depth + 1)
    return read_script(
        inner.text.text, deeper, around.variables.items(), first_line=context.line or 1
    )


def _launch(
    start: Start,
    context: Context,
    exported: Iterable[tuple[str, Field]],
    notes: Sequence[str] = (),
) -> LaunchLine:
    missing = [item.unresolved for item in start.argv if item.unresolved is not None]
    if missing:
        raise _unresolved(missing, context)
    around = Surroundings(start.before, exported)
    known = {name: item for name, item in around.variables.items() if item.unresolved is None}
    return LaunchLine(
        argv=tuple(item.text for item in start.argv),
        environment=tuple((name, item.text) for name, item in known.items()),
        program=start.program,
        name=context.name or (f"line {context.line}" if context.line is not None else ""),
        line=context.line,
        unknown_environment=tuple(name for name in around.variables if name not in known),
        notes=tuple(dict.fromkeys([*notes, *around.notes])),
    )


def _at(context: Context) -> str:
    return context.origin if context.line is None else f"{context.origin}, line {context.line}"


def _unresolved(values: Sequence[Unresolved], context: Context) -> UsageError:
    value = values[0]
    how = "write its value there"
    if value.name is not None and value.name.isidentifier():
        how += f", or give it with --assume env.{shown(value.name)}=VALUE"
    others = [shown(source) for source in dict.fromkeys(item.source for item in values)][1:]
    if others:
        how += f" (also open: {', '.join(others[:8])}{' ...' if others[8:] else ''})"
    return UsageError(f"{_at(context)}: {shown(value.source)} {value.why}; {how}.")


class _Reader:
    """Walks the commands of one text in order."""

    def __init__(self, context: Context, scope: Scope) -> None:
        self._context = context
        self._scope = scope
        self._found = Found()
        self._bare: list[Field] | None = []
        self._bare_line = 0
        self._uncertain = False
        self._after_launch = False
        self._notes: list[str] = []

    def read(self, text: str, first_line: int) -> Found:
        """Every launch of the text."""
        piped_before = False
        for command in Lexer(text, self._context.origin, first_line).commands():
            words = read_keywords(command, self._scope)
            piped = piped_before or command.end in _PIPES
            if words and piped:
                # Each side of a pipe is a subshell: what it sets is gone after it.
                self._scope.open("(", command.line)
            if words:
                self._command(replace(command, words=words))
            if words and piped:
                self._scope.close("(")
            piped_before = command.end in _PIPES
            self._operator(command, words)
        if not self._found.lines and self._bare:
            start = Start("", tuple(self._bare), ())
            self._add(start, self._bare_line)
        return self._found

    def _operator(self, command: Command, words: Sequence[Word]) -> None:
        if command.end == "(":
            self._scope.open("(", command.line)
        elif command.end == ")":
            self._scope.close("(")
        elif command.end.startswith(";;"):
            self._scope.next_arm()
        tested = bool(words) and words[0].plain in _TESTS
        self._uncertain = command.end == "||" or (
            command.end == "&&" and (tested or self._uncertain)
        )

    def _command(self, command: Command) -> None:
        assigned = 0
        while assigned < len(command.words) and _assignment(command.words[assigned]):
            assigned += 1
        rest = command.words[assigned:]
        if not rest:
            for word in command.words:
                self._assign(word)
        elif not self._builtin(rest):
            self._program(command, assigned)
        self._keep_notes()

    def _builtin(self, words: Sequence[Word]) -> bool:
        name = words[0].plain
        if name in _DECLARING:
            self._declare(name, words[1:])
        elif name == "unset":
            for word in words[1:]:
                self._scope.unset(word.plain or "")
        elif name == "set":
            flags = [word.plain or "" for word in words[1:]]
            self._scope.export_all |= "-a" in flags or "allexport" in flags
        elif name in ("source", ".") and len(words) > 1:
            what = shown(words[1].plain or "another file")
            self._scope.notes.append(f"line {words[0].line} sources {what}, which was not read.")
        elif name == ":":
            # `: ${NAME:=default}` sets the variable by being expanded.
            for word in words[1:]:
                self._scope.expand(word)
        else:
            return False
        return True

    def _declare(self, name: str, words: Sequence[Word]) -> None:
        flags = [word.plain for word in words if word.plain and word.plain.startswith("-")]
        exported = name == "export" or any("x" in flag for flag in flags)
        for word in words:
            target = self._assign(word) if _assignment(word) else word.plain
            if target and target.isidentifier() and exported:
                self._scope.export(target)

    def _assign(self, word: Word) -> str:
        match = _assignment(word)
        if match is None:
            return ""
        name = match[1]
        if match[2] or self._uncertain:
            self._scope.assign_conditionally(name, word.line)
            return name
        self._scope.assign(name, self._right_side(word, match))
        return name

    def _right_side(self, word: Word, match: re.Match[str]) -> Value:
        first = word.parts[0]
        assert isinstance(first, Literal)
        name = match[1]
        parts = (Literal(first.text[match.end() :], quoted=True), *word.parts[1:])
        value = self._scope.joined(replace(word, parts=parts))
        if match[3] == "=":
            return value
        return self._scope.appended(name, value)

    def _program(self, command: Command, assigned: int) -> None:
        # The arguments first, as a shell does: `A=$B program ${B:=x}`.
        rest = [item for word in command.words[assigned:] for item in self._scope.expand(word)]
        fields = [self._prefix(word) for word in command.words[:assigned]] + rest
        self._stray(fields, command.line)
        start = find_start(fields)
        if isinstance(start, Inner):
            self._inner(start, command.line)
        elif start is not None:
            self._add(start, command.line)
            self._after_launch = command.end == "\n"
        else:
            self._found.others.extend(other_modules(fields))
            # What an unrelated command falls back to is of no interest.
            self._scope.notes.clear()

    def _prefix(self, word: Word) -> Field:
        match = _assignment(word)
        assert match is not None
        value = self._right_side(word, match)
        unresolved = value if isinstance(value, Unresolved) else None
        return Field(f"{match[1]}={value if isinstance(value, str) else ''}", unresolved)

    def _stray(self, fields: Sequence[Field], line: int) -> None:
        if not fields:
            return
        flag = fields[0].text.startswith("-")
        if flag and self._after_launch:
            last = self._found.lines[-1]
            note = (
                f"line {line} starts with {shown(fields[0].text)}, which a shell runs as a command "
                f"of its own: the launch before it ended without a final backslash."
            )
            self._found.lines[-1] = replace(last, notes=(*last.notes, note))
        self._after_launch = False
        if not flag:
            self._bare = None
        elif self._bare is not None:
            self._bare_line = self._bare_line or line
            self._bare.extend(fields)

    def _keep_notes(self) -> None:
        self._notes.extend(self._scope.notes)
        self._scope.notes.clear()

    def _here(self, line: int) -> Context:
        outer = self._context
        return outer if outer.line is not None else replace(outer, line=line)

    def _inner(self, inner: Inner, line: int) -> None:
        found = _read_inner(inner, self._here(line), self._scope.environment())
        self._found.lines.extend(found.lines)
        self._found.others.extend(found.others)

    def _add(self, start: Start, line: int) -> None:
        self._keep_notes()
        launch = _launch(start, self._here(line), self._scope.environment(), self._notes)
        self._found.lines.append(launch)


def _assignment(word: Word) -> re.Match[str] | None:
    first = word.parts[0] if word.parts else None
    if not isinstance(first, Literal) or first.quoted:
        return None
    return _ASSIGNED.match(first.text)
