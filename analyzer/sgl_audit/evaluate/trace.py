"""Who set what, where, and why that place was reached.

Places come from the interpreter's own stack: every statement closure knows where it stands and
an `if` which way it went. So a trace costs nothing until a value of the record is stored.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sgl_audit.evaluate.values import Class, Value
from sgl_audit.model.resolution import Step
from sgl_audit.model.source import Place

DEPTH = 600
CONDITIONS = 6
Spot = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Running:
    """What was being interpreted.

    Attributes:
        stack: (file, line) of the running statements, innermost first.
        branches: (place of an `if`, whether its body runs), innermost first.
    """

    stack: tuple[Spot, ...]
    branches: tuple[tuple[Spot, bool], ...]


@dataclass(frozen=True, slots=True)
class Store:
    """One value that a field of the record got."""

    name: str
    value: Value
    running: Running


class Tracer:
    """Notes what the fields of the record get.

    Attributes:
        names: names of the record's fields.
        record: the record, once it exists.
    """

    def __init__(self) -> None:
        self.names: frozenset[str] = frozenset()
        self.fields: tuple[Any, ...] = ()
        self.record: Value = None
        self.stores: list[Store] = []
        self._owner: Any = None
        self.initial: dict[str, Value] = {}
        self._made: dict[str, list[tuple[Value, Running]]] = {}

    def watch_fields(self, entry: Any) -> None:
        """Watch every field of the server arguments."""
        owner = entry.session.get(f"{entry.root}.srt.server_args", "ServerArgs")
        if isinstance(owner, Class):
            self._owner = owner
            self.fields = tuple(owner.data.get("record", ()))
            self.names = frozenset(item.name for item in self.fields)

    def began(self, owner: Value) -> None:
        """A record got its first values."""
        if self._owner is not None and self._owner in owner.cls.mro:
            self.record = owner
            self.initial = dict(owner.d)

    def stored(self, owner: Value, name: str, value: Value) -> None:
        """An attribute was stored."""
        if owner is self.record and name in self.names:
            self.stores.append(Store(name, value, running()))

    def made(self, mapping: dict[Any, Value]) -> None:
        """A dictionary was written down; newer trees declare overrides that way."""
        if self.record is None:
            return
        names = [key for key in mapping if key in self.names]
        if names:
            where = running()
            for name in names:
                self._made.setdefault(name, []).append((mapping[name], where))

    def appended(self, owner: list[Value], value: Value) -> None:
        """Something was appended to a list: a declaration, where the record holds the list."""
        if self.record is None or not any(owner is held for held in self.record.d.values()):
            return
        parts = value if isinstance(value, (tuple, list)) else (value,)
        for part in parts:
            if isinstance(part, dict):
                for name, item in part.items():
                    if name in self.names:
                        self.stores.append(Store(name, item, self._origin(name, item)))

    def _origin(self, name: str, value: Value) -> Running:
        """Where the declared value was written down; declarations are copied on the way."""
        for made, where in reversed(self._made.get(name, ())):
            if made is value or made == value:
                return where
        return running()

    def steps(self, machine: Any) -> dict[str, list[Step]]:
        """Field -> what set it, in order."""
        steps: dict[str, list[Step]] = {}
        for store in self.stores:
            where = store.running.stack[0] if store.running.stack else None
            entry = Step(
                machine.part(store.value, 0)[:200],
                Place(*where) if where else None,
                "decided",
                conditions(machine, store.running),
            )
            listed = steps.setdefault(store.name, [])
            if not listed or listed[-1] != entry:
                listed.append(entry)
        return steps


def running() -> Running:
    """What is being interpreted right now."""
    stack: list[Spot] = []
    branches: list[tuple[Spot, bool]] = []
    current: Any = sys._getframe(2)
    depth = 0
    while current is not None and depth < DEPTH:
        seen = current.f_locals
        place = seen.get("place")
        if isinstance(place, tuple) and len(place) == 2:
            if isinstance(seen.get("condition"), bool) and "then" in seen:
                branches.append((place, seen["condition"]))
            elif not stack or stack[-1] != place:
                stack.append(place)
        current = current.f_back
        depth += 1
    return Running(tuple(stack), tuple(branches))


def conditions(machine: Any, run: Running) -> tuple[str, ...]:
    """The conditions of the enclosing branches, outermost first, the nearest few."""
    texts = []
    for (file, line), taken in run.branches[:CONDITIONS]:
        test = test_text(machine.imports.program, file, line)
        if test is not None:
            shown = test if taken else f"not ({test})"
            texts.append(f"{shown}  [{file}:{line}]")
    return tuple(reversed(texts))


def test_text(program: Any, file: str, line: int) -> str | None:
    """The test of the `if` at a line, on one line."""
    tests: Mapping[int, str] = program.tests_of(file)
    found = tests.get(line)
    return found if found is None or len(found) <= 240 else found[:237] + "..."


def tests_in(tree: ast.Module | None) -> dict[int, str]:
    """Line -> source text of the test, for every `if` of a file."""
    if tree is None:
        return {}
    return {
        node.lineno: ast.unparse(node.test) for node in ast.walk(tree) if isinstance(node, ast.If)
    }
