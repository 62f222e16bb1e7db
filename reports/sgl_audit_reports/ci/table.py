"""The matrix as CSV: a row for each choice, a column for each capability."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from sgl_audit.model.facts import Scalar
from sgl_audit.model.report import Audit, ChoiceCell
from sgl_audit_reports.common.text import value_text, visible

_FORMULA = ("=", "+", "-", "@")


def matrix_to_csv(audit: Audit) -> str:
    """RFC 4180, with a head line. A cell that nothing is known of says `unknown`."""
    rows: dict[tuple[str, Scalar, str], dict[str, str]] = {}
    for cell in audit.cells:
        rows.setdefault(_key(cell), {})[cell.capability] = cell.state.value
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(_safe(("option", "choice", *audit.capabilities)))
    for (option, choice, _), states in rows.items():
        found = (states.get(name, "unknown") for name in audit.capabilities)
        writer.writerow(_safe((option, value_text(choice), *found)))
    return stream.getvalue()


def _key(cell: ChoiceCell) -> tuple[str, Scalar, str]:
    # True and 1 are one key of a dict, but two choices.
    return (cell.option, cell.choice, type(cell.choice).__name__)


def _safe(values: Iterable[str]) -> list[str]:
    """Cells that no spreadsheet takes for a formula, whatever the source calls a choice."""
    return [_plain(visible(value)) for value in values]


def _plain(text: str) -> str:
    number = text.removeprefix("-").replace(".", "", 1).isdecimal()
    return f"'{text}" if text.startswith(_FORMULA) and not number else text
