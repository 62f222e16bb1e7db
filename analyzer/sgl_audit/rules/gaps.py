"""Where `auto` is decided for a quantization on some capabilities and not on others."""

from __future__ import annotations

from dataclasses import dataclass, field

from sgl_audit.model.facts import Option
from sgl_audit.rules.atoms import vocabulary
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.choosing import Selection, selections
from sgl_audit.rules.layers import MoeLayer, admitted
from sgl_audit.rules.picks import decided_early
from sgl_audit.rules.refusing import refused
from sgl_audit.rules.ways import Way, demands, possible, ways


@dataclass(slots=True)
class Gap:
    """What is not decided for one quantization, and where it is decided elsewhere."""

    option: Option
    quantization: str
    layer: MoeLayer
    capabilities: set[str] = field(default_factory=set)
    deciders: list[Selection] = field(default_factory=list)


def quantizations_named(context: RuleContext, selection: Selection) -> set[str]:
    """The quantizations that a selection is made for by name."""
    found: set[str] = set()
    for capability in context.capabilities:
        for way in ways(context, selection.guard, capability):
            demand = demands(way.literals, vocabulary(context)).get("quantization")
            if demand is not None and demand.allowed is not None:
                left = demand.allowed - demand.excluded
                found |= {value for value in left if isinstance(value, str)}
    return found


def widen(context: RuleContext, gap: Gap, selection: Selection) -> None:
    """Add to a gap the capabilities on which nothing decides what `selection` decides."""
    there = {c for c in context.capabilities if ways(context, selection.guard, c)}
    where = [way for c in sorted(there) for way in ways(context, selection.guard, c)][:1]
    missing = {
        capability
        for capability in context.capabilities
        if capability not in there
        and admitted(context, gap.layer, capability)
        and not decided_early(context, gap.option.name, gap.quantization, capability)
        and not any(_decides(context, gap, way, capability) for way in where)
    }
    if missing:
        gap.capabilities |= missing
        gap.deciders.append(selection)


def _decides(context: RuleContext, gap: Gap, scenario: Way, capability: str) -> bool:
    """Whether some place decides on a capability for the models of a scenario."""
    words = vocabulary(context)
    for other in selections(context):
        if other.option.name != gap.option.name or other.declared:
            continue
        for way in ways(context, other.guard, capability):
            demand = demands(way.literals, words).get("quantization")
            if demand is not None and not demand.admits(gap.quantization):
                continue
            if possible((*scenario.literals, *way.literals), words):
                return True
    return False


def gap_ways_out(context: RuleContext, gap: Gap, capability: str) -> list[str]:
    """The values that the tree itself gives the option for the quantization there."""
    words = vocabulary(context)
    found: list[str] = []
    for other in selections(context):
        if other.option.name == gap.option.name and not other.declared:
            for way in ways(context, other.guard, capability):
                demand = demands(way.literals, words).get("quantization")
                if demand is not None and gap.quantization in (demand.allowed or ()):
                    found.append(other.value)
    unique = list(dict.fromkeys(found))
    return [v for v in unique if not refused(context, gap.option, v, capability)]
