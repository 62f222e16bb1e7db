"""One symbol for each state, so that colour never carries meaning alone."""

from __future__ import annotations

from rich.console import Console

from sgl_audit.model.report import ChoiceState

_SYMBOLS: dict[ChoiceState, tuple[str, str, str]] = {
    ChoiceState.DEFAULT: ("●", "*", "bold green"),
    ChoiceState.AUTOMATIC: ("◆", "+", "green"),
    ChoiceState.FLAG: ("○", "o", "cyan"),
    ChoiceState.REFUSED: ("✗", "x", "red"),
    ChoiceState.CONDITIONAL: ("△", "c", "yellow"),
    ChoiceState.UNREACHABLE: ("–", "-", "dim"),
    ChoiceState.UNKNOWN: ("?", "?", "magenta"),
}


def symbol(state: ChoiceState, console: Console) -> tuple[str, str]:
    """Symbol and style; ASCII where the terminal's encoding has nothing else."""
    rich_symbol, ascii_symbol, style = _SYMBOLS[state]
    return (ascii_symbol if console.options.ascii_only else rich_symbol), style


SHORT: dict[ChoiceState, str] = {
    ChoiceState.DEFAULT: "default",
    ChoiceState.AUTOMATIC: "auto",
    ChoiceState.FLAG: "flag",
    ChoiceState.REFUSED: "refused",
    ChoiceState.CONDITIONAL: "cond",
    ChoiceState.UNREACHABLE: "never",
    ChoiceState.UNKNOWN: "unknown",
}
