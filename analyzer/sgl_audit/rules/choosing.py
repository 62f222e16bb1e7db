"""Places that choose a value for an option by themselves, the declared default among them."""

from __future__ import annotations

from dataclasses import dataclass

from sgl_audit.model.facts import Decision, DecisionKind, Option
from sgl_audit.model.guard import ALWAYS, Guard, all_of
from sgl_audit.model.source import Place
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.callers import entry_guard
from sgl_audit.rules.options import options_by_name

_SETS = (DecisionKind.ASSIGNMENT, DecisionKind.DECLARED, DecisionKind.RETURNED)


@dataclass(frozen=True, slots=True)
class Selection:
    """One place where an option comes to a value, and when."""

    option: Option
    value: str
    guard: Guard
    place: Place
    function: str = ""
    line: str = ""
    declared: bool = False


def selections(context: RuleContext) -> tuple[Selection, ...]:
    """Every place in the server where an option with a list of choices comes to one of them."""
    return context.once(_selections)


def _selections(context: RuleContext) -> tuple[Selection, ...]:
    options = {name: item for name, item in options_by_name(context).items() if item.choices}
    found = [
        Selection(option, option.default, ALWAYS, option.place, declared=True)
        for option in options.values()
        if option.default_known and isinstance(option.default, str) and option.default != "auto"
    ]
    for decision in context.facts.decisions:
        option_of = options.get(decision.option)
        if option_of is not None and sets(decision) and _early(context, decision.place):
            value = str(decision.literal)
            if value in (option_of.choices or ()) and value != "auto":
                found.append(_selection(option_of, value, decision))
    return tuple(found)


def full_guard(context: RuleContext, selection: Selection) -> Guard:
    """The guard of a selection with what its function's callers ask before they call it."""
    return all_of(entry_guard(context, selection.place.file, selection.function), selection.guard)


def sets(decision: Decision) -> bool:
    """Whether a decision gives its option one known text."""
    return decision.kind in _SETS and isinstance(decision.literal, str)


def in_server(context: RuleContext, place: Place) -> bool:
    """Whether a place belongs to the language-model server."""
    return place.file.startswith(f"{context.tree.info.package}/srt/")


def _early(context: RuleContext, place: Place) -> bool:
    """Whether a place is met before layers are made: what a layer picks, it picks for itself."""
    late = "/layers/" in place.file or "/models/" in place.file
    return in_server(context, place) and not late


def _selection(option: Option, value: str, decision: Decision) -> Selection:
    return Selection(
        option,
        value,
        decision.guard,
        decision.place,
        decision.function,
        decision.excerpt,
    )
