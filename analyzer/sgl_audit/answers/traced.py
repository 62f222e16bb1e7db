"""Answers kept with the files that they were made from: a change elsewhere leaves them valid."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from sgl_audit.answers.keys import key_of
from sgl_audit.answers.store import AnswerStore
from sgl_audit.errors import SourceError
from sgl_audit.model.source import SourceInfo, SourceTree

_Answer = TypeVar("_Answer")
_CHANGED = "changed while it was read"


class ReadTree:
    """A tree that takes note of what is read of it: path -> digest of what was there.

    Which files there are is no part of the note: answers are named by the list of all.
    """

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._read: dict[str, str] = {}

    @property
    def info(self) -> SourceInfo:
        """What this tree is."""
        return self._tree.info

    @property
    def noted(self) -> dict[str, str]:
        """The files asked for so far, whether there are such files or not."""
        return dict(self._read)

    def note(self, read: Mapping[str, str]) -> None:
        """Add what a copy of this tree in another process was asked for."""
        for path, digest in read.items():
            if self._read.setdefault(path, digest) != digest:
                # It changed in between: no content fits this answer.
                self._read[path] = _CHANGED

    def files(self) -> tuple[str, ...]:
        """Every Python file of the package, sorted."""
        return self._tree.files()

    def has(self, path: str) -> bool:
        """Whether `path` is one of `files()`."""
        return self._tree.has(path)

    def read(self, path: str) -> bytes:
        """The bytes of one file.

        Raises:
            KeyError: no such file in the tree.
            SourceError: the file is over the size limit or cannot be read.
        """
        try:
            data = self._tree.read(path)
        except (KeyError, SourceError) as error:
            self._read.setdefault(path, _missing(error))
            raise
        if path not in self._read:
            self._read[path] = hashlib.sha256(data).hexdigest()
        return data


def noted(tree: SourceTree) -> dict[str, str]:
    """What was read so far of a tree that takes note; of any other, nothing."""
    return tree.noted if isinstance(tree, ReadTree) else {}


def note(tree: SourceTree, read: Mapping[str, str]) -> None:
    """Tell a tree that takes note what was read of its copy in another process."""
    if isinstance(tree, ReadTree):
        tree.note(read)


@dataclass(frozen=True, slots=True)
class _Kept:
    answer: Any
    read: tuple[tuple[str, str], ...]


def traced(
    store: AnswerStore | None,
    kind: str,
    parts: Iterable[object],
    tree: SourceTree,
    form: type[_Answer],
    make: Callable[[SourceTree], _Answer],
) -> _Answer:
    """An answer made from some files of a tree, or the kept one where those files are the same.

    Args:
        parts: all that the answer depends on besides the tree.
        make: makes the answer from the tree that it is given, and reads no other way.
    """
    if store is None:
        return make(tree)
    listing = hashlib.sha256("\n".join(tree.files()).encode("utf-8", "surrogatepass"))
    key = key_of(kind, (*parts, repr(tree.info), listing.hexdigest()))
    known = store.find(key, _Kept)
    if known is not None and isinstance(known.answer, form) and _unchanged(tree, known.read):
        return known.answer
    reading = ReadTree(tree)
    answer = make(reading)
    store.keep(key, _Kept(answer, tuple(sorted(reading.noted.items()))))
    return answer


def _unchanged(tree: SourceTree, read: Iterable[tuple[str, str]]) -> bool:
    return all(_content(tree, path) == digest for path, digest in read)


def _content(tree: SourceTree, path: str) -> str:
    try:
        return hashlib.sha256(tree.read(path)).hexdigest()
    except (KeyError, SourceError) as error:
        return _missing(error)


def _missing(error: KeyError | SourceError) -> str:
    return "no such file" if isinstance(error, KeyError) else f"unreadable: {error}"
