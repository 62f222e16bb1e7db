"""The table option | default | becomes | verdict, for one capability or several."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from sgl_audit_reports.common.names import capability_range
from sgl_audit_reports.common.options import OptionCell, OptionRow
from sgl_audit_reports.terminal.console import (
    HEADING,
    QUIET,
    SEVERITY_STYLE,
    line,
    plain_table,
    text,
)

_WIDE = 110
# Below these widths a column wraps no further.
_NAME = 24
_DEFAULT = 8
_VERDICT = 18
_GAP = 2


def option_table(
    rows: Sequence[OptionRow], capabilities: Sequence[str], console: Console
) -> RenderableType:
    """One capability gets a verdict column, several get a column each, or lines where too many."""
    if len(capabilities) == 1:
        return _single(rows, capabilities[0], console.width)
    table = _several(rows, capabilities)
    # Measured against endless width, for rich clamps what it measures to the console.
    endless = console.options.update(width=10_000, max_width=10_000)
    if Measurement.get(console, endless, table).maximum <= console.width:
        return table
    return Group(*(part for row in rows for part in _lines(row, capabilities)))


def _single(rows: Sequence[OptionRow], capability: str, width: int) -> RenderableType:
    wide = width >= _WIDE
    verdicts = [_verdict(row.cells[0], wide) for row in rows]
    widths = _widths(rows, f"becomes on {capability}", verdicts, width)
    if widths is None:
        return Group(*(part for row in rows for part in _single_lines(row)))
    table = plain_table(("option", "default", f"becomes on {capability}", "verdict"), ())
    for column, own in zip(table.columns, widths, strict=True):
        column.width = own
    for row, verdict in zip(rows, verdicts, strict=True):
        table.add_row(text(row.option), text(row.default), text(row.cells[0].becomes), verdict)
    return table


def _widths(
    rows: Sequence[OptionRow], head: str, verdicts: Sequence[Text], width: int
) -> tuple[int, int, int, int] | None:
    """Widths in which nothing is cut: cells wrap, but numbers that lead to findings do not.

    None where there is no room for a table.
    """
    option = max(len("option"), *(len(row.option) for row in rows))
    default = max(len("default"), *(len(row.default) for row in rows))
    becomes = max(len(head), *(len(row.cells[0].becomes) for row in rows))
    verdict = max(len("verdict"), *(len(item) for item in verdicts))
    least = min(option, _NAME) + min(default, _NAME) + len(head) + 3 * _GAP
    verdict = min(verdict, max(_VERDICT, width - least))
    room = width - verdict - 3 * _GAP
    option = min(option, max(_NAME, room - default - becomes))
    default = min(default, max(_DEFAULT, room - option - len(head)))
    becomes = min(becomes, room - option - default)
    if becomes < len(head):
        return None
    return option, default, becomes, verdict


def _single_lines(row: OptionRow) -> list[RenderableType]:
    """One option where no table fits: a line of its own for each thing that is said of it."""
    cell = row.cells[0]
    said = line(f"default {row.default}, becomes {cell.becomes}")
    return [
        line((row.option, HEADING)),
        Padding(said, (0, 0, 0, 2)),
        Padding(_verdict(cell, False), (0, 0, 0, 2)),
    ]


def _verdict(cell: OptionCell, wide: bool) -> Text:
    verdict = line(((wide and cell.title) or cell.verdict, _style(cell)))
    verdict.append(_notes(cell, 3 if wide else 2))
    return verdict


def _several(rows: Sequence[OptionRow], capabilities: Sequence[str]) -> Table:
    # Fifteen capabilities rarely behave in fifteen ways: equal columns are one.
    groups: dict[object, list[int]] = {}
    for index in range(len(capabilities)):
        key = tuple((row.cells[index].becomes, row.cells[index].numbers) for row in rows)
        groups.setdefault(key, []).append(index)
    columns = ["option", "default"]
    columns += [_where(indexes, capabilities) for indexes in groups.values()]
    table = plain_table(columns, ())
    for column in table.columns:
        column.no_wrap = True
    for row in rows:
        cells = (_several_cell(row.cells[indexes[0]]) for indexes in groups.values())
        table.add_row(text(row.option), text(row.default), *cells)
    return table


def _lines(row: OptionRow, capabilities: Sequence[str]) -> list[RenderableType]:
    groups: dict[object, list[int]] = {}
    for index, cell in enumerate(row.cells):
        groups.setdefault((cell.becomes, cell.numbers), []).append(index)
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(overflow="fold")
    grid.add_column(overflow="fold")
    for indexes in groups.values():
        where = text(_where(indexes, capabilities), QUIET)
        grid.add_row(_several_cell(row.cells[indexes[0]]), where)
    return [line((row.option, HEADING), f"  default {row.default}"), Padding(grid, (0, 0, 0, 2))]


def _where(indexes: Sequence[int], capabilities: Sequence[str]) -> str:
    return capability_range([capabilities[index] for index in indexes], capabilities)


def _several_cell(cell: OptionCell) -> Text:
    value = line((cell.becomes, _style(cell)))
    value.append(_notes(cell))
    return value


def _notes(cell: OptionCell, limit: int = 3) -> str:
    if not cell.numbers:
        return ""
    numbers = [f"[{number}]" for number in cell.numbers[:limit]]
    more = f" +{len(cell.numbers) - limit}" if len(cell.numbers) > limit else ""
    return " " + "".join(numbers) + more


def _style(cell: OptionCell) -> str:
    if cell.severity is not None:
        return SEVERITY_STYLE[cell.severity]
    return "magenta" if cell.becomes == "unknown" else ""
