"""The option table and the matrix of choices by capability as page data."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TypeVar

from sgl_audit.model.facts import Scalar
from sgl_audit.model.report import Audit, ChoiceCell, ChoiceState
from sgl_audit.model.source import SourceInfo
from sgl_audit_reports.common.names import capability_range
from sgl_audit_reports.common.options import OptionCell
from sgl_audit_reports.common.overview import Overview
from sgl_audit_reports.common.text import plural, value_text, visible
from sgl_audit_reports.html.data import (
    Badge,
    CellItem,
    MatrixOption,
    MatrixRow,
    OptionItem,
    WhyItem,
)
from sgl_audit_reports.html.parts import SEVERITY_BADGE, STATE_BADGE, Anchors, cell_badge, link

_PLACES = 4
_APART = 4


def option_items(overview: Overview, to_path: Mapping[str, str]) -> tuple[OptionItem, ...]:
    """Every option, the worst first; `to_path` names the anchor of its way to a kernel."""
    anchors = {item.number: item.anchor for item in overview.findings}
    return tuple(
        OptionItem(
            visible(row.option),
            to_path.get(visible(row.option), ""),
            row.important,
            row.default,
            _runs([_cell(cell, anchors) for cell in row.cells]),
        )
        for row in overview.rows
    )


def _cell(cell: OptionCell, anchors: dict[int, str]) -> CellItem:
    return CellItem(
        cell.becomes,
        None if cell.severity is None else SEVERITY_BADGE[cell.severity],
        tuple((number, anchors[number]) for number in cell.numbers),
    )


def matrix_options(audit: Audit, overview: Overview, anchors: Anchors) -> tuple[MatrixOption, ...]:
    """The matrix; options with findings are open at first."""
    touched = {item.finding.option for item in overview.findings}
    by_option: dict[str, dict[Scalar, list[ChoiceCell]]] = {}
    for cell in audit.cells:
        by_option.setdefault(cell.option, {}).setdefault(cell.choice, []).append(cell)
    return tuple(
        MatrixOption(
            visible(option),
            anchors.take("matrix", option),
            option in touched,
            _summary(choices),
            tuple(_row(choice, cells, audit, anchors) for choice, cells in choices.items()),
        )
        for option, choices in by_option.items()
    )


def _summary(choices: dict[Scalar, list[ChoiceCell]]) -> str:
    states = [cell.state for cells in choices.values() for cell in cells]
    said = (
        (ChoiceState.REFUSED, "refused"),
        (ChoiceState.CONDITIONAL, "refused on conditions"),
        (ChoiceState.UNKNOWN, "unknown"),
    )
    # With several capabilities it is cells that are counted, and more of them than choices.
    of = "" if len(states) == len(choices) else f" of {len(states)}"
    counts = [f"{states.count(state)}{of} {words}" for state, words in said if state in states]
    return ", ".join((plural(len(choices), "choice"), *counts))


def _row(choice: Scalar, cells: Sequence[ChoiceCell], audit: Audit, anchors: Anchors) -> MatrixRow:
    badges = {cell.capability: cell_badge(cell) for cell in cells}
    unknown = STATE_BADGE[ChoiceState.UNKNOWN]
    return MatrixRow(
        value_text(choice),
        # Short, because every cell of the row repeats it.
        anchors.take("w", value_text(choice)),
        _runs([badges.get(name, unknown) for name in audit.capabilities]),
        _why(cells, audit.capabilities, audit.source),
    )


_Shown = TypeVar("_Shown", Badge, CellItem)


def _runs(cells: Sequence[_Shown]) -> tuple[tuple[_Shown, int], ...]:
    """Cells of a row; in a wide table equal neighbours are one, which is read at a glance."""
    if len(cells) <= _APART:
        return tuple((cell, 1) for cell in cells)
    return tuple((cell, len(list(same))) for cell, same in groupby(cells))


def _why(
    cells: Sequence[ChoiceCell], asked: Sequence[str], source: SourceInfo
) -> tuple[WhyItem, ...]:
    groups: dict[tuple[object, ...], list[ChoiceCell]] = {}
    for cell in cells:
        key = (cell_badge(cell), _there(cell), cell.places, cell.grounds)
        groups.setdefault(key, []).append(cell)
    return tuple(
        WhyItem(
            cell_badge(group[0]),
            capability_range([cell.capability for cell in group], asked),
            visible("; ".join((*filter(None, [_said(group)]), *group[0].grounds))),
            tuple(link(place, source) for place in group[0].places[:_PLACES]),
        )
        for group in groups.values()
    )


def _said(group: Sequence[ChoiceCell]) -> str:
    return group[0].why if len(group) == 1 else _there(group[0])


def _there(cell: ChoiceCell) -> str:
    """The reason without its capability's name, so that equal reasons are one line for all."""
    return re.sub(rf"\bon {re.escape(cell.capability)}\b", "there", cell.why)
