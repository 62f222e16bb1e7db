"""Run parts of the tree that follow a launch, and tell a refusal from a gap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sgl_audit.evaluate.entry import Entry
from sgl_audit.evaluate.values import MISSING, Raised, Undecidable, Unknown, Value
from sgl_audit.model.resolution import Refusal
from sgl_audit.model.source import Place

QUANTIZATION = "quantization"
MOE_METHOD = "moe_method"
ATTENTION = "attention"
# What is met at other places never stands in for one of these.
MAIN_STAGES = (QUANTIZATION, MOE_METHOD, ATTENTION)
PROCESS_GROUPS = "srt/distributed/"
# How many open questions are answered both ways before a part counts as not known.
SPLITS = 4


@dataclass(slots=True)
class Outcome:
    """How one part ended.

    Attributes:
        raised: the tree's own refusal.
        gap: why it cannot be told.
        asked: keys of the questions that were open on the way.
    """

    value: Value = MISSING
    raised: Raised | None = None
    gap: str | None = None
    asked: tuple[tuple[object, ...], ...] = ()

    def agrees(self, other: Outcome) -> bool:
        """Whether both pass, or both refuse at the same place."""
        if self.gap or other.gap:
            return False
        if self.raised is None or other.raised is None:
            return self.raised is other.raised
        return self.raised.place == other.raised.place


class Trial:
    """What was refused so far, and where it can no longer be told.

    Attributes:
        refusals: in the order in which they are met.
        reason: why a stage could not be followed, or None; only the first counts.
    """

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.machine = entry.session.machine
        self.refusals: list[Refusal] = []
        self.reason: str | None = None
        self._first_gap: int | None = None

    def answer(self) -> tuple[Refusal, ...] | None:
        """All refusals; None where a gap comes before the first."""
        if self._first_gap == 0:
            return None
        return tuple(self.refusals)

    def gap(self, reason: str) -> None:
        """Note that what happens at this point is not known."""
        if self.reason is None:
            self.reason = reason
            self._first_gap = sum(item.stage in MAIN_STAGES for item in self.refusals)

    def run(
        self, stage: str | None, part: Callable[[], Value], *, compulsory: bool = True
    ) -> Value:
        """Run one part; gives its value, or MISSING where it refuses or cannot be followed.

        Args:
            stage: what a refusal counts as; one without stage is not counted.
            compulsory: whether a gap leaves open what a server does here.
        """
        outcome = self._try(part)
        return self._note(stage, outcome, compulsory)

    def check(self, stage: str, part: Callable[[], Value]) -> None:
        """Run one part whose value nobody needs, answering open questions both ways."""
        self._note(stage, self._split(part, SPLITS), compulsory=True)

    def _note(self, stage: str | None, outcome: Outcome, compulsory: bool) -> Value:
        if stage is None:
            return outcome.value
        if outcome.raised is not None:
            self.refusals.append(self.refusal(outcome.raised, stage))
        elif outcome.gap is not None and compulsory:
            self.gap(f"{stage}: {outcome.gap}")
        return outcome.value

    def _split(self, part: Callable[[], Value], splits: int) -> Outcome:
        outcome = self._try(part)
        known = self.machine.known
        open_questions = [key for key in outcome.asked if key not in known]
        if outcome.gap is None or not splits or not open_questions:
            return outcome
        answers = []
        for truth in (True, False):
            # What stops a part is most often what it asked last.
            self.machine.known = {**known, open_questions[-1]: truth}
            answers.append(self._split(part, splits - 1))
            self.machine.known = known
        return answers[0] if answers[0].agrees(answers[1]) else outcome

    def _try(self, part: Callable[[], Value]) -> Outcome:
        """Run a part; what it wrote stays only if it ends well."""
        machine = self.machine
        before, known, possible = machine.questions, machine.known, len(machine.refusals)
        machine.questions = {}
        machine.journal.open()
        outcome = Outcome()
        try:
            outcome.value = part()
        except Raised as raised:
            if self.is_refusal(raised):
                outcome.raised = raised
            else:
                outcome.gap = self.describe(raised)
        except Undecidable as stop:
            outcome.gap = stop.reason
        unsure = machine.refusals[possible:]
        del machine.refusals[possible:]
        if unsure and outcome.gap is None and outcome.raised is None:
            # Refused under a condition that is not known: neither refused nor passed.
            outcome.gap = f"{self.describe(unsure[0].raised)}, under a condition that is not known"
            outcome.value = MISSING
        outcome.asked = tuple(machine.questions)
        machine.questions = {**machine.questions, **before}
        machine.known = known
        if outcome.gap is None and outcome.raised is None:
            machine.journal.commit()
        else:
            machine.journal.undo()
        return outcome

    def is_refusal(self, raised: Raised) -> bool:
        """Whether a `raise` or `assert` of the tree raised it.

        An error born in an expression may come from what is missing here rather than in a server;
        so may one of the process groups, which nobody set up here.
        """
        place = raised.place
        if place is None or not raised.explicit:
            return False
        groups = f"{self.entry.root}/{PROCESS_GROUPS}"
        return place[0].startswith(f"{self.entry.root}/") and not place[0].startswith(groups)

    def refusal(self, raised: Raised, stage: str) -> Refusal:
        """A refusal from an exception of the tree."""
        text = self.machine.as_text(raised.value)
        place = Place(*raised.place) if raised.place is not None else None
        message = text.name if isinstance(text, Unknown) else str(text)
        return Refusal(raised.value.cls.name, message, place, stage)

    def describe(self, raised: Raised) -> str:
        """An exception in one line."""
        text = self.machine.as_text(raised.value)
        message = text.name if isinstance(text, Unknown) else str(text)
        where = f" ({raised.place[0]}:{raised.place[1]})" if raised.place else ""
        return f"{raised.value.cls.name}: {message}{where}"
