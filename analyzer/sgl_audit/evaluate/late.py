"""Refusals that a server meets only once loading starts."""

from __future__ import annotations

from sgl_audit.evaluate.entry import Entry, Reached
from sgl_audit.model.resolution import Refusal


def late_refusals(entry: Entry, reached: Reached) -> tuple[Refusal, ...] | None:
    """The refusals in the order they are met, or None where that is not known."""
    return None
