"""Broken variants of source files and trees, each from a seed: the same seed gives the same one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from sgl_audit.model.source import Diagnostic, SourceInfo, SourceTree
from sgl_audit.syntax import parse_file

Tokens = list[str]
_TOKEN = re.compile(
    r"[^\W\d]\w*|\d+(?:\.\d+)?|\"[^\"\n]*\"|'[^'\n]*'|\n[ \t]*|[ \t]+|[=!<>]=|\*\*|->|.", re.DOTALL
)
_NAME = re.compile(r"[^\W\d]\w*")
# What a parser, a terminal or a file name may trip over.
_JUNK = (
    *("\0", "\x0c", "\x1b[31m", "\ufeff", "\u202e", "\r", "\t", "\\", "'", '"', '"""', "#", ":"),
    *("(", ")", "[", "{", "lambda:", "*", "**", "@", "not ", "if ", "else", "raise", "yield "),
    *("await ", "return ", "0x", "1" * 5000, "é", "𝔸", ";", "\n", "\n    ", "global x\n"),
)
# Deeper than the parser goes, and shallower.
_DEPTHS = (2, 20, 90, 250, 1500)


@dataclass(frozen=True, slots=True)
class Mutant:
    """Files of a tree that differ from the original; None stands for one that is gone."""

    seed: int
    kinds: tuple[str, ...]
    changed: Mapping[str, bytes | None]

    @property
    def broken(self) -> bool:
        """Whether a file is missing or does not parse."""
        return any(
            data is None or isinstance(parse_file(path, data), Diagnostic)
            for path, data in self.changed.items()
        )

    def __str__(self) -> str:
        return f"seed {self.seed}: {', '.join(self.kinds)} in {', '.join(self.changed)}"


@dataclass(frozen=True, slots=True)
class MutantTree:
    """A SourceTree with some files changed or gone."""

    inner: SourceTree
    changed: Mapping[str, bytes | None]

    @property
    def info(self) -> SourceInfo:
        """What the original is."""
        return self.inner.info

    def files(self) -> tuple[str, ...]:
        """Every Python file that is left."""
        return tuple(path for path in self.inner.files() if self.has(path))

    def has(self, path: str) -> bool:
        """Whether it is left."""
        return self.changed.get(path, b"") is not None and self.inner.has(path)

    def read(self, path: str) -> bytes:
        """The bytes of one file.

        Raises:
            KeyError: it is gone.
        """
        if path not in self.changed:
            return self.inner.read(path)
        data = self.changed[path]
        if data is None:
            raise KeyError(path)
        return data


def mutant_of(tree: SourceTree, paths: tuple[str, ...], seed: int) -> Mutant:
    """One to three changes to one file of a tree; now and then another file suffers too."""
    random = Random(seed)
    changed: dict[str, bytes | None] = {}
    kinds: list[str] = []
    for path in random.sample(paths, 2 if random.random() < 0.1 and len(paths) > 1 else 1):
        if random.random() < 0.06:
            changed[path] = None
            kinds.append("file removed")
            continue
        data, done = mutated(tree.read(path), random)
        changed[path] = data
        kinds += done
    return Mutant(seed, tuple(kinds), changed)


def mutated(data: bytes, random: Random) -> tuple[bytes, list[str]]:
    """One to three changes to a file; gives what was done."""
    done: list[str] = []
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        if random.random() < 0.25:
            name = random.choice(tuple(_ON_BYTES))
            data = _ON_BYTES[name](data, random)
        else:
            name = random.choice(tuple(_ON_TOKENS))
            # Bytes that are no text any more stay as they are.
            tokens = _TOKEN.findall(data.decode("utf-8", "surrogateescape"))
            if tokens:
                _ON_TOKENS[name](tokens, random)
            data = "".join(tokens).encode("utf-8", "surrogateescape")
        done.append(name)
    return data, done


