"""The shell's reserved words, as far as they make values depend on a condition.

Source of the rules: POSIX.1-2017, Shell Command Language, 2.4 Reserved Words.
"""

from __future__ import annotations

from collections.abc import Sequence

from sgl_audit.launch.scope import Scope, Unresolved
from sgl_audit.launch.words import Command, Word

_OPENERS = {"if": "fi", "while": "done", "until": "done", "{": "}"}
_LOOPS = frozenset({"for", "select"})
_CLOSERS = frozenset({"fi", "done", "esac", "}"})
_ARMS = frozenset({"else", "elif"})
_TRANSPARENT = frozenset({"then", "do", "!", "time"})


def read_keywords(command: Command, scope: Scope) -> tuple[Word, ...]:
    """The words after the reserved words in front; opens and closes the blocks of `scope`."""
    words = command.words
    while words:
        keyword = words[0].plain
        if keyword in _LOOPS:
            scope.open("done", command.line)
            _loop_variable(words[1:], scope)
            return ()
        if keyword == "case":
            scope.open("esac", command.line)
            return ()
        if keyword == "function":
            words = words[2:]
            continue
        if not _step(keyword, command.line, scope):
            return words
        words = words[1:]
    return words


def _step(keyword: str | None, line: int, scope: Scope) -> bool:
    """Whether the word is a reserved word that the command proper follows."""
    if keyword in _OPENERS:
        scope.open(_OPENERS[keyword], line)
    elif keyword in _CLOSERS:
        scope.close(keyword)
    elif keyword in _ARMS:
        scope.next_arm()
    else:
        return keyword in _TRANSPARENT
    return True


def _loop_variable(words: Sequence[Word], scope: Scope) -> None:
    name = words[0].plain if words else None
    if not name or not name.isidentifier():
        return
    items = [item for word in words[2:] for item in scope.expand(word)]
    if len(items) == 1 and items[0].unresolved is None:
        scope.assign(name, items[0].text)
    else:
        why = f"takes several values in the loop at line {words[0].line}"
        scope.assign(name, Unresolved(f"${name}", why, name))
