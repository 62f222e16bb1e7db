"""The part of an option's page that says what each capability makes of it."""

from __future__ import annotations

from collections.abc import Sequence

from sgl_audit.audit.behaviours import behaviour
from sgl_audit.audit.cells import declared_choices, state_of
from sgl_audit.audit.ground import Ground
from sgl_audit.audit.wording import value_text
from sgl_audit.model.facts import Option
from sgl_audit.model.report import ShowRow, ShowSection
from sgl_audit.model.source import Place

_CASES = 12


def capability_sections(
    base: Ground, option: Option, capabilities: Sequence[str]
) -> tuple[ShowSection, ...]:
    """What an option becomes with nothing set, and the state of each of its choices."""
    sections = [becomes_section(base, option, capabilities)]
    if option.choices:
        sections.append(choices_section(base, option, capabilities))
    return tuple(sections)


def becomes_section(base: Ground, option: Option, capabilities: Sequence[str]) -> ShowSection:
    """What an option becomes with nothing set; capabilities alike share their rows."""
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for capability in capabilities:
        found = behaviour(base, option, capability)
        cases = [(value_text(case.value), case.guard) for case in found.becomes[:_CASES]]
        if len(found.becomes) > _CASES:
            cases.append((f"and {len(found.becomes) - _CASES} more", ""))
        if found.undecided:
            cases.append(("nobody decides", found.why))
        alike.setdefault(tuple(cases), []).append(capability)
    rows = tuple(
        ShowRow((", ".join(names), value, condition))
        for cases_of, names in alike.items()
        for value, condition in cases_of
    )
    return ShowSection("With nothing set", ("capability", "becomes", "when"), rows)


def choices_section(base: Ground, option: Option, capabilities: Sequence[str]) -> ShowSection:
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
            rows.append(ShowRow((value_text(value), ", ".join(names), state, why), place))
    columns = ("choice", "capability", "state", "why")
    return ShowSection("Each choice by capability", columns, tuple(rows))
