"""Automatic values that advisories speak against, per capability."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sgl_audit.model.guard import Atom
from sgl_audit.model.kernels import AdvisoryHit
from sgl_audit.model.report import Severity
from sgl_audit.rules.advised import Known, hits, known_of, severity_of
from sgl_audit.rules.atoms import vocabulary
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.choosing import Selection, full_guard, selections
from sgl_audit.rules.chosen import chosen
from sgl_audit.rules.dispatchers import dispatched
from sgl_audit.rules.layers import quantizations_of, unusable
from sgl_audit.rules.models import specific
from sgl_audit.rules.options import UNDECIDED
from sgl_audit.rules.picks import decided_early
from sgl_audit.rules.reach import FROM_MODEL, Reach, reach_of, reach_of_one
from sgl_audit.rules.refusing import turned_away
from sgl_audit.rules.ways import Demand, Literal, Way, demands, ways

_RANK = tuple(Severity)


@dataclass(frozen=True, slots=True)
class Advised:
    """One automatic value on one capability, the way to it, and what is said against it."""

    selection: Selection
    capability: str
    way: Way
    known: Known
    hit: AdvisoryHit
    severity: Severity


def advised(context: RuleContext) -> Iterator[Advised]:
    """Every automatic value that an advisory speaks against, the worst way to each."""
    spoken = {entry.value for item in context.advisories for entry in item.values}
    for selection in chosen(context):
        if selection.option.name in FROM_MODEL or selection.value not in spoken:
            continue
        for capability in context.capabilities:
            found = _worst(context, selection, capability)
            if found is not None:
                yield found


def _worst(context: RuleContext, selection: Selection, capability: str) -> Advised | None:
    option, value = selection.option, selection.value
    if not hits(context, option.name, value, capability, {}):
        return None
    if turned_away(context, option, value, capability):
        return None
    if selection.declared and _replaced(context, selection, capability):
        return None
    best: Advised | None = None
    for way in _ways(context, selection, capability):
        known = known_of(context, way.literals, _class_of(selection))
        for hit in hits(context, option.name, value, capability, known)[:1]:
            severity = severity_of(hit, certain=_certain(context, way))
            found = Advised(selection, capability, way, known, hit, severity)
            if best is None or _RANK.index(severity) < _RANK.index(best.severity):
                best = found
    return best


def late_one(selection: Selection) -> bool:
    """Whether a value is picked in a layer."""
    return "/layers/" in selection.place.file


def _class_of(selection: Selection) -> str:
    return selection.function if late_one(selection) else ""


def _certain(context: RuleContext, way: Way) -> bool:
    return way.certain and reach_of(context, way.literals) <= Reach.MODEL


def _ways(context: RuleContext, selection: Selection, capability: str) -> list[Way]:
    """The ways to a selection that no flag is needed for, and that the layer is made on."""
    late = late_one(selection)
    if late and _never_there(context, selection, capability):
        return []
    if late and "." not in selection.function and _initialised(context, selection, capability):
        return []
    first = ways(context, selection.guard, capability)
    if not any(_untouched(context, way, selection) for way in first):
        return []
    guard = selection.guard if late else full_guard(context, selection)
    return [way for way in ways(context, guard, capability) if _untouched(context, way, selection)]


def _untouched(context: RuleContext, way: Way, selection: Selection) -> bool:
    """Whether a way needs no flag, and does not start from another named value of the option."""
    if reach_of(context, way.literals) is Reach.FLAG:
        return False
    words = vocabulary(context)
    asked = demands(way.literals, words)
    own = [asked[name] for name in asked if name == selection.option.name]
    if any(_names_one(demand) for demand in own):
        return False
    return not any(wanted and _named(atom, selection.value) for atom, wanted in way.literals)


def _named(atom: Atom, value: str) -> bool:
    """Whether a test is an attribute, or a search in a text, that has the value in it."""
    text = atom.text.replace("_", "").lower()
    return "(" not in atom.text and "==" not in atom.text and value.replace("_", "") in text


def _names_one(demand: Demand) -> bool:
    left = (demand.allowed or frozenset()) - demand.excluded
    return bool(left) and not left & set(UNDECIDED)


def _never_there(context: RuleContext, selection: Selection, capability: str) -> bool:
    """Whether the layer cannot be made on a capability, or resolution has decided before."""
    name = selection.function.rpartition(".")[0]
    if not name:
        return False
    if unusable(context, name, capability):
        return True
    served = quantizations_of(context, name)
    return bool(served) and not undecided_of(context, selection, capability)


def undecided_of(context: RuleContext, selection: Selection, capability: str) -> list[str]:
    """The quantizations of a layer for which resolution leaves the option to the layer."""
    name = selection.function.rpartition(".")[0] if late_one(selection) else ""
    return [
        layer.quantization
        for layer in quantizations_of(context, name)
        if not decided_early(context, selection.option.name, layer.quantization, capability)
    ]


def _initialised(context: RuleContext, selection: Selection, capability: str) -> bool:
    """Whether another function has given the option a value before a dispatcher is asked."""
    for other in chosen(context):
        same = other.option.name == selection.option.name and not other.declared
        if not same or other.function == selection.function or "." in other.function:
            continue
        if any(other.place == item.returned.place for item in dispatched(context)):
            continue
        for way in ways(context, other.guard, capability):
            if way.certain and reach_of(context, way.literals) is Reach.DEFAULT:
                return True
    return False


def _replaced(context: RuleContext, selection: Selection, capability: str) -> bool:
    """Whether resolution gives another value in place of the default, for any model."""
    for other in selections(context):
        if other.option.name != selection.option.name or other.declared:
            continue
        for way in ways(context, other.guard, capability):
            if way.certain and reach_of(context, way.literals) is Reach.DEFAULT:
                return True
    return False


def marks_of(context: RuleContext, item: Advised) -> list[Literal]:
    """The tests of the way that a launch does not pass by default: what singles models out."""
    found = [literal for literal in item.way.literals if specific(context, literal)]
    return found or [
        literal
        for literal in item.way.literals
        if literal[1] and reach_of_one(context, *literal) is not Reach.DEFAULT
    ]
