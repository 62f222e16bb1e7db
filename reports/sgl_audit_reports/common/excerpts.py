"""Source excerpts made fit for display."""

from __future__ import annotations

from dataclasses import dataclass

from sgl_audit.model.report import Excerpt
from sgl_audit_reports.common.text import visible


@dataclass(frozen=True, slots=True)
class ExcerptLine:
    """One source line: its number, its visible text, and whether it is the one meant."""

    number: int
    text: str
    marked: bool


def excerpt_lines(excerpt: Excerpt) -> tuple[ExcerptLine, ...]:
    """The lines of an excerpt, controls shown, tabs as spaces."""
    return tuple(
        ExcerptLine(
            excerpt.first + offset,
            visible(source.rstrip("\r\n").expandtabs(4)),
            excerpt.first + offset == excerpt.place.line,
        )
        for offset, source in enumerate(excerpt.lines)
    )
