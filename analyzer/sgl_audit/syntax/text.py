"""Source text of nodes, as one line for guards and as written for excerpts."""

from __future__ import annotations

import ast

from sgl_audit.syntax.parse import ParsedFile

MAX_TEXT = 240


def raw_segment(parsed: ParsedFile, node: ast.expr | ast.stmt) -> bytes:
    """The exact bytes of a node, with newlines."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    end = node.end_col_offset or 0
    if first == last:
        return parsed.lines[first][node.col_offset : end]
    middle = parsed.lines[first + 1 : last]
    head, tail = parsed.lines[first][node.col_offset :], parsed.lines[last][:end]
    return b"\n".join((head, *middle, tail))


def one_line(parsed: ParsedFile, node: ast.expr | ast.stmt) -> str:
    """A node on one line: as written where it fits one line, else unparsed without comments."""
    if node.lineno == node.end_lineno:
        text = raw_segment(parsed, node).decode(errors="replace")
    else:
        text = _unparse(node)
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 3] + "..."


def span_bytes(parsed: ParsedFile, node: ast.stmt) -> bytes:
    """All lines of a statement, decorators included; cheap to search for literals."""
    decorators = getattr(node, "decorator_list", None)
    first = decorators[0].lineno if decorators else node.lineno
    return b"\n".join(parsed.lines[first - 1 : node.end_lineno])


def _unparse(node: ast.AST) -> str:
    try:
        return " ".join(ast.unparse(node).split())
    except (RecursionError, ValueError):
        return f"<{type(node).__name__.lower()} too deep to print>"
