"""Bytes to a parsed file. `ast` is the guard: what it refuses never reaches LibCST."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from dataclasses import dataclass, field

from sgl_audit.model.source import Diagnostic, Place
from sgl_audit.syntax.limits import MAX_FILE_BYTES, MAX_NESTING


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """One file: its tree path, its `ast`, its text as UTF-8, and the lines of that.

    `ast` counts columns in UTF-8 bytes, so slicing the encoded lines is exact for any text.
    """

    path: str
    tree: ast.Module
    data: bytes = field(repr=False)
    lines: tuple[bytes, ...] = field(repr=False)

    def place(self, node: ast.AST) -> Place:
        """Where a node begins; line 1 for nodes that carry no position."""
        return Place(self.path, getattr(node, "lineno", 1), getattr(node, "col_offset", 0))


def decode(data: bytes) -> str:
    """Text of Python source, with line ends as newlines.

    Raises:
        SyntaxError: unknown or contradictory coding declaration.
        UnicodeDecodeError: the bytes are not in the declared encoding.
    """
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    text = data.decode(encoding)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parse_source(source: str | bytes, filename: str = "<source>") -> ast.Module:
    """The syntax of a file that every reader of it can walk; warnings are its author's affair.

    Raises:
        SyntaxError: it is not Python, or its statements are nested too deeply.
        ValueError, MemoryError, RecursionError: it is not text, too large, or beyond the parser.
    """
    if len(source) > MAX_FILE_BYTES:
        raise ValueError(f"larger than {MAX_FILE_BYTES} bytes")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(source, filename=filename)
    line = _too_deep(tree)
    if line is not None:
        raise SyntaxError("statements nested too deeply", (filename, line, None, None))
    return tree


def _too_deep(tree: ast.Module) -> int | None:
    """The line of a statement that lies too deep, found without recursion."""
    pending: list[tuple[list[ast.stmt], int]] = [(tree.body, 1)]
    while pending:
        body, depth = pending.pop()
        if depth > MAX_NESTING and body:
            return body[0].lineno
        for node in body:
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(node, name, None)
                if inner:
                    pending.append((inner, depth + 1))
            for name in ("handlers", "cases"):
                pending += [(part.body, depth + 1) for part in getattr(node, name, ())]
    return None


def parse_file(path: str, data: bytes) -> ParsedFile | Diagnostic:
    """Parse one file; anything that cannot be read becomes a diagnostic with its reason."""
    if len(data) > MAX_FILE_BYTES:
        return Diagnostic(f"file has {len(data)} bytes, more than {MAX_FILE_BYTES}", Place(path, 1))
    try:
        text = decode(data)
        tree = parse_source(text, path)
    except SyntaxError as error:
        return Diagnostic(f"not valid Python: {error.msg}", Place(path, error.lineno or 1))
    except (ValueError, MemoryError, RecursionError) as error:
        reason = str(error) or type(error).__name__
        return Diagnostic(f"cannot be parsed: {reason}", Place(path, 1))
    encoded = text.encode()
    return ParsedFile(path, tree, encoded, tuple(encoded.split(b"\n")))
