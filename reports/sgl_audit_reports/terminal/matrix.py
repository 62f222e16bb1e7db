"""Options and choices by capability, on one screen."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sgl_audit.model.facts import Scalar
from sgl_audit.model.report import Audit, ChoiceCell, ChoiceState
from sgl_audit.model.verdict import Verdict
from sgl_audit_reports.common.names import capability_range, in_order
from sgl_audit_reports.common.text import value_text, visible
from sgl_audit_reports.terminal.console import (
    QUIET,
    heading,
    indented,
    line,
    plain_table,
    text,
)
from sgl_audit_reports.terminal.recommendation import STYLES
from sgl_audit_reports.terminal.symbols import SHORT, symbol

_NAMES = 36
_GROUNDS = 3


def render_matrix(audit: Audit, console: Console, *, option: str | None = None) -> None:
    """The matrix of an audit, of one option only where it is named."""
    cells = [cell for cell in audit.cells if option in (None, cell.option)]
    render_cells(cells, audit.capabilities, console)
    _verdicts(cells, console)


def _verdicts(cells: Sequence[ChoiceCell], console: Console) -> None:
    """What is known of choices that can be had, where something speaks of them."""
    told = [cell for cell in cells if cell.grounds and cell.state is not ChoiceState.REFUSED]
    if not told:
        return
    heading(console, "What is known of them")
    for cell in told:
        verdict = cell.verdict or Verdict.UNKNOWN
        name = f"{cell.option} = {value_text(cell.choice)} on {cell.capability}: "
        console.print(line(name, (verdict.value, STYLES[verdict])))
        for ground in cell.grounds[:_GROUNDS]:
            indented(console, text(ground, QUIET))


def render_cells(
    cells: Sequence[ChoiceCell], capabilities: Sequence[str], console: Console
) -> None:
    """Cells as a table: a symbol, with a word where there is room; legend below."""
    names = in_order(capabilities or (cell.capability for cell in cells))
    columns = _equal_columns(cells, names)
    first = min(_NAMES, max((len(label) for label, _ in _labels(cells)), default=0))
    wide = console.width >= first + 2 + 10 * len(columns)
    room = max(1, (console.width - first - 2) // (10 if wide else 8))
    for start in range(0, len(columns), room):
        if start:
            console.print()
        console.print(_table(cells, columns[start : start + room], names, wide, console))
    console.print(_legend(console))


def _labels(cells: Sequence[ChoiceCell]) -> list[tuple[str, tuple[str, Scalar] | None]]:
    rows: list[tuple[str, tuple[str, Scalar] | None]] = []
    for option in dict.fromkeys(cell.option for cell in cells):
        rows.append((visible(option), None))
        choices = dict.fromkeys(cell.choice for cell in cells if cell.option == option)
        rows += [(f"  {value_text(choice)}", (option, choice)) for choice in choices]
    return rows


def _equal_columns(
    cells: Sequence[ChoiceCell], names: Sequence[str]
) -> list[tuple[tuple[str, ...], dict[tuple[str, Scalar], ChoiceState]]]:
    # Capabilities on which every choice stands alike share a column, or it is no one screen.
    groups: dict[object, list[str]] = {}
    states: dict[str, dict[tuple[str, Scalar], ChoiceState]] = {name: {} for name in names}
    for cell in cells:
        if cell.capability in states:
            states[cell.capability][cell.option, cell.choice] = cell.state
    for name in names:
        groups.setdefault(frozenset(states[name].items()), []).append(name)
    return [(tuple(group), states[group[0]]) for group in groups.values()]


def _table(
    cells: Sequence[ChoiceCell],
    columns: Sequence[tuple[tuple[str, ...], dict[tuple[str, Scalar], ChoiceState]]],
    capabilities: Sequence[str],
    wide: bool,
    console: Console,
) -> Table:
    table = plain_table(("option / choice", *("" for _ in columns)), ())
    table.columns[0].max_width = _NAMES
    for column, (names, _) in zip(table.columns[1:], columns, strict=True):
        ranges = capability_range(names, capabilities).split(", ")
        column.header = Text("\n".join(name.replace(" to ", " to\n") for name in ranges))
    for label, key in _labels(cells):
        if key is None:
            table.add_row(text(label, "bold"))
            continue
        marks = (states.get(key, ChoiceState.UNKNOWN) for _, states in columns)
        table.add_row(text(label), *(_mark(state, wide, console) for state in marks))
    return table


def _mark(state: ChoiceState, wide: bool, console: Console) -> Text:
    sign, style = symbol(state, console)
    return text(f"{sign} {SHORT[state]}" if wide else sign, style)


def _legend(console: Console) -> Text:
    parts: list[tuple[str, str] | str] = []
    for state in ChoiceState:
        sign, style = symbol(state, console)
        parts += [(sign, style), (f" {state.value}   ", QUIET)]
    return line(*parts)
