"""Answers to the reverse question: what leads to a value, and what keeps launches from it."""

from __future__ import annotations

from dataclasses import dataclass

from sgl_audit.model.source import Place


@dataclass(frozen=True, slots=True)
class WhyRow:
    """One way in which launches reach a value of an option, or one thing that keeps them from it.

    Attributes:
        way: "by default", "model family", "by decision", "by flag" or "kept away".
        reaches: True where launches of this kind reach it, False where they do not, None where
            that is not known.
        condition: what must hold, "always" where nothing need.
        why: one line more, or "".
    """

    option: str
    value: str
    capability: str
    way: str
    reaches: bool | None
    condition: str
    why: str = ""
    place: Place | None = None
