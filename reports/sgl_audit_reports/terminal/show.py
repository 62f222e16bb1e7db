"""Everything about one name."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from sgl_audit.model.report import ShowPage, ShowRow, ShowSection
from sgl_audit_reports.terminal.console import (
    HEADING,
    QUIET,
    heading,
    indented,
    line,
    plain_table,
    text,
)
from sgl_audit_reports.terminal.findings import render_excerpt


def render_show(page: ShowPage, console: Console) -> None:
    """Print a page section by section."""
    place = f"  {page.place}" if page.place is not None else ""
    console.print(line((page.name, HEADING), f" ({page.kind})", (place, QUIET)))
    if page.summary:
        console.print(text(page.summary))
    for section in page.sections:
        if section.rows or section.empty:
            heading(console, section.heading)
            _section(section, console)


def _section(section: ShowSection, console: Console) -> None:
    if not section.rows:
        indented(console, text(section.empty, QUIET))
    elif section.columns and _fits(section, console.width):
        columns = (*section.columns, "place")
        console.print(plain_table(columns, (_cells(row, len(columns)) for row in section.rows)))
    else:
        for row in section.rows:
            place = f"  {row.place}" if row.place is not None else ""
            cells = "  ".join(cell for cell in row.cells if cell)
            indented(console, line(cells, (place, QUIET)))
            _excerpt(row, console)


def _fits(section: ShowSection, width: int) -> bool:
    # A table that must fold its places is harder to read than a list.
    if any(row.excerpt is not None for row in section.rows):
        return False
    columns = zip(*(_cells(row, len(section.columns) + 1) for row in section.rows), strict=True)
    return sum(max(len(cell) for cell in column) + 2 for column in columns) <= width


def _cells(row: ShowRow, count: int) -> list[Text]:
    cells = [text(cell) for cell in row.cells[: count - 1]]
    cells += [text("")] * (count - 1 - len(cells))
    return [*cells, text("" if row.place is None else str(row.place), QUIET)]


def _excerpt(row: ShowRow, console: Console) -> None:
    if row.excerpt is not None:
        render_excerpt(row.excerpt, console, 4)