def _cut(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _cut_front(data: bytes, random: Random) -> bytes:
    return data[random.randrange(len(data) + 1) :]


def _hole(data: bytes, random: Random) -> bytes:
    start = random.randrange(len(data) + 1)
    return data[:start] + data[start + random.choice((1, 10, 200, 5000)) :]


def _flip(data: bytes, random: Random) -> bytes:
    out = bytearray(data)
    for _ in range(random.choice((1, 1, 4, 40)) if out else 0):
        out[random.randrange(len(out))] ^= 1 << random.randrange(8)
    return bytes(out)


def _drop_lines(data: bytes, random: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    start = random.randrange(len(lines) + 1)
    del lines[start : start + random.choice((1, 1, 2, 10))]
    return b"".join(lines)


def _repeat_lines(data: bytes, random: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    start = random.randrange(len(lines) + 1)
    part = lines[start : start + random.choice((1, 3, 30))]
    lines[start:start] = part * random.choice((1, 2, 50))
    return b"".join(lines)


def _swap_lines(data: bytes, random: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    if len(lines) > 1:
        one, other = random.sample(range(len(lines)), 2)
        lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def _empty(data: bytes, random: Random) -> bytes:
    return random.choice((b"", b"\n", b"\xff\xfe", b"\0" * 100, data.replace(b"\n", b"\r")))


def _delete(tokens: Tokens, random: Random) -> None:
    start = random.randrange(len(tokens))
    del tokens[start : start + random.choice((1, 1, 1, 2, 5))]


def _duplicate(tokens: Tokens, random: Random) -> None:
    start = random.randrange(len(tokens))
    tokens[start:start] = tokens[start : start + random.choice((1, 1, 5, 40))]


def _swap(tokens: Tokens, random: Random) -> None:
    one, other = random.randrange(len(tokens)), random.randrange(len(tokens))
    tokens[one], tokens[other] = tokens[other], tokens[one]


def _nest(tokens: Tokens, random: Random) -> None:
    places = [place for place, token in enumerate(tokens) if _NAME.fullmatch(token)]
    if places:
        place, depth = random.choice(places), random.choice(_DEPTHS)
        opened, closed = random.choice((("(", ")"), ("[", "]"), ("not (", ")"), ("f(", ")")))
        tokens[place] = opened * depth + tokens[place] + closed * depth


def _rename(tokens: Tokens, random: Random) -> None:
    names = sorted({token for token in tokens if _NAME.fullmatch(token)})
    if names:
        old, new = random.choice(names), random.choice(names)
        places = [place for place, token in enumerate(tokens) if token == old]
        for place in places if random.random() < 0.3 else [random.choice(places)]:
            tokens[place] = new


def _insert(tokens: Tokens, random: Random) -> None:
    tokens.insert(random.randrange(len(tokens) + 1), random.choice(_JUNK))


def _replace(tokens: Tokens, random: Random) -> None:
    tokens[random.randrange(len(tokens))] = random.choice((random.choice(tokens), *_JUNK))


def _indent(tokens: Tokens, random: Random) -> None:
    places = [place for place, token in enumerate(tokens) if token.startswith("\n")]
    if places:
        tokens[random.choice(places)] = "\n" + random.choice(("", " ", "    ", "\t", " " * 400))


_ON_BYTES: dict[str, Callable[[bytes, Random], bytes]] = {
    "cut": _cut,
    "cut in front": _cut_front,
    "hole": _hole,
    "bits flipped": _flip,
    "lines dropped": _drop_lines,
    "lines repeated": _repeat_lines,
    "lines swapped": _swap_lines,
    "emptied": _empty,
}
_ON_TOKENS: dict[str, Callable[[Tokens, Random], None]] = {
    "token deleted": _delete,
    "token duplicated": _duplicate,
    "tokens swapped": _swap,
    "token nested": _nest,
    "token renamed": _rename,
    "junk inserted": _insert,
    "token replaced": _replace,
    "indentation": _indent,
}
