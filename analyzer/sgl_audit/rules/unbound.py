"""Names that are bound under a gate only, and calls that read them elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from sgl_audit.extract.reads import ConditionalName
from sgl_audit.model.guard import AtomKind, Guard, all_of, atoms
from sgl_audit.model.source import Place
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.callers import CallSite, call_sites, entry_guard
from sgl_audit.rules.reach import Reach, reach_of
from sgl_audit.rules.shortcuts import asked_before
from sgl_audit.rules.ways import Literal, ways


@dataclass(frozen=True, slots=True)
class Use:
    """One function that reads the name, and the call that gets there where it is not bound."""

    place: Place
    function: str
    guard: Guard
    site: CallSite
    reaches: dict[str, Reach]


def unbound_on(context: RuleContext, name: ConditionalName) -> list[str]:
    """The capabilities on which a test of the capability keeps the name from being bound."""
    gates = [atom for atom in atoms(name.guard) if atom.kind is AtomKind.GATE]
    if not gates or any(atom.capabilities is None for atom in gates):
        return []
    # On a machine of another kind the whole module is out of use.
    return [
        capability
        for capability in context.capabilities
        if capability.startswith("sm") and not ways(context, name.guard, capability)
    ]


def use_of(
    context: RuleContext,
    name: ConditionalName,
    place: Place,
    function: str,
    guard: Guard,
    missing: list[str],
) -> Use | None:
    """The call by which a function reads the name where it is not bound, the plainest one."""
    guard = all_of(guard, asked_before(context, place))
    if not _reaches(context, guard, missing, name.name):
        return None
    best: Use | None = None
    for site in call_sites(context, function):
        # A method runs where its object was made for it; that is not followed.
        if "." in site.function or site.owner == name.name or _dedicated(site, name):
            continue
        if not _reaches(context, site.guard, missing, name.name):
            continue
        entered = entry_guard(context, site.place.file, site.function, 1)
        reaches = _reaches(context, all_of(entered, site.guard, guard), missing, name.name)
        if reaches and (best is None or min(reaches.values()) < min(best.reaches.values())):
            best = Use(place, function, guard, site, reaches)
    return best


def _reaches(context: RuleContext, guard: Guard, missing: list[str], name: str) -> dict[str, Reach]:
    found: dict[str, Reach] = {}
    for capability in missing:
        reaches = [
            reach_of(context, way.literals)
            for way in ways(context, guard, capability)
            if way.certain and not any(_asks(literal, name) for literal in way.literals)
        ]
        if min(reaches, default=Reach.FLAG) is not Reach.FLAG:
            found[capability] = min(reaches)
    return found


def _asks(literal: Literal, name: str) -> bool:
    """Whether a test, other than of a variable, asks for the library by its name."""
    atom, wanted = literal
    text = atom.text.replace("_", "").lower()
    named = name.strip("_").replace("_", "").lower() in text
    return wanted and named and atom.kind is not AtomKind.ENVIRONMENT


def _dedicated(site: CallSite, name: ConditionalName) -> bool:
    """Whether a caller is of the library's own wrapper: it is chosen where the library is."""
    word = name.name.strip("_").replace("_", "").lower()
    file = site.place.file.rpartition("/")[2]
    own = word in f"{file} {site.function}".replace("_", "").lower()
    return own or site.place.file == name.place.file
