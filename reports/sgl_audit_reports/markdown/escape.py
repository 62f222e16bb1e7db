"""Source text inside Markdown: as text, never as markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sgl_audit.model.source import Place, SourceInfo
from sgl_audit_reports.common.names import upstream_url
from sgl_audit_reports.common.text import visible

_MARKUP = re.compile(r"([\\`*_\[\]#|~$])")
_LEADING = re.compile(r"^(\d*)([-+=.)])")
_BACKTICKS = re.compile(r"`+")
# GitHub turns these into mentions, references and links without any markup around them.
_AUTOMATIC = re.compile(r"@|://|www\.|#(?=\d)", re.IGNORECASE)


def escaped(text: str) -> str:
    """Plain text for a paragraph or a table cell."""
    shown = _LEADING.sub(r"\1\\\2", _MARKUP.sub(r"\\\1", visible(text)))
    return _without_html(shown)


def in_html(text: str) -> str:
    """Plain text inside an HTML element such as a summary, where no Markdown is read."""
    return _without_html(visible(text))


def _without_html(text: str) -> str:
    shown = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _AUTOMATIC.sub(lambda match: _broken(match.group()), shown)


def _broken(text: str) -> str:
    # A zero-width word joiner as an entity stops the link and is not seen.
    return f"{text[0]}&#8288;{text[1:]}"


def code(text: str) -> str:
    """A code span."""
    shown = visible(text)
    if not shown.strip():
        return ""
    longest = max((len(match) for match in _BACKTICKS.findall(shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def fenced(lines: Sequence[str], language: str = "") -> list[str]:
    """A code block whose fence no line of it can close."""
    longest = max((len(run) for line in lines for run in _BACKTICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *(visible(line) for line in lines), fence]


def place_link(place: Place | None, source: SourceInfo) -> str:
    """The place as code, linked upstream where that is known."""
    if place is None:
        return ""
    url = upstream_url(source, place)
    shown = code(str(place))
    return f"[{shown}]({url})" if url else shown


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table of cells that are already Markdown."""
    head = f"| {' | '.join(columns)} |"
    rule = f"|{'|'.join([' --- '] * len(columns))}|"
    body = (f"| {' | '.join(_in_table(cell) for cell in row)} |" for row in rows)
    return [head, rule, *body, ""]


def _in_table(cell: str) -> str:
    # A table splits at an unescaped | even inside a code span.
    return re.sub(r"(?<!\\)\|", r"\\|", cell)
