"""The pages of choices, gates, enums, lists and variables."""

from __future__ import annotations

from sgl_audit.audit.deciding import ground
from sgl_audit.audit.notes import read_notes
from sgl_audit.audit.show import choice_state
from sgl_audit.cli.pages.rows import (
    decision_rows,
    gate_rows,
    places,
    rejection_rows,
    value,
    when,
)
from sgl_audit.cli.pages.subject import SETTING, Subject, enums_of
from sgl_audit.model.facts import (
    BackendEnum,
    ChoiceList,
    EnvironmentVariable,
    Gate,
    GateForm,
    Option,
)
from sgl_audit.model.guard import ALWAYS, Guard, atoms
from sgl_audit.model.report import ShowPage, ShowRow, ShowSection


def choice_page(subject: Subject, name: str) -> ShowPage:
    """Everything about one value, whatever options have it."""
    facts = subject.facts
    options = [o for o in facts.options if name in map(str, o.choices or ())]
    rows = _choosing(subject, options, name)
    members = tuple(
        ShowRow((f"{e.name}.{m.name}",), m.place)
        for e in facts.enums
        for m in e.members
        if str(m.value) == name
    )
    found = [item for item in facts.decisions if str(item.literal) == name]
    setting = [item for item in found if item.kind in SETTING]
    reading = [item for item in found if item.kind not in SETTING]
    refusing = [r for r in facts.rejections if mentions(r.guard, name) or name in r.message]
    sections = (
        ShowSection(
            "Choice of", ("option", _state_head(subject)), rows, "no option has it as a choice"
        ),
        ShowSection("Enum members", ("member",), members),
        places("Set at", decision_rows(subject, setting), "no place sets it"),
        places("Refused at", rejection_rows(subject, refusing)),
        places("Read to choose code at", decision_rows(subject, reading)),
    )
    return ShowPage(name, "choice", "", sections, rows[0].place if len(rows) == 1 else None)


def _state_head(subject: Subject) -> str:
    return f"state on {subject.capabilities[0]}" if len(subject.capabilities) == 1 else "state"


def _choosing(subject: Subject, options: list[Option], name: str) -> tuple[ShowRow, ...]:
    """The options that have a value as a choice, and its state where one capability is asked."""
    if len(subject.capabilities) != 1:
        return tuple(
            ShowRow((o.name, "default" if str(o.default) == name else ""), o.place) for o in options
        )
    base = ground(subject.facts, read_notes(subject.tree, subject.facts))
    capability = subject.capabilities[0]
    return tuple(
        ShowRow((o.name, choice_state(base, o, name, capability).value), o.place) for o in options
    )


def gate_page(subject: Subject, gate: Gate) -> ShowPage:
    """Everything about one gate."""
    facts = subject.facts
    # In a guard a gate is called or read; its own name may carry its class.
    name = gate.name if gate.form is GateForm.INLINE else gate.name.rpartition(".")[2]
    decisions = [item for item in facts.decisions if mentions(item.guard, name)]
    refusing = [item for item in facts.rejections if mentions(item.guard, name)]
    sections = (
        ShowSection("Capabilities", ("", "", ""), gate_rows(subject, gate)),
        places("Decides at", decision_rows(subject, decisions), "no decision asks it"),
        places("Refuses at", rejection_rows(subject, refusing)),
    )
    return ShowPage(gate.name, f"gate, {gate.form.value}", "", sections, gate.place)


def enum_page(subject: Subject, enum: BackendEnum) -> ShowPage:
    """Everything about one enum."""
    facts = subject.facts
    members = tuple(
        ShowRow((m.name, value(m.value), f"alias of {m.alias_of}" if m.alias_of else ""), m.place)
        for m in enum.members
    )
    options = tuple(
        ShowRow((o.name,), o.place) for o in facts.options if enum in enums_of(facts, o)
    )
    using = [item for item in facts.decisions if f"{enum.name}." in item.value]
    predicates = tuple(ShowRow((name,)) for name in enum.predicates)
    sections = (
        ShowSection("Members", ("name", "value", ""), members),
        ShowSection("Values of", ("option",), options, "no option is named like it"),
        ShowSection("Predicates", ("name",), predicates),
        places("Set at", decision_rows(subject, using)),
    )
    summary = "other values become members through _missing_" if enum.has_missing else ""
    return ShowPage(enum.name, "enum", summary, sections, enum.place)


def list_page(subject: Subject, item: ChoiceList) -> ShowPage:
    """Everything about one choice list."""
    rows = tuple(
        ShowRow((value(c.value), c.note or "", _guard(subject, c.guard)), c.place)
        for c in item.choices
    )
    points = tuple(ShowRow((point.name,), point.place) for point in item.extension_points)
    options = tuple(
        ShowRow((o.name,), o.place) for o in subject.facts.options if o.choice_list == item.name
    )
    sections = (
        ShowSection("Values", ("value", "note", "when"), rows),
        ShowSection("Extended through", ("name",), points, "no extension point"),
        ShowSection("Choices of", ("option",), options, "no option takes its choices from it"),
        ShowSection("Exported by", ("file",), tuple(ShowRow((f,)) for f in item.exported_from)),
    )
    return ShowPage(item.name, "choice list", "", sections, item.place)


def variable_page(subject: Subject, item: EnvironmentVariable) -> ShowPage:
    """Everything about one environment variable."""
    facts = subject.facts
    rows = [ShowRow(("default", item.default or "(unset)"))]
    if item.deprecated:
        rows.append(ShowRow(("deprecated", f"use {item.replacement}" if item.replacement else "")))
    rows += [ShowRow(("overrides", name)) for name in item.overrides]
    decisions = [d for d in facts.decisions if mentions(d.guard, item.name)]
    refusing = [r for r in facts.rejections if mentions(r.guard, item.name)]
    sections = (
        ShowSection("Definition", ("", ""), tuple(rows)),
        places("Read at", tuple(ShowRow((), place) for place in item.reads)),
        places("Decides at", decision_rows(subject, decisions)),
        places("Refuses at", rejection_rows(subject, refusing)),
    )
    return ShowPage(item.name, "environment variable", item.note or "", sections, item.place)


def _guard(subject: Subject, guard: Guard) -> str:
    return "" if guard == ALWAYS else when(subject, guard)


def mentions(guard: Guard, name: str) -> bool:
    """Whether a condition names a value, gate or variable as a whole word."""
    for atom in atoms(guard):
        start = atom.text.find(name)
        while start >= 0:
            before = atom.text[start - 1 : start]
            after = atom.text[start + len(name) : start + len(name) + 1]
            if not (_word(before) or _word(after)):
                return True
            start = atom.text.find(name, start + 1)
    return False


def _word(character: str) -> bool:
    return character.isalnum() or character == "_"
