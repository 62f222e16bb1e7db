"""Tables at any width: nothing is cut, and nothing is wider than the terminal."""

from __future__ import annotations

import io
import re

import pytest
from rich.cells import cell_len

from sgl_audit_reports.common.overview import overview_of
from sgl_audit_reports.common.text import default_text
from sgl_audit_reports.terminal.console import hanging, make_console, text
from sgl_audit_reports.terminal.option_table import option_table

from . import sample

WIDTHS = (20, 30, 40, 60, 72, 80, 100, 120, 200)
AUDIT = sample.audit("sm120")
ROWS = overview_of(AUDIT).rows


def table(width: int) -> str:
    stream = io.StringIO()
    console = make_console(stream, color="never", width=width)
    console.print(option_table(ROWS, AUDIT.capabilities, console))
    return stream.getvalue()


@pytest.mark.parametrize("width", WIDTHS)
def test_no_verdict_and_no_number_is_lost(width: int) -> None:
    said = table(width)
    assert all(cell_len(line.rstrip()) <= width for line in said.splitlines())
    letters = sorted(re.sub(r"\s", "", said))
    for row in ROWS:
        cell = row.cells[0]
        for number in cell.numbers[: 3 if width >= 110 else 2]:
            assert f"[{number}]" in said
        own = sorted(re.sub(r"\s", "", row.option + row.default + cell.becomes))
        assert not set(own) - set(letters)
    whole = sum(len(re.sub(r"\s", "", r.option + r.default + r.cells[0].becomes)) for r in ROWS)
    assert len(letters) >= whole


def test_a_long_label_leaves_room_for_what_it_names() -> None:
    stream = io.StringIO()
    label = "NOT SAFE BY DEFAULT on sm120:"
    hanging(make_console(stream, color="never", width=40), text(label), text("BF16 Some"), 29)
    assert [line.rstrip() for line in stream.getvalue().splitlines()] == [label, "  BF16 Some"]


def test_a_default_that_is_called_null_is_set() -> None:
    assert default_text("null") == "null"
    assert {default_text(nothing) for nothing in ("None", "unset", "")} == {"(unset)"}
