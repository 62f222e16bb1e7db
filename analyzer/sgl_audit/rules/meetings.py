"""Automatic values that meet a refusal of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sgl_audit.model.guard import Atom, AtomKind, Guard
from sgl_audit.model.report import Severity
from sgl_audit.rules.atoms import vocabulary
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.callers import entry_guard
from sgl_audit.rules.choosing import Selection, full_guard, selections
from sgl_audit.rules.models import related
from sgl_audit.rules.reach import FROM_MODEL, Reach, reach_of
from sgl_audit.rules.refusing import Refusal, refusals, refusing_ways
from sgl_audit.rules.ways import Way, possible, subject_of, ways


@dataclass(frozen=True, slots=True)
class Meeting:
    """A selection and a refusal that meet on one capability, and what it takes.

    Attributes:
        chosen: the way in which the value is chosen.
        refusing: the way in which it is refused.
    """

    selection: Selection
    refusal: Refusal
    capability: str
    chosen: Way
    refusing: Way

    @property
    def severity(self) -> Severity:
        """An error where every condition on the way is understood."""
        proven = self.chosen.certain and self.refusing.certain
        return Severity.ERROR if proven else Severity.WARNING


def meetings(context: RuleContext) -> tuple[Meeting, ...]:
    """Every automatic value that meets a refusal of it."""
    return context.once(_meetings)


def _meetings(context: RuleContext) -> tuple[Meeting, ...]:
    found: list[Meeting] = []
    by_machine = [refusal for refusal in refusals(context) if refusal.by_machine]
    for selection in selections(context):
        if selection.option.name in FROM_MODEL:
            continue
        for refusal in by_machine:
            if refusal.option.name != selection.option.name or _before(selection, refusal):
                continue
            for capability in context.capabilities:
                meeting = _meet(context, selection, refusal, capability)
                if meeting is not None:
                    found.append(meeting)
    return tuple(found)


def _before(selection: Selection, refusal: Refusal) -> bool:
    """Whether the refusal stands before the selection in one function: it sees the old value."""
    rejection = refusal.rejection
    same = rejection.place.file == selection.place.file
    same = same and rejection.function == selection.function
    return same and rejection.place.line < selection.place.line


def _meet(
    context: RuleContext, selection: Selection, refusal: Refusal, capability: str
) -> Meeting | None:
    refusing = [
        way
        for way in refusing_ways(context, refusal, selection.value, capability)
        if any(atom.kind is AtomKind.GATE for atom, _ in way.machine)
        and reach_of(context, way.literals) <= Reach.MODEL
    ]
    # The callers are looked at last: that reads files, and few pairs come so far.
    if _joined(context, selection, selection.guard, refusing, capability) is None:
        return None
    guard = full_guard(context, selection)
    found = _joined(context, selection, guard, _entered(context, refusal, refusing), capability)
    if found is None:
        return None
    return Meeting(selection, refusal, capability, *found)


def _entered(context: RuleContext, refusal: Refusal, refusing: Sequence[Way]) -> list[Way]:
    """The refusing ways where the refusing function is registered for some models only."""
    place, function = refusal.rejection.place, refusal.rejection.function
    entered = entry_guard(context, place.file, function, 0)
    if not isinstance(entered, Atom):
        return list(refusing)
    return [replace(way, literals=((entered, True), *way.literals)) for way in refusing]


def _joined(
    context: RuleContext,
    selection: Selection,
    guard: Guard,
    refusing: Sequence[Way],
    capability: str,
) -> tuple[Way, Way] | None:
    """A way to the selection and one to the refusal that one launch can take, none but by flag."""
    words = vocabulary(context)
    for chosen in ways(context, guard, capability) if refusing else ():
        if reach_of(context, chosen.literals) > Reach.MODEL:
            continue
        before = tuple(
            lit for lit in chosen.literals if subject_of(lit, words) != selection.option.name
        )
        for way in refusing:
            together = tuple(dict.fromkeys((*before, *way.literals)))
            if possible(together, words) and related(context, before, way.literals):
                return chosen, way
    return None
