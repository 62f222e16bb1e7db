"""The console that reports print on, and the few pieces they are printed with."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from typing import TextIO

from rich.box import Box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from sgl_audit.model.report import Severity
from sgl_audit_reports.common.text import visible

SEVERITY_STYLE = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "yellow",
    Severity.NOTE: "cyan",
}
HEADING = "bold"
QUIET = "dim"
NO_BOX: Box | None = None


def make_console(
    file: TextIO | None = None, *, color: str = "auto", width: int | None = None
) -> Console:
    """A console for reports: source text is never markup.

    Args:
        file: where to print; stdout when None.
        color: "auto" (terminal, `NO_COLOR`, `FORCE_COLOR`), "always" or "never".
        width: columns; the terminal's, or 80 in a pipe, when None.
    """
    target = file if file is not None else sys.stdout
    # A terminal in a legacy encoding must not end a report with an exception.
    if isinstance(target, TextIOWrapper):
        target.reconfigure(errors="backslashreplace")
    return Console(
        file=target,
        width=width,
        markup=False,
        highlight=False,
        emoji=False,
        force_terminal=True if color == "always" else None,
        # None would let NO_COLOR overrule what was asked for.
        no_color={"never": True, "always": False}.get(color),
        color_system=None if color == "never" else "auto",
        # Without this, rich asks Jupyter and friends and prints HTML there.
        force_jupyter=False,
    )


def text(value: str, style: str = "") -> Text:
    """Source text as text: no markup, controls shown."""
    return Text(visible(value), style=style)


def line(*parts: tuple[str, str] | str) -> Text:
    """One line of styled parts."""
    result = Text()
    for part in parts:
        value, style = part if isinstance(part, tuple) else (part, "")
        result.append(visible(value), style=style)
    return result


def heading(console: Console, title: str) -> None:
    """A section heading with a blank line in front."""
    console.print()
    console.print(text(title, HEADING))


def indented(console: Console, value: Text, by: int = 2) -> None:
    """A paragraph whose every line is indented."""
    console.print(Padding(value, (0, 0, 0, by)))


def hanging(console: Console, label: Text, value: Text, width: int | None = None) -> None:
    """A label, and a paragraph that wraps beside it, or below where there is little room."""
    if 2 * (width or len(label)) > console.width:
        console.print(label)
        indented(console, value)
        return
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=width, no_wrap=True)
    grid.add_column(ratio=1, overflow="fold")
    grid.add_row(label, value)
    console.print(grid)


def plain_table(columns: Sequence[str], rows: Iterable[Sequence[Text]]) -> Table:
    """A table without lines, readable in a pipe."""
    table = Table(
        box=NO_BOX, padding=(0, 2, 0, 0), show_edge=False, pad_edge=False, header_style=HEADING
    )
    for column in columns:
        table.add_column(text(column), overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table
