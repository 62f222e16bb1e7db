"""Source lines around a place."""

from __future__ import annotations

from functools import lru_cache

from sgl_audit.errors import SourceError
from sgl_audit.model.report import Excerpt
from sgl_audit.model.source import Place, SourceTree
from sgl_audit.syntax.parse import decode


def excerpt(tree: SourceTree, place: Place, context: int = 2) -> Excerpt:
    """The line of a place with `context` lines before and after; empty where it is unreadable."""
    try:
        lines = _lines(tree.read(place.file))
    except (KeyError, SourceError, SyntaxError, UnicodeDecodeError):
        return Excerpt(place, place.line, ())
    first = max(1, place.line - context)
    return Excerpt(place, first, lines[first - 1 : place.line + context])


@lru_cache(maxsize=32)
def _lines(data: bytes) -> tuple[str, ...]:
    return tuple(decode(data).split("\n"))
