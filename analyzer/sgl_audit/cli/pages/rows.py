"""Rows that several pages share."""

from __future__ import annotations

from collections.abc import Iterable

from sgl_audit.audit.wording import condition_text
from sgl_audit.cli.pages.subject import Subject
from sgl_audit.model.facts import Decision, DecisionKind, Gate, Rejection
from sgl_audit.model.guard import ALWAYS, Guard, atoms, text_of, unowned
from sgl_audit.model.report import Excerpt, ShowRow, ShowSection
from sgl_audit.model.source import Place
from sgl_audit.syntax.excerpt import excerpt
from sgl_audit_reports.common.names import capability_range
from sgl_audit_reports.common.text import clipped, value_text

_GUARD_LENGTH = 240
_MESSAGE_LENGTH = 160
_STATEMENT_LINES = 4
_PLACES = 5


def decision_rows(subject: Subject, decisions: Iterable[Decision]) -> tuple[ShowRow, ...]:
    """Where a value is given or read: value, condition, statement."""
    return tuple(
        ShowRow(
            (said(item), when(subject, item.guard), f"in {item.function}"),
            item.place,
            statement(subject, item.place),
        )
        for item in decisions
        if subject.possible(item.guard)
    )


def said(item: Decision) -> str:
    """What a decision does, in the words of the source."""
    if item.kind is DecisionKind.DISPATCH:
        return item.value if item.option in item.value else f"{item.option}: {item.value}"
    return f"{item.option} = {item.value}"


def rejection_rows(subject: Subject, rejections: Iterable[Rejection]) -> tuple[ShowRow, ...]:
    """Where a value is refused: exception, message, condition, statement."""
    return tuple(
        ShowRow(
            (
                f"{item.exception}: {clipped(' '.join(item.message.split()), _MESSAGE_LENGTH)}",
                when(subject, item.guard),
                f"in {item.function}",
            ),
            item.place,
            statement(subject, item.place),
        )
        for item in rejections
        if subject.possible(item.guard)
    )


def when(subject: Subject, guard: Guard) -> str:
    """A condition: in few words, or as the source has it where details are wanted."""
    if guard == ALWAYS:
        return "always"
    if subject.details:
        return f"when {' '.join(text_of(guard).split())}"
    whole = unowned(text_of(guard))
    # What merely excludes is counted only where the whole is too long to read.
    short = whole if len(whole) <= _GUARD_LENGTH else condition_text(guard)
    return f"when {clipped(short, _GUARD_LENGTH)}"


def places(heading: str, rows: tuple[ShowRow, ...], empty: str = "") -> ShowSection:
    """A section of places in the source: a first look needs few of them."""
    return ShowSection(heading, (), rows, empty, _PLACES)


def size(guard: Guard) -> int:
    """How many questions a condition asks."""
    return sum(1 for _ in atoms(guard))


def statement(subject: Subject, place: Place) -> Excerpt | None:
    """The statement at a place; of a long one its first lines."""
    found = excerpt(subject.tree, place, _STATEMENT_LINES)
    lines = found.lines[place.line - found.first :]
    if not lines:
        return None
    whole = lines[0].rstrip().endswith(("(", "[", "{", "\\"))
    return Excerpt(place, place.line, lines[:_STATEMENT_LINES] if whole else lines[:1])


def gate_rows(subject: Subject, gate: Gate) -> tuple[ShowRow, ...]:
    """On which capabilities a gate holds, does not, and is not understood."""
    asked = [name for name, _ in gate.holds if name in subject.capabilities]
    words = (("holds on", True), ("does not hold on", False), ("not understood on", None))
    rows = []
    for text, value in words:
        names = [name for name, held in gate.holds if held is value and name in asked]
        if names:
            reason = gate.reason or "" if value is None else ""
            rows.append(ShowRow((text, capability_range(names, asked), reason)))
    return tuple(rows)


def value(found: object) -> str:
    """A value as a reader names it."""
    return value_text(found if isinstance(found, str | int | float | bool) else None)
