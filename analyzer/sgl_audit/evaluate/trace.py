"""Who set what, where: the stores into the record of a launch, with the code that was running.

Places come from the interpreter's own stack: every statement closure knows where it stands. So a
trace costs nothing until a value of the record is stored.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from sgl_audit.evaluate.values import Class, Value, is_instance

from sgl_audit.model.resolution import Step
from sgl_audit.model.source import Place

DEPTH = 400


@dataclass(frozen=True, slots=True)
class Store:
    """One store into the record or into what overlays it.

    Attributes:
        stack: (file, line) of the running statements, innermost first.
    """

    name: str
    value: Value
    stack: tuple[tuple[str, int], ...]


class Tracer:
    """Notes stores of watched names.

    Attributes:
        names: names of the record's fields that are of interest.
    """

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names
        self.stores: list[Store] = []

    def watch_fields(self, entry: Any) -> None:
        """Watch every field of the server arguments."""
        owner = entry.session.get(f"{entry.root}.srt.server_args", "ServerArgs")
        listed = owner.data.get("record", ()) if isinstance(owner, Class) else ()
        self.names = frozenset(item.name for item in listed)

    def stored(self, owner: Value, name: str, value: Value) -> None:
        """An attribute was stored."""
        if name in self.names and "record" in owner.cls.data:
            self.stores.append(Store(name, value, running()))

    def stored_item(self, owner: Any, key: Value, value: Value) -> None:
        """An item was stored: newer trees collect overrides in dictionaries."""
        if key.__class__ is str and key in self.names and not is_instance(value):
            self.stores.append(Store(key, value, running()))


def running() -> tuple[tuple[str, int], ...]:
    """Places of the statements being interpreted, innermost first."""
    places: list[tuple[str, int]] = []
    frame = sys._getframe(2)
    current: Any = frame
    depth = 0
    while current is not None and depth < DEPTH:
        place = current.f_locals.get("place")
        if isinstance(place, tuple) and len(place) == 2 and (not places or places[-1] != place):
            places.append(place)
        current = current.f_back
        depth += 1
    return tuple(places)


def steps_of(tracer: Tracer, machine: Any) -> dict[str, list[Step]]:
    """Field -> what set it, in order."""
    steps: dict[str, list[Step]] = {}
    for store in tracer.stores:
        file, line = store.stack[0] if store.stack else ("", 0)
        shown = machine.part(store.value, 0)
        entry = Step(
            shown[:200],
            Place(file, line) if file else None,
            "set",
            tuple(f"{f}:{n}" for f, n in store.stack[1:6]),
        )
        steps.setdefault(store.name, []).append(entry)
    return steps
