"""The page of an option."""

from __future__ import annotations

from sgl_audit.audit.deciding import ground
from sgl_audit.audit.notes import read_notes
from sgl_audit.audit.show import capability_sections
from sgl_audit.cli.pages.rows import (
    decision_rows,
    places,
    rejection_rows,
    value,
    when,
)
from sgl_audit.cli.pages.subject import SETTING, Subject, enums_of
from sgl_audit.model.facts import ChoiceList, Option
from sgl_audit.model.guard import ALWAYS
from sgl_audit.model.report import ShowPage, ShowRow, ShowSection
from sgl_audit_reports.common.text import value_text

_NOTHING_SETS = "nothing in this tree sets it by itself"


def option_page(subject: Subject, option: Option) -> ShowPage:
    """Everything about one option."""
    facts = subject.facts
    base = ground(facts, read_notes(subject.tree, facts))
    decisions = [item for item in facts.decisions if item.option == option.name]
    setting = [item for item in decisions if item.kind in SETTING]
    reading = [item for item in decisions if item.kind not in SETTING]
    rejections = [item for item in facts.rejections if option.name in item.options]
    sections = (
        _definition(option),
        *capability_sections(base, option, subject.capabilities, subject.named),
        places("Set at", decision_rows(subject, setting), _NOTHING_SETS),
        places("Refused at", rejection_rows(subject, rejections), "nothing refuses a value of it"),
        places("Read to choose code at", decision_rows(subject, reading)),
        _choices(subject, option),
        _enums(subject, option),
        _variables(subject, option),
    )
    return ShowPage(option.name, "option", option.help or "", sections, option.place)


def _definition(option: Option) -> ShowSection:
    default = value_text(option.default) if option.default_known else "computed"
    rows = [ShowRow(("default", default)), ShowRow(("type", option.type or "not declared"))]
    if option.deprecated:
        rows.append(ShowRow(("deprecated", "yes")))
    rows += [
        ShowRow(("flag", f"{flag.name}{' (deprecated)' if flag.deprecated else ''}"), flag.place)
        for flag in option.flags
    ]
    return ShowSection("Definition", ("", ""), tuple(rows))


def list_of(subject: Subject, option: Option) -> ChoiceList | None:
    """The list that an option's choices come from."""
    lists = subject.facts.choice_lists
    return next((item for item in lists if item.name == option.choice_list), None)


def _choices(subject: Subject, option: Option) -> ShowSection:
    if option.choices is None:
        return ShowSection("Choices", (), (), "any value of its type is taken")
    known = list_of(subject, option)
    by_value = {choice.value: choice for choice in known.choices} if known else {}
    rows = []
    for item in option.choices:
        choice = by_value.get(item)
        note = (choice.note or "") if choice else ""
        guard = "" if choice is None or choice.guard == ALWAYS else when(subject, choice.guard)
        rows.append(ShowRow((value(item), note, guard), choice.place if choice else None))
    if known is not None:
        rows += [
            ShowRow((f"extended through {point.name}",), point.place)
            for point in known.extension_points
        ]
    listed = f", from {option.choice_list}" if option.choice_list else ""
    title = f"Choices{listed}"
    return ShowSection(title, ("value", "note", "when"), tuple(rows))


def _enums(subject: Subject, option: Option) -> ShowSection:
    choices = {str(item) for item in option.choices or ()}
    rows = []
    for item in enums_of(subject.facts, option):
        members = {str(m.value): m for m in item.members if m.alias_of is None}
        rows.append(ShowRow((item.name, f"{len(members)} members"), item.place))
        rows += [
            ShowRow((f"{members[text].name} = {text}", "no choice"), members[text].place)
            for text in sorted(members.keys() - choices)
            if choices
        ]
        rows += [ShowRow((text, "no member")) for text in sorted(choices - members.keys())]
    return ShowSection("Enum", ("name", "what"), tuple(rows))


def _variables(subject: Subject, option: Option) -> ShowSection:
    rows = tuple(
        ShowRow(
            (item.name, "deprecated" if item.deprecated else "", item.replacement or ""),
            item.place,
        )
        for item in subject.facts.environment
        if option.name in item.overrides
    )
    return ShowSection("Environment variables that change it", ("name", "", "use instead"), rows)
