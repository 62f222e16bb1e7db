"""Running one part of a way: what stops it is noted, not passed on."""

from __future__ import annotations

from collections.abc import Callable

from sgl_audit.evaluate.following.follower import Follower
from sgl_audit.evaluate.late_trial import Trial
from sgl_audit.evaluate.values import MISSING, Raised, Undecidable, Value
from sgl_audit.model.source import Place

INPUT = "a running server gives it"


class Attempts:
    """What stopped the parts of one way.

    Attributes:
        refusing: whether an exception of the tree counts as its refusal.
        refused: what the tree raised where everything on the way was known, or "".
        gaps: what stopped a part for another reason.
    """

    def __init__(self, trial: Trial, refusing: bool = True) -> None:
        self.trial = trial
        self.refusing = refusing
        self.refused = ""
        self.place: Place | None = None
        self.gaps: list[str] = []

    def run(self, part: Callable[[], Value], follower: Follower) -> Value:
        """Run one part; MISSING where it stops."""
        try:
            return part()
        except Raised as raised:
            text = self.trial.describe(raised)
            sure = self.refusing and not follower.gaps and not self.refused
            if sure and self.trial.is_refusal(raised):
                self.refused = text
                self.place = Place(*raised.place) if raised.place else None
            else:
                self.gaps.append(text)
        except Undecidable as stop:
            self.gaps.append(stop.reason)
        return MISSING
