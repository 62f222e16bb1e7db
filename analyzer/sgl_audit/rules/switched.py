"""Environment variables that the tree sets itself because of the capability."""

from __future__ import annotations

from collections.abc import Iterable

from sgl_audit.model.facts import Decision
from sgl_audit.model.guard import AtomKind
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.ways import Literal, ways

_FALSE = ("False", "0", "None", '""', "''")


def setters(context: RuleContext) -> dict[str, list[Decision]]:
    """Variable -> the places of the tree that set it."""
    return context.once(_setters)


def _setters(context: RuleContext) -> dict[str, list[Decision]]:
    names = {variable.name for variable in context.facts.environment}
    found: dict[str, list[Decision]] = {}
    for item in context.facts.decisions:
        if item.option in names:
            found.setdefault(item.option, []).append(item)
    return found


def switched_away(context: RuleContext, literals: Iterable[Literal], capability: str) -> bool:
    """Whether the tree sets a variable, by a gate that holds there, so that a test comes out
    against what is wanted."""
    for atom, wanted in literals:
        if atom.kind is not AtomKind.ENVIRONMENT:
            continue
        for name, decisions in setters(context).items():
            if name in atom.text and any(
                (item.value not in _FALSE) is not wanted and _by_gate(context, item, capability)
                for item in decisions
            ):
                return True
    return False


def _by_gate(context: RuleContext, item: Decision, capability: str) -> bool:
    return any(
        wanted and atom.kind is AtomKind.GATE
        for way in ways(context, item.guard, capability)
        for atom, wanted in way.machine
    )
