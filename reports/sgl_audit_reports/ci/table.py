"""The matrix as CSV: a row for each choice, a column for each capability."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from sgl_audit.model.evidence import JoinedRun
from sgl_audit.model.facts import Scalar
from sgl_audit.model.report import Audit, ChoiceCell
from sgl_audit_reports.ci.observed import observed_text, of_option
from sgl_audit_reports.common.text import value_text, visible

_FORMULA = ("=", "+", "-", "@")


def matrix_to_csv(audit: Audit, runs: Sequence[JoinedRun] | None = None) -> str:
    """RFC 4180, with a head line. A cell that nothing is known of says `unknown`.

    Args:
        runs: runs of the actual server. With them a last column says what they showed of a choice.
    """
    rows: dict[tuple[str, Scalar, str], dict[str, str]] = {}
    for cell in audit.cells:
        rows.setdefault(_key(cell), {})[cell.capability] = cell.state.value
    stream = io.StringIO()
    writer = csv.writer(stream)
    last = () if runs is None else ("evidence",)
    writer.writerow(_safe(("option", "choice", *audit.capabilities, *last)))
    for (option, choice, _), states in rows.items():
        found = (states.get(name, "unknown") for name in audit.capabilities)
        seen = () if runs is None else (_seen(runs, option, str(choice)),)
        writer.writerow(_safe((option, value_text(choice), *found, *seen)))
    return stream.getvalue()


def _seen(runs: Sequence[JoinedRun], option: str, choice: str) -> str:
    """What the runs showed that were to end with the choice, or did."""
    return "; ".join(
        observed_text(run, one)
        for run, one in of_option(runs, option)
        if choice in (one.predicted, one.observed)
    )


def _key(cell: ChoiceCell) -> tuple[str, Scalar, str]:
    # True and 1 are one key of a dict, but two choices.
    return (cell.option, cell.choice, type(cell.choice).__name__)


def _safe(values: Iterable[str]) -> list[str]:
    """Cells that no spreadsheet takes for a formula, whatever the source calls a choice."""
    return [_plain(visible(value)) for value in values]


def _plain(text: str) -> str:
    number = text.removeprefix("-").replace(".", "", 1).isdecimal()
    return f"'{text}" if text.startswith(_FORMULA) and not number else text
