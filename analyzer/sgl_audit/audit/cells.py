"""What each capability makes of each choice of each backend option."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sgl_audit.audit.behaviours import Way, shown, way_text, ways
from sgl_audit.audit.deciding import ground
from sgl_audit.audit.ground import Ground
from sgl_audit.audit.notes import TreeNotes
from sgl_audit.audit.readers import scalar_default
from sgl_audit.audit.refusals import Refused, refusals
from sgl_audit.audit.wording import condition_text, value_text
from sgl_audit.model.facts import Choice, Facts, Option, Scalar
from sgl_audit.model.guard import ALWAYS, Guard, atoms, holds_on, text_of
from sgl_audit.model.report import ChoiceCell, ChoiceState, FamilyRow, OptionBehaviour
from sgl_audit.model.source import Place

_PLACES = 6
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class State:
    """A state with its reason and places, before it is a cell."""

    state: ChoiceState
    why: str
    places: tuple[Place, ...]


def choice_cells(
    facts: Facts,
    capabilities: tuple[str, ...],
    behaviours: tuple[OptionBehaviour, ...] = (),
    families: tuple[FamilyRow, ...] = (),
    *,
    notes: TreeNotes | None = None,
    base: Ground | None = None,
) -> tuple[ChoiceCell, ...]:
    """A cell for every choice of every option that reports speak of, on every capability.

    Args:
        behaviours: restricts the options to those described; all where none are given.
        notes: what `read_notes` found in the tree; without it conditions of callers are unknown,
            and no choice is called reachable nowhere.
    """
    base = base or ground(facts, notes)
    described = {item.option for item in behaviours}
    cells: list[ChoiceCell] = []
    for option in facts.options:
        if not option.choices or not shown(base, option):
            continue
        if described and option.name not in described:
            continue
        declared = declared_choices(facts, option)
        for value in option.choices:
            for capability in capabilities:
                chosen = family_names(families, option, value, capability)
                found = state_of(base, option, value, capability, chosen, declared.get(value))
                cells.append(
                    ChoiceCell(option.name, value, capability, found.state, found.why, found.places)
                )
    return tuple(cells)


def declared_choices(facts: Facts, option: Option) -> dict[Scalar, Choice]:
    """The choices of the list an option takes its choices from, by value."""
    found = [item for item in facts.choice_lists if item.name == option.choice_list]
    return {choice.value: choice for item in found for choice in item.choices}


def family_names(
    families: Iterable[FamilyRow], option: Option, value: Scalar, capability: str
) -> list[str]:
    """The families for which a launch with nothing set ended with a value."""
    return [
        row.family
        for row in families
        if row.capability == capability and (option.name, str(value)) in row.values
    ]


def state_of(
    base: Ground,
    option: Option,
    value: Scalar,
    capability: str,
    families: list[str],
    declared: Choice | None,
) -> State:
    """The state of one choice on one capability, the strongest statement that can be made."""
    own = declared.guard if declared is not None else ALWAYS
    accepted = holds_on(own, capability)
    if accepted is False:
        where = (declared.place,) if declared is not None and declared.place else ()
        why = f"not among the choices on {capability}: needs {text_of(own)}"
        return State(ChoiceState.REFUSED, why, where)
    met = refusals(base, option, value, capability)
    replaced = any(way.start == value for way in ways(base, option, capability))
    certain = [item for item in met if item.certain]
    if certain and not replaced:
        return _refused(option, value, certain)
    chosen = _chosen(base, option, value, capability, families)
    if chosen is not None:
        # Where decisions replace the value, what they leave of it is not known to be refused.
        return chosen if replaced else _with_refusals(chosen, met)
    return _by_flag(base, option, value, capability, met, own if accepted is None else None)


def _refused(option: Option, value: Scalar, certain: list[Refused]) -> State:
    first = certain[0].source
    where = "" if first.early else f" at run time ({first.rejection.function})"
    prefix = "the default, but " if value == scalar_default(option) else ""
    kind, message = first.rejection.exception, first.rejection.message
    why = f"{prefix}refused{where}: {kind}: {message}" if message else f"{prefix}refused{where}"
    return State(ChoiceState.REFUSED, _line(why), _places(certain))


def _chosen(
    base: Ground, option: Option, value: Scalar, capability: str, families: list[str]
) -> State | None:
    """Whether the value comes without its flag: by declaration, in launches, by decision."""
    if option.default_known and value == scalar_default(option):
        return State(ChoiceState.DEFAULT, "the declared default", (option.place,))
    found = [w for w in ways(base, option, capability) if w.setting.known and w.value == value]
    places = tuple(way.setting.decision.place for way in found)[:_PLACES]
    if families:
        more = f" and {len(families) - 3} more" if len(families) > 3 else ""
        why = f"chosen for {', '.join(families[:3])}{more}"
        return State(ChoiceState.AUTOMATIC, why, places)
    if found:
        return State(ChoiceState.AUTOMATIC, _line(_automatic(option, found)), places)
    return None


def _automatic(option: Option, found: list[Way]) -> str:
    more = f"; {len(found) - 1} more decisions choose it" if len(found) > 1 else ""
    text = way_text(option, found[0])
    return f"chosen {text}{more}" if text == "always" else f"chosen when: {text}{more}"


def _with_refusals(state: State, met: list[Refused]) -> State:
    possible = [
        item
        for item in met
        if item.possible and item.telling and (item.machine or item.source.early)
    ]
    if not possible:
        return state
    # What the capability has to do with it says more than what a model has.
    possible.sort(key=lambda item: not item.machine)
    text = condition_text(possible[0].guard)
    why = f"{state.why}; refused when {_where(possible[0], text)}"
    return State(state.state, _line(why), (*state.places, *_places(possible))[:_PLACES])


def _where(item: Refused, text: str) -> str:
    function = item.source.rejection.function
    if item.source.early:
        return text
    return f"it is used ({function})" if text == "always" else f"{text} (in {function})"


def _by_flag(
    base: Ground,
    option: Option,
    value: Scalar,
    capability: str,
    met: list[Refused],
    own: Guard | None,
) -> State:
    unread = [item for item in met if item.unread is not None and item.telling]
    unread = [item for item in unread if item.possible and not item.of_class]
    if unread and unread[0].unread is not None:
        why = f"the gate {unread[0].unread.text} on the way to a refusal was not understood"
        return State(ChoiceState.UNKNOWN, _line(why), _places(unread))
    if own is not None:
        why = f"among the choices only where {condition_text(own)}"
        return State(ChoiceState.CONDITIONAL, _line(why), ())
    possible = [item for item in met if item.possible and item.telling]
    possible.sort(key=lambda item: not item.source.early)
    if possible:
        first = possible[0]
        text = _where(first, condition_text(first.guard))
        if first.guard == ALWAYS and first.source.early:
            text = f"other settings stay as they are ({condition_text(first.whole)})"
        said = first.source.rejection
        why = f"refused when {text}: {said.message or said.exception}"
        return State(ChoiceState.CONDITIONAL, _line(why), _places(possible))
    if unreachable(base, option, value):
        why = "declared, but nothing in the server asks for it or decides it"
        return State(ChoiceState.UNREACHABLE, why, (option.place,))
    why = f"no decision on {capability} chooses {value_text(value)}"
    return State(ChoiceState.FLAG, _line(f"{why}{_aside(met)}"), _places(met))


def _aside(met: list[Refused]) -> str:
    """What a choice that a flag brings should be known for: who refuses it among most others."""
    common = next((item for item in met if item.possible), None)
    if common is not None:
        where = _where(common, condition_text(common.guard))
        return f"; as most choices it is refused when {where}"
    if met:
        return f"; refused together with other settings: {condition_text(met[0].whole)}"
    return ""


def _places(items: Iterable[Refused]) -> tuple[Place, ...]:
    places = dict.fromkeys(item.source.rejection.place for item in items)
    return tuple(places)[:_PLACES]


def _line(text: str) -> str:
    short = " ".join(text.split())
    return short if len(short) <= 300 else f"{short[:297]}..."


def unreachable(base: Ground, option: Option, value: Scalar) -> bool:
    """Whether nothing in the server speaks of a value, by text or by its enum member."""
    mentions = base.notes.mentions
    if mentions is None or not isinstance(value, str) or mentions.get(value, 1):
        return False
    names = {value, f"is_{value}".lower()}
    enum = base.words.enums.get(base.words.enum_of.get(option.name, ""))
    for member in enum.members if enum is not None else ():
        if member.value == value:
            names |= {member.name, f"is_{member.name.lower()}"}
    return not names & _spoken(base)


def _spoken(base: Ground) -> frozenset[str]:
    """Every word of every test and decided value of the tree."""
    known: frozenset[str] | None = base.memory.get("spoken")
    if known is None:
        words: set[str] = set()
        for decision in base.facts.decisions:
            words.update(_WORD.findall(decision.value))
            for atom in atoms(decision.guard):
                words.update(_WORD.findall(atom.text))
        for rejection in base.facts.rejections:
            for atom in atoms(rejection.guard):
                words.update(_WORD.findall(atom.text))
        known = base.memory["spoken"] = frozenset(words)
    return known
