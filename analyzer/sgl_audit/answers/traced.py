"""Answers kept with the files that they were made from: a change elsewhere leaves them valid."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sgl_audit.answers.keys import key_of
from sgl_audit.answers.store import AnswerStore
from sgl_audit.errors import SourceError
from sgl_audit.memory import uncollected
from sgl_audit.model.source import SourceInfo, SourceTree
from sgl_audit.source.key import absence, content_of, digest_of
from sgl_audit.workers import at_work

_Answer = TypeVar("_Answer")
_Asked = TypeVar("_Asked")
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
            self._read.setdefault(path, absence(error))
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


def apart(
    work: Callable[[SourceTree, _Asked], _Answer], tree: SourceTree, asked: _Asked
) -> _Answer:
    """`work(tree, asked)` in a process of its own, which gives its memory back at its end."""
    with at_work(_with_notes, [(work, tree, asked)]) as results:
        answer, read = next(results)
    note(tree, read)
    return answer


def _with_notes(
    given: tuple[Callable[[SourceTree, _Asked], _Answer], SourceTree, _Asked],
) -> tuple[_Answer, dict[str, str]]:
    work, tree, asked = given
    with uncollected():
        return work(tree, asked), noted(tree)


@dataclass(frozen=True, slots=True)
class _Kept:
    answer: Any
    read: tuple[tuple[str, str], ...]


class Trace(Generic[_Answer]):
    """One answer that is made from some files of a tree: the kept one, or one to be made.

    Attributes:
        tree: what the answer has to be made from, by reading it and in no other way.
        found: the kept answer, where the files that it was made from are the same; else None.
    """

    def __init__(
        self,
        store: AnswerStore | None,
        kind: str,
        parts: Iterable[object],
        tree: SourceTree,
        form: type[_Answer],
    ) -> None:
        """Look for the answer.

        Args:
            parts: all that it depends on besides the tree.
        """
        self.tree, self.found = tree, None
        self._store = store
        if store is None:
            return
        self._key = key_of(kind, (*parts, tree.info, digest_of(tree.files())))
        known = store.find(self._key, _Kept)
        if known is not None and isinstance(known.answer, form) and _unchanged(tree, known.read):
            self.found = known.answer
        else:
            self.tree = ReadTree(tree)

    def keep(self, answer: _Answer) -> _Answer:
        """Keep the answer that was made, and give it."""
        if self._store is not None:
            self._store.keep(self._key, _Kept(answer, tuple(sorted(noted(self.tree).items()))))
        return answer


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
    trace = Trace(store, kind, parts, tree, form)
    return trace.found if trace.found is not None else trace.keep(make(trace.tree))


def _unchanged(tree: SourceTree, read: Iterable[tuple[str, str]]) -> bool:
    return all(content_of(tree, path) == digest for path, digest in read)
