"""Whether a place that sets an option asks first whether the user did."""

from __future__ import annotations

import re

from sgl_audit.model.capability import BY_NAME, Vendor
from sgl_audit.model.facts import Decision
from sgl_audit.model.guard import Atom, AtomKind, all_of
from sgl_audit.rules.atoms import vocabulary
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.callers import entry_guard
from sgl_audit.rules.families import bound_of
from sgl_audit.rules.options import UNDECIDED, options_by_name
from sgl_audit.rules.reach import Reach, reach_of
from sgl_audit.rules.ways import Way, demands, ways

_ASKED = re.compile(r"not_set|unset|user_set|explicit|is_set\(|overrid|specified|auto")


def wanted(way: Way) -> list[Atom]:
    """The tests of a way that must come out true."""
    return [atom for atom, asked in (*way.machine, *way.literals) if asked]


def by_machine(atom: Atom, capability: str) -> bool:
    """Whether a test asks for the capability, by a gate or by a bound on a number named so."""
    if atom.kind is AtomKind.GATE:
        return True
    least = bound_of(atom)
    known = BY_NAME[capability]
    return least is not None and known.vendor is Vendor.NVIDIA and known.number >= least


def asked_for(context: RuleContext, way: Way, pick: Decision) -> str | None:
    """The one backend that a way asks for by name, where another one of its option comes out."""
    options = options_by_name(context)
    for subject, demand in demands(way.literals, vocabulary(context)).items():
        left = (demand.allowed or frozenset()) - demand.excluded
        if len(left) != 1 or (subject in options and subject != pick.option):
            continue
        given = next(iter(left))
        together = (
            {given, pick.literal} <= set(option.choices or ())
            for option in options.values()
            if option.name.endswith("backend")
        )
        if given != pick.literal and given not in UNDECIDED and any(together):
            return str(given)
    return None


def unasked(context: RuleContext, item: Decision) -> dict[str, Way]:
    """The capabilities on which the place is reached without a question about the option."""
    entered = entry_guard(context, item.place.file, item.function, 1)
    guard = all_of(entered, item.guard)
    found: dict[str, Way] = {}
    for capability in context.capabilities:
        free = [
            way
            for way in ways(context, guard, capability)
            if way.certain
            and not any(_asks(atom, item.option) for atom, _ in way.literals)
            and reach_of(context, way.literals) is not Reach.FLAG
        ]
        if free:
            found[capability] = min(free, key=lambda way: reach_of(context, way.literals))
    return found


def _asks(atom: Atom, option: str) -> bool:
    """Whether a test is about the option, by itself or by a name that says so."""
    text = atom.text
    shorter = option.removeprefix("prefill_").removeprefix("decode_")
    return option in text or shorter in text or bool(_ASKED.search(text)) or "device ==" in text
