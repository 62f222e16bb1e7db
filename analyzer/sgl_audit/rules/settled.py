"""What initialisers of the layers make of a setting, whatever the model."""

from __future__ import annotations

from sgl_audit.rules.automatic import late_one
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.choosing import Selection
from sgl_audit.rules.chosen import chosen
from sgl_audit.rules.dispatchers import dispatched
from sgl_audit.rules.reach import Reach, reach_of
from sgl_audit.rules.ways import ways

Settled = dict[str, list[tuple[Selection, list[str]]]]


def settled_late(context: RuleContext) -> Settled:
    """Option -> the values that a function of the layers gives it by default, and where."""
    return context.once(_settled_late)


def _settled_late(context: RuleContext) -> Settled:
    own = {item.returned.place for item in dispatched(context)}
    found: Settled = {}
    for selection in chosen(context):
        inside = late_one(selection) and "." not in selection.function
        if not inside or selection.declared or selection.place in own:
            continue
        names = [
            name
            for name in context.capabilities
            if any(
                way.certain and way.machine and reach_of(context, way.literals) is Reach.DEFAULT
                for way in ways(context, selection.guard, name)
            )
        ]
        if names:
            found.setdefault(selection.option.name, []).append((selection, names))
    return found
