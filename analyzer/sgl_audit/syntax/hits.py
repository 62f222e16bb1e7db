"""Where a file mentions a pattern, found in one pass and asked by line range."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from itertools import accumulate

from sgl_audit.syntax.parse import ParsedFile


class LineHits:
    """The lines of one file that match a pattern. Statements and functions are line ranges."""

    __slots__ = ("_lines",)

    def __init__(self, parsed: ParsedFile, pattern: re.Pattern[bytes]) -> None:
        offsets = [match.start() for match in pattern.finditer(parsed.data)]
        self._lines: list[int] = []
        if offsets:
            # Each start counts the line end before it.
            starts = [0, *accumulate(len(line) + 1 for line in parsed.lines)]
            self._lines = sorted({bisect_right(starts, offset) for offset in offsets})

    def __bool__(self) -> bool:
        return bool(self._lines)

    def within(self, node: ast.AST) -> bool:
        """Whether the node's lines, decorators included, mention the pattern."""
        decorators = getattr(node, "decorator_list", None)
        first = decorators[0].lineno if decorators else getattr(node, "lineno", 0)
        position = bisect_left(self._lines, first)
        last = getattr(node, "end_lineno", None) or first
        return position < len(self._lines) and self._lines[position] <= last
