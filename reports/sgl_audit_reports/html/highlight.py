"""Source excerpts highlighted by pygments, which escapes what it is given."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from sgl_audit.model.report import Excerpt
from sgl_audit_reports.common.excerpts import excerpt_lines
from sgl_audit_reports.html.data import CodeLine

if TYPE_CHECKING:
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers.python import PythonLexer

# Spans that the style sheet does not colour: half the bytes of an excerpt.
_UNSTYLED = re.compile(r'<span class="p-(?:n|p|o|w|nn|ne|fm|vm)">([^<]*)</span>')


def code_lines(excerpt: Excerpt) -> tuple[CodeLine, ...]:
    """The lines of an excerpt, each as HTML."""
    lines = excerpt_lines(excerpt)
    marked_up = _highlighted(tuple(line.text for line in lines))
    return tuple(
        CodeLine(line.number, markup, line.marked)
        for line, markup in zip(lines, marked_up, strict=True)
    )


@lru_cache(maxsize=4096)
def _highlighted(lines: tuple[str, ...]) -> tuple[Markup, ...]:
    from pygments import highlight

    lexer, formatter = _tools()
    result = highlight("\n".join(lines) + "\n", lexer, formatter).split("\n")[:-1]
    if len(result) != len(lines):
        # A lexer that loses a line must not shift the numbers beside the others.
        return tuple(escape(line) for line in lines)
    return tuple(Markup(_UNSTYLED.sub(r"\1", line)) for line in result)


@lru_cache(maxsize=1)
def _tools() -> tuple[PythonLexer, HtmlFormatter[str]]:
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers.python import PythonLexer

    return PythonLexer(stripnl=False), HtmlFormatter(nowrap=True, classprefix="p-")
