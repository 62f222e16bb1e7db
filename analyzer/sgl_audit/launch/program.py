"""Finding the server in the arguments of one command, whatever wraps it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sgl_audit.launch.scope import Field, Unresolved
from sgl_audit.launch.text import shown

_MODULE = "sglang.launch_server"
_SERVE_MODULES = frozenset({"sglang", "sglang.cli", "sglang.cli.main"})
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh"})
_SHELL_COMMAND = re.compile(r"-[A-Za-z]*c")
# Commands that only mention a server: `pkill -f sglang.launch_server`, `echo python -m ...`.
_MENTIONS = frozenset(
    (
        "echo",
        "printf",
        "grep",
        "egrep",
        "pkill",
        "pgrep",
        "kill",
        "killall",
        "ps",
        "which",
        "type",
        "test",
        "[",
        "[[",
        ":",
        "true",
        "false",
        "alias",
        "cat",
        "curl",
        "wget",
        "pip",
        "pip3",
        "git",
        "tail",
        "head",
        "sed",
        "awk",
        "trap",
        "logger",
        "man",
        "help",
    )
)
_ISOLATING = frozenset({"docker", "podman", "nerdctl", "ssh", "kubectl"})
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Start:
    """A server start. `before` is everything in front of the program's own name or module."""

    program: str
    argv: tuple[Field, ...]
    before: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Inner:
    """Text that a shell inside the command would read: `bash -c TEXT`, `eval TEXT`."""

    text: Field
    before: tuple[Field, ...]


def find_start(fields: Sequence[Field]) -> Start | Inner | None:
    """The server start in a command, or the shell text that may hold one."""
    first = next((field for field in fields if not _ASSIGNMENT.fullmatch(field.text)), None)
    if first is None or _base(first.text) in _MENTIONS:
        return None
    for index, field in enumerate(fields):
        found = _start_at(fields, index) or _inner_at(fields, index)
        if found is not None:
            return found
        if field.text == "--" and index == 0:
            return find_start(fields[1:])
    return None


def other_modules(fields: Sequence[Field]) -> list[str]:
    """SGLang's other programs in a command (`-m sglang_router.launch_router`), for a message."""
    return [
        f"`-m {shown(module.text)}`"
        for flag, module in pairwise(fields)
        if flag.text == "-m" and module.text.startswith("sglang")
    ]


def _start_at(fields: Sequence[Field], index: int) -> Start | None:
    text = fields[index].text
    following = fields[index + 1].text if index + 1 < len(fields) else ""
    after = fields[index + 2].text if index + 2 < len(fields) else ""
    before = tuple(fields[:index])
    if text == "-m" and following == _MODULE:
        return Start(f"python -m {_MODULE}", tuple(fields[index + 2 :]), before)
    if text == f"-m{_MODULE}":
        return Start(f"python -m {_MODULE}", tuple(fields[index + 1 :]), before)
    if text == "-m" and following in _SERVE_MODULES and after == "serve":
        return Start("python -m sglang serve", tuple(fields[index + 3 :]), before)
    if text.endswith("sglang/launch_server.py"):
        return Start("python sglang/launch_server.py", tuple(fields[index + 1 :]), before)
    if _base(text) == "sglang" and following == "serve":
        return Start("sglang serve", tuple(fields[index + 2 :]), before)
    return None


def _inner_at(fields: Sequence[Field], index: int) -> Inner | None:
    name = _base(fields[index].text)
    if name == "eval":
        texts = [field.text for field in fields[index + 1 :]]
        unresolved = next((f.unresolved for f in fields[index + 1 :] if f.unresolved), None)
        return Inner(Field(" ".join(texts), unresolved), tuple(fields[:index]))
    if name not in _SHELLS:
        return None
    for position in range(index + 1, len(fields) - 1):
        option = fields[position].text
        if _SHELL_COMMAND.fullmatch(option):
            return Inner(fields[position + 1], tuple(fields[:index]))
        if option != "pipefail" and not option.startswith("-"):
            return None
    return None


def _base(text: str) -> str:
    return text.rsplit("/", 1)[-1]


class Surroundings:
    """The environment that the words in front of the program leave to it.

    Attributes:
        variables: name -> value, in order of setting.
        notes: what could not be followed.
    """

    def __init__(self, before: Sequence[Field], exported: Iterable[tuple[str, Field]]) -> None:
        self.variables: dict[str, Field] = dict(exported)
        self.notes: list[str] = []
        self._host: dict[str, Field] | None = None
        self._words = list(before)
        self._take_assignments()
        while self._words:
            self._step(self._words.pop(0))

    def _take_assignments(self) -> None:
        while self._words and self._assign(self._words[0]):
            self._words.pop(0)

    def _assign(self, word: Field) -> bool:
        match = _ASSIGNMENT.fullmatch(word.text)
        if match is None:
            return False
        self.variables.pop(match[1], None)
        self.variables[match[1]] = Field(match[2], word.unresolved)
        return True

    def _step(self, word: Field) -> None:
        name = _base(word.text)
        if name in _ISOLATING and self._host is None:
            # A container and a remote shell see nothing of the caller's environment.
            self._host, self.variables = self.variables, {}
        elif name in ("env", "sudo"):
            self._environment_options(name)
        elif self._host is not None:
            self._container_option(word)
        elif name in ("mpirun", "mpiexec"):
            self._host = dict(self.variables)

    def _environment_options(self, name: str) -> None:
        while self._words and (self._words[0].text[:1] == "-" or self._assign(self._words[0])):
            text = self._words.pop(0).text
            if name == "env" and text in ("-i", "-", "--ignore-environment"):
                self.variables = {}
            elif name == "env" and text in ("-u", "--unset") and self._words:
                self.variables.pop(self._words.pop(0).text, None)
            elif name == "env" and text.startswith("--unset="):
                self.variables.pop(text.removeprefix("--unset="), None)

    def _container_option(self, word: Field) -> None:
        text = word.text
        if text in ("-e", "--env", "-x") and self._words:
            self._pass(self._words.pop(0))
        elif text.startswith("--env="):
            self._pass(Field(text.removeprefix("--env="), word.unresolved))
        elif text.startswith("-e") and _ASSIGNMENT.fullmatch(text[2:]):
            self._pass(Field(text[2:], word.unresolved))
        elif text.split("=", 1)[0] == "--env-file":
            self.notes.append("the file named by --env-file was not read.")

    def _pass(self, word: Field) -> None:
        if self._assign(word) or not word.text.isidentifier():
            return
        why = "is taken from the caller's environment"
        missing = Field("", Unresolved(f"${word.text}", why, word.text))
        self.variables[word.text] = (self._host or {}).get(word.text, missing)
