"""Rows that several pages share."""

from __future__ import annotations

from collections.abc import Iterable

from sgl_audit.cli.pages.subject import Subject
from sgl_audit.model.facts import Decision, DecisionKind, Gate, Rejection
from sgl_audit.model.guard import ALWAYS, And, Atom, Guard, Not, atoms, text_of
from sgl_audit.model.report import Excerpt, ShowRow
from sgl_audit.model.source import Place
from sgl_audit.syntax.excerpt import excerpt
from sgl_audit_reports.common.names import capability_range
from sgl_audit_reports.common.text import clipped, plural, value_text

_GUARD_LENGTH = 240
_MESSAGE_LENGTH = 160
_STATEMENT_LINES = 4


def decision_rows(subject: Subject, decisions: Iterable[Decision]) -> tuple[ShowRow, ...]:
    """Where a value is given or read: value, condition, statement."""
    return tuple(
        ShowRow(
            (said(item), when(item.guard), f"in {item.function}"),
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
                when(item.guard),
                f"in {item.function}",
            ),
            item.place,
            statement(subject, item.place),
        )
        for item in rejections
        if subject.possible(item.guard)
    )


def when(guard: Guard) -> str:
    """A condition in few words: what an `elif` chain merely excludes is left out first."""
    if guard == ALWAYS:
        return "always"
    text = text_of(guard)
    if len(text) <= _GUARD_LENGTH or not isinstance(guard, And):
        return f"when {clipped(text, _GUARD_LENGTH)}"
    kept = [part for part in guard.parts if not _excluded(part)]
    dropped = len(guard.parts) - len(kept)
    short = text_of(And(tuple(kept))) if kept else text
    more = f" and {plural(dropped, 'condition')} more" if kept and dropped else ""
    return f"when {clipped(short, _GUARD_LENGTH)}{more}"


def _excluded(part: Guard) -> bool:
    return isinstance(part, Not) and not (
        isinstance(part.part, Atom) and part.part.capabilities is not None
    )


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
