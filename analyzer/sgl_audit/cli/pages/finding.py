"""Which pages a name has."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sgl_audit.cli.choosing import suggestion
from sgl_audit.cli.pages.option import option_page
from sgl_audit.cli.pages.others import (
    choice_page,
    enum_page,
    gate_page,
    list_page,
    variable_page,
)
from sgl_audit.cli.pages.subject import Subject
from sgl_audit.errors import UsageError
from sgl_audit.model.facts import GateForm
from sgl_audit.model.report import ShowPage

Named = tuple[str, Callable[[], ShowPage]]


def find_pages(subject: Subject, name: str) -> tuple[ShowPage, ...]:
    """Every page of a name; `-` and `_` and, where nothing else fits, upper and lower are alike.

    Raises:
        UsageError: nothing has that name; the sentence suggests what is near.
    """
    known = list(_known(subject))
    for key in (_plain, _loose):
        found = [make for known_name, make in known if key(known_name) == key(name)]
        if found:
            return tuple(make() for make in found)
    version = subject.tree.info.distribution.version or ""
    near = suggestion(name, dict.fromkeys(known_name for known_name, _ in known))
    raise UsageError(
        f"sglang {version} has no option, flag, choice, gate, enum, list or environment variable "
        f"named {name!r}{near}"
    )


def _plain(name: str) -> str:
    return name.strip().removesuffix("()")


def _loose(name: str) -> str:
    return _plain(name).lstrip("-").replace("-", "_").lower()


def _known(subject: Subject) -> Iterator[Named]:
    facts = subject.facts
    for option in facts.options:
        names = {option.name, *(flag.name for flag in option.flags)}
        # One page an option, though the field and the flag differ in `-` and `_` only.
        unlike = {_loose(text): text for text in sorted(names, reverse=True)}
        for text in unlike.values():
            yield text, lambda option=option: option_page(subject, option)  # type: ignore[misc]
    for variable in facts.environment:
        yield variable.name, lambda item=variable: variable_page(subject, item)  # type: ignore[misc]
    for gate in (*facts.gates, *facts.platform):
        if gate.form is not GateForm.INLINE:
            for text in dict.fromkeys((gate.name, gate.name.rpartition(".")[2])):
                yield text, lambda gate=gate: gate_page(subject, gate)  # type: ignore[misc]
    for enum in facts.enums:
        yield enum.name, lambda item=enum: enum_page(subject, item)  # type: ignore[misc]
    for item in facts.choice_lists:
        yield item.name, lambda item=item: list_page(subject, item)  # type: ignore[misc]
    values = {v for o in facts.options for v in o.choices or () if isinstance(v, str)}
    values |= {m.value for e in facts.enums for m in e.members if isinstance(m.value, str)}
    for value in sorted(values):
        yield value, lambda value=value: choice_page(subject, value)  # type: ignore[misc]
