"""What one pass finds in each file, kept by the content of the file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sgl_audit.answers.store import AnswerStore

_Piece = TypeVar("_Piece")
File = tuple[str, bytes]


def by_content(
    store: AnswerStore | None,
    key: str,
    files: Sequence[File],
    make: Callable[[Sequence[File]], Sequence[_Piece]],
    lasting: Callable[[_Piece], bool] = lambda piece: True,
) -> list[_Piece]:
    """A piece for each file, in order.

    Args:
        key: names the pass and all that a piece depends on besides path and content of its file.
        files: tree path and bytes of each.
        make: gives the pieces of some files, in their order.
        lasting: whether a piece would be the same another time.
    """
    if store is None:
        return list(make(files))
    # All pieces of a tree lie in one answer: thousands of small files take longer to open.
    known: dict[str, tuple[bytes, Any]] = store.find(key, dict) or {}
    digests = [hashlib.sha256(data).digest() for _, data in files]
    new = [
        number
        for number, ((path, _), digest) in enumerate(zip(files, digests, strict=True))
        if path not in known or known[path][0] != digest
    ]
    made = dict(zip(new, make([files[number] for number in new]), strict=True)) if new else {}
    pieces = [
        made[number] if number in made else known[path][1] for number, (path, _) in enumerate(files)
    ]
    if new:
        rows = zip(files, digests, pieces, strict=True)
        store.keep(key, {path: (digest, it) for (path, _), digest, it in rows if lasting(it)})
    return pieces
