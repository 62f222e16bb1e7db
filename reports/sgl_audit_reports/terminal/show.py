"""Everything about one name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from sgl_audit.model.report import ShowPage, ShowRow, ShowSection
from sgl_audit_reports.common.text import visible
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

# Where the last column gets less than this, paragraphs are easier to read.
_LAST = 34
_GAP = 2
# How a cell begins that names the function of its place.
_INSIDE = "in "


def render_show(page: ShowPage, console: Console, *, details: bool = False) -> None:
    """Print a page section by section; `details` adds every row, and the source at each place."""
    place = f"  {page.place}" if page.place is not None else ""
    console.print(line((page.name, HEADING), f" ({page.kind})", (place, QUIET)))
    if page.summary:
        console.print(text(page.summary))
    for section in page.sections:
        if section.rows or section.empty:
            _section(section, console, details)


def _section(section: ShowSection, console: Console, details: bool) -> None:
    rows = section.rows if details else section.rows[: section.first]
    hidden = len(section.rows) - len(rows)
    heading(console, f"{section.heading} ({len(section.rows)})" if hidden else section.heading)
    if not rows:
        indented(console, text(section.empty, QUIET))
    elif section.columns:
        console.print(_tabled(section.columns, rows, console.width))
    else:
        for row in rows:
            _place(row, console, details)
    if hidden:
        indented(console, text(f"... {hidden} more: --details", QUIET))


def _place(row: ShowRow, console: Console, details: bool) -> None:
    """A place of the source, and below it what stands there, when, and in which function."""
    said, *rest = [cell for cell in row.cells if cell] or [""]
    if row.place is not None:
        where = str(row.place)
        inside = f"{where}  {rest[-1]}" if rest and rest[-1].startswith(_INSIDE) else ""
        if inside and len(visible(inside)) + _GAP <= console.width:
            where = inside
            rest.pop()
        indented(console, text(where, QUIET))
    if said:
        indented(console, text(said), 4)
    for cell in rest:
        indented(console, text(cell, QUIET), 6)
    if details and row.excerpt is not None:
        render_excerpt(row.excerpt, console, 4)


def _tabled(columns: Sequence[str], rows: Sequence[ShowRow], width: int) -> RenderableType:
    """A table: with its places beside it, else below what they belong to, else as paragraphs."""
    used = [i for i, _ in enumerate(columns) if any("".join(row.cells[i : i + 1]) for row in rows)]
    columns = [columns[index] for index in used]
    rows = [
        replace(row, cells=tuple("".join(row.cells[index : index + 1]) for index in used))
        for row in rows
    ]
    placed = any(row.place is not None for row in rows)
    beside = [*columns, "place"] if placed else list(columns)
    body = [_cells(row, len(columns)) + ([_where(row)] if placed else []) for row in rows]
    if sum(_widths(beside, body)) + _GAP * len(beside) <= width:
        return _headed(beside, body)
    body = [_below(_cells(row, len(columns)), row) for row in rows]
    widths = _widths(columns, body)
    last = min(widths[-1], width - sum(widths[:-1]) - _GAP * len(widths))
    if last < min(_LAST, widths[-1]):
        return _blocks(rows)
    table = _headed(columns, body)
    for column, own in zip(table.columns, (*widths[:-1], last), strict=True):
        column.width = own
    return table


def _headed(columns: Sequence[str], body: Sequence[Sequence[Text]]) -> Table:
    table = plain_table(columns, body)
    table.show_header = any(columns)
    return table


def _blocks(rows: Sequence[ShowRow]) -> RenderableType:
    """What a row names on one line, and what is said of it below."""
    parts: list[RenderableType] = []
    for row in rows:
        *named, said = row.cells
        parts.append(Padding(line("  ".join(cell for cell in named if cell)), (0, 0, 0, 2)))
        parts += [
            Padding(item, (0, 0, 0, 6)) for item in (text(said, QUIET), _where(row)) if item.plain
        ]
    return Group(*parts)


def _cells(row: ShowRow, count: int) -> list[Text]:
    cells = [text(cell) for cell in row.cells[:count]]
    return cells + [text("")] * (count - len(cells))


def _where(row: ShowRow) -> Text:
    return text("" if row.place is None else str(row.place), QUIET)


def _below(cells: list[Text], row: ShowRow) -> list[Text]:
    """The last cell with the place on a line of its own."""
    last = cells[-1]
    if row.place is not None:
        last = Text("\n" if last.plain else "").join([last, _where(row)])
    return [*cells[:-1], last]


def _widths(columns: Sequence[str], body: Sequence[Sequence[Text]]) -> list[int]:
    """The longest line of each column."""
    lines = [
        [len(part) for cell in column for part in cell.plain.split("\n")]
        for column in zip(*body, strict=True)
    ]
    return [max(len(head), *own) for head, own in zip(columns, lines, strict=True)]
