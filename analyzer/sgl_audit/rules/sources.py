"""The syntax of single files, read when a rule needs to look closer than the facts."""

from __future__ import annotations

import ast
import re

from sgl_audit.errors import SourceError
from sgl_audit.rules.base import RuleContext
from sgl_audit.syntax import parse_source

_PARTS = ("/srt/", "/kernels/", "/jit_kernel/")


def server_files(context: RuleContext) -> tuple[str, ...]:
    """The files of the server and its kernels, without tests and other programs."""
    return context.once(_server_files)


def _server_files(context: RuleContext) -> tuple[str, ...]:
    return tuple(
        file
        for file in context.tree.files()
        if any(part in file for part in _PARTS) and "/test" not in file
    )


def data_of(context: RuleContext, file: str) -> bytes:
    """The bytes of a file; empty where it cannot be read (the facts say so elsewhere)."""
    # Kept for the rules' time: names are searched in every file, and a wheel unpacks on reading.
    contents = context.once(_contents)
    if file not in contents:
        try:
            contents[file] = context.tree.read(file)
        except (KeyError, SourceError):
            contents[file] = b""
    return contents[file]


def _contents(context: RuleContext) -> dict[str, bytes]:
    return {}


def syntax_of(context: RuleContext, file: str) -> ast.Module | None:
    """The syntax of one file, or None where it has none."""
    key = ("syntax", file)
    if key not in context.memory:
        try:
            context.memory[key] = parse_source(data_of(context, file))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            context.memory[key] = None
    found: ast.Module | None = context.memory[key]
    return found


def files_with(context: RuleContext, name: str) -> tuple[str, ...]:
    """The server's files in which a name occurs."""
    wanted = name.encode()
    return tuple(file for file in server_files(context) if wanted in data_of(context, file))


def lines_with(context: RuleContext, file: str, name: str) -> list[int]:
    """The numbers of the lines in which a name occurs as a word, ascending."""
    data = data_of(context, file)
    found: list[int] = []
    line, start = 1, 0
    for match in re.finditer(rb"\b" + re.escape(name.encode()) + rb"\b", data):
        line += data.count(b"\n", start, match.start())
        start = match.start()
        found.append(line)
    return found
