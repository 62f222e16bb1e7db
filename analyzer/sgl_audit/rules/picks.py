"""Places that pick a backend by name, in resolution or in a layer, and what each is picked for."""

from __future__ import annotations

from collections import Counter

from sgl_audit.model.capability import BY_NAME
from sgl_audit.model.facts import Decision, DecisionKind
from sgl_audit.model.guard import AtomKind, all_of
from sgl_audit.rules.atoms import vocabulary
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.callers import entry_guard
from sgl_audit.rules.choosing import in_server
from sgl_audit.rules.families import nvidia, open_from
from sgl_audit.rules.models import specific
from sgl_audit.rules.options import UNDECIDED, options_by_name
from sgl_audit.rules.ways import Way, demands, subject_of, ways


def picks(context: RuleContext) -> tuple[Decision, ...]:
    """The decisions of the server that give a backend by its name."""
    return context.once(_picks)


def _picks(context: RuleContext) -> tuple[Decision, ...]:
    values = {
        str(choice)
        for option in options_by_name(context).values()
        if option.name.endswith("backend")
        for choice in option.choices or ()
        if choice not in UNDECIDED
    }
    return tuple(
        item
        for item in context.facts.decisions
        if item.kind is not DecisionKind.DISPATCH
        and item.literal in values
        and in_server(context, item.place)
    )


def decided_early(context: RuleContext, option: str, quantization: str, capability: str) -> bool:
    """Whether resolution gives an option a value for any model of a quantization there."""
    words = vocabulary(context)
    for item in picks(context):
        if item.option != option or "/layers/" in item.place.file:
            continue
        # A function that is filed under architectures decides for those only.
        entered = entry_guard(context, item.place.file, item.function, 0)
        for way in ways(context, all_of(entered, item.guard), capability):
            asked = demands(way.literals, words).get("quantization")
            named = asked is not None and quantization in (asked.allowed or ())
            marks = [lit for lit in way.literals if specific(context, lit)]
            others = [lit for lit in marks if subject_of(lit, words) != "quantization"]
            if named and not others:
                return True
    return False


def made_for(context: RuleContext, option: str, value: str) -> frozenset[str]:
    """The NVIDIA capabilities for which a value is picked by a test of a closed set of them.

    Empty unless two places or more pick it so, and more than pick it for whatever is left: then
    it is the tree's way out and made for nothing in particular.
    """
    return context.once(_made_for).get((option, value), frozenset())


def _made_for(context: RuleContext) -> dict[tuple[str, str], frozenset[str]]:
    named: dict[tuple[str, str], list[frozenset[str]]] = {}
    others: Counter[tuple[str, str]] = Counter()
    for item in picks(context):
        closed = _named_in(context, item)
        key = (item.option, str(item.literal))
        if closed:
            named.setdefault(key, []).append(closed)
        else:
            others[key] += 1
    return {
        key: frozenset[str]().union(*sets)
        for key, sets in named.items()
        if len(sets) > max(1, 2 * others[key])
    }


def _named_in(context: RuleContext, item: Decision) -> frozenset[str]:
    """The capabilities that the tests around a place ask for by name."""
    sets = [
        nvidia(atom.capabilities or ())
        for capability in context.capabilities
        for way in ways(context, item.guard, capability)[:1]
        for atom, wanted in way.machine
        if wanted and atom.kind is AtomKind.GATE and _closed(atom.capabilities)
    ]
    return frozenset[str]().union(*sets)


def _closed(names: frozenset[str] | None) -> bool:
    """Whether a set of capabilities is of named generations: neither open nor all of them."""
    held = nvidia(names or ())
    majors = {BY_NAME[name].major for name in held}
    return bool(held) and open_from(held) is None and len(majors) <= 2


def swept_by(way: Way) -> bool:
    """Whether a way is one of elimination: only by what the capability is not."""
    gates = [wanted for atom, wanted in way.machine if atom.kind is AtomKind.GATE]
    return bool(gates) and not any(gates)
