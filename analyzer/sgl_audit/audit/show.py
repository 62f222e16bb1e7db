"""The part of an option's page that says what each capability makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sgl_audit.audit.behaviours import behaviour
from sgl_audit.audit.cells import declared_choices, state_of
from sgl_audit.audit.ground import Ground
from sgl_audit.audit.wording import value_text
from sgl_audit.model.facts import Option
from sgl_audit.model.report import ChoiceState, ShowRow, ShowSection
from sgl_audit.model.source import Place

_CASES = 12
# Capabilities in few words; what reports call them is theirs to say.
Naming = Callable[[Sequence[str]], str]


def capability_sections(
    base: Ground, option: Option, capabilities: Sequence[str], naming: Naming = ", ".join
) -> tuple[ShowSection, ...]:
    """What an option becomes with nothing set, and the state of each of its choices."""
    sections = [becomes_section(base, option, capabilities, naming)]
    if option.choices:
        sections.append(choices_section(base, option, capabilities, naming))
    return tuple(sections)


def becomes_section(
    base: Ground, option: Option, capabilities: Sequence[str], naming: Naming
) -> ShowSection:
    """What an option becomes with nothing set; capabilities alike share a row."""
    cases: dict[tuple[str, str], list[str]] = {}
    for capability in capabilities:
        found = behaviour(base, option, capability)
        if found.undecided:
            why = found.why.replace(f" on {capability}", "")
            cases.setdefault(("nobody decides", why), []).append(capability)
        for case in found.becomes:
            cases.setdefault((value_text(case.value), case.guard), []).append(capability)
    if len(capabilities) > 1:
        cases = _by_value(cases)
    rows = tuple(
        ShowRow((value, *_where(names, capabilities, naming), condition))
        for (value, condition), names in cases.items()
    )
    columns = ("becomes", *_head(capabilities), "when")
    heading = f"With nothing set{_on(capabilities)}"
    return ShowSection(heading, columns, rows, first=_CASES)


def _by_value(cases: Mapping[tuple[str, str], list[str]]) -> dict[tuple[str, str], list[str]]:
    """Each value once: conditions differ by capability, and are shown for one of them."""
    conditions: dict[str, list[str]] = {}
    names: dict[str, dict[str, None]] = {}
    for (value, condition), found in cases.items():
        conditions.setdefault(value, []).append(condition)
        names.setdefault(value, {}).update(dict.fromkeys(found))
    return {
        (value, only[0] if len(only) == 1 else f"{len(only)} conditions; --arch X shows them"): [
            *names[value]
        ]
        for value, only in conditions.items()
    }


def _on(capabilities: Sequence[str]) -> str:
    return f" on {capabilities[0]}" if len(capabilities) == 1 else ""


def _head(capabilities: Sequence[str]) -> tuple[str, ...]:
    return ("capability",) if len(capabilities) > 1 else ()


def _where(names: Sequence[str], asked: Sequence[str], naming: Naming) -> tuple[str, ...]:
    return (naming(names),) if len(asked) > 1 else ()


def choices_section(
    base: Ground, option: Option, capabilities: Sequence[str], naming: Naming
) -> ShowSection:
    """The state of each choice; capabilities alike share a row."""
    declared = declared_choices(base.facts, option)
    rows: list[ShowRow] = []
    for value in option.choices or ():
        alike: dict[tuple[str, str], tuple[list[str], Place | None]] = {}
        for capability in capabilities:
            found = state_of(base, option, value, capability, [], declared.get(value))
            why = found.why.replace(f" on {capability}", "")
            place = found.places[0] if found.places else None
            alike.setdefault((found.state.value, why), ([], place))[0].append(capability)
        for (state, why), (names, place) in alike.items():
            where = _where(names, capabilities, naming)
            rows.append(ShowRow((value_text(value), *where, state, why), place))
    columns = ("choice", *_head(capabilities), "state", "why")
    return ShowSection(f"Each choice{_on(capabilities)}", columns, tuple(rows))


def choice_state(base: Ground, option: Option, name: str, capability: str) -> ChoiceState:
    """The state of the one choice that is written like `name`."""
    value = next(item for item in option.choices or () if str(item) == name)
    declared = declared_choices(base.facts, option)
    return state_of(base, option, value, capability, [], declared.get(value)).state
