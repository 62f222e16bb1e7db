"""LibCST for one statement at a time. `ast` read the file before, so the text is valid Python.

LibCST is imported when the first statement needs it, and walked by hand: its visitors cost twice
the parse, and its matchers half a second to import.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sgl_audit.syntax.limits import MAX_DEPTH, MAX_SEGMENT_BYTES
from sgl_audit.syntax.parse import ParsedFile
from sgl_audit.syntax.text import span_bytes

if TYPE_CHECKING:
    import libcst

_OPENING = b"([{"
_CLOSING = b")]}"


def statement_cst(parsed: ParsedFile, node: ast.stmt) -> libcst.Module | None:
    """One statement with its comments, or None where it is too large or too deep to be safe."""
    segment = span_bytes(parsed, node)
    if len(segment) > MAX_SEGMENT_BYTES or nesting(segment) > MAX_DEPTH or _depth(node) > MAX_DEPTH:
        return None
    import libcst

    try:
        return libcst.parse_module(textwrap.dedent(segment.decode()) + "\n")
    except (libcst.ParserSyntaxError, RecursionError, UnicodeDecodeError):
        return None


def nesting(segment: bytes) -> int:
    """The deepest nesting of brackets, those in strings included: an upper bound."""
    depth = deepest = 0
    for byte in segment:
        if byte in _OPENING:
            depth += 1
            deepest = max(deepest, depth)
        elif byte in _CLOSING:
            depth = max(0, depth - 1)
    return deepest


def _depth(node: ast.AST) -> int:
    """The depth of the syntax, counted without recursion."""
    deepest = 0
    stack = [(node, 1)]
    while stack:
        inner, depth = stack.pop()
        deepest = max(deepest, depth)
        if depth > MAX_DEPTH:
            return depth
        stack.extend((child, depth + 1) for child in ast.iter_child_nodes(inner))
    return deepest


def element_notes(parsed: ParsedFile, node: ast.stmt) -> dict[str, str]:
    """The trailing comments of the strings in a statement's collections, by string."""
    if b"#" not in span_bytes(parsed, node):
        return {}
    module = statement_cst(parsed, node)
    notes: dict[str, str] = {}
    if module is not None:
        for collection in _collections(module):
            for value, note in _notes(collection):
                notes.setdefault(value, note)
    return notes


def _collections(node: libcst.CSTNode) -> Iterator[libcst.List | libcst.Tuple | libcst.Set]:
    import libcst

    if isinstance(node, (libcst.List, libcst.Tuple, libcst.Set)):
        yield node
    for child in node.children:
        yield from _collections(child)


def _notes(node: libcst.List | libcst.Tuple | libcst.Set) -> Iterator[tuple[str, str]]:
    import libcst

    elements = node.elements
    for number, element in enumerate(elements):
        if not isinstance(element.value, (libcst.SimpleString, libcst.ConcatenatedString)):
            continue
        value = element.value.evaluated_value
        comment = _after_comma(element)
        if comment is None and number == len(elements) - 1:
            comment = _before_close(node)
        if isinstance(value, str) and comment is not None:
            yield value, comment


def _after_comma(element: libcst.BaseElement) -> str | None:
    import libcst

    if not isinstance(element.comma, libcst.Comma):
        return None
    return _first_comment(element.comma.whitespace_after)


def _before_close(node: libcst.List | libcst.Tuple | libcst.Set) -> str | None:
    import libcst

    if isinstance(node, libcst.List):
        return _first_comment(node.rbracket.whitespace_before)
    if isinstance(node, libcst.Set):
        return _first_comment(node.rbrace.whitespace_before)
    return _first_comment(node.rpar[0].whitespace_before) if node.rpar else None


def _first_comment(space: libcst.BaseParenthesizableWhitespace) -> str | None:
    """The comment on the same line, without its mark; comments on lines below belong elsewhere."""
    import libcst

    if not isinstance(space, libcst.ParenthesizedWhitespace):
        return None
    comment = space.first_line.comment
    return None if comment is None else comment.value.lstrip("#").strip() or None
