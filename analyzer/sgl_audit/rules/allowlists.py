"""Refusals of everything that is not in a list."""

from __future__ import annotations

from sgl_audit.rules.atoms import vocabulary
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.refusing import Refusal
from sgl_audit.rules.ways import Literal, demands, subject_of, ways


def listed_by(context: RuleContext, refusal: Refusal) -> list[str]:
    """The values outside of which everything is refused, where that is what is asked."""
    words = vocabulary(context)
    for way in ways(context, refusal.guard, context.capabilities[0]):
        demand = demands(way.literals, words).get(refusal.option.name)
        if demand is None or demand.allowed is not None:
            return []
        listed = sorted(value for value in demand.excluded if isinstance(value, str))
        return listed if len(listed) > 1 else []
    return []


def other_tests(context: RuleContext, refusal: Refusal, capability: str) -> list[Literal]:
    """The tests of a refusal that are not about the option."""
    words, name = vocabulary(context), refusal.option.name
    for way in ways(context, refusal.guard, capability):
        return [lit for lit in way.literals if subject_of(lit, words) != name]
    return []
