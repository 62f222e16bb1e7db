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
        self._functions: dict[str, tuple[tuple[int, int], ...]] = {}
        self._program: Any = None

    def watch_fields(self, entry: Any) -> None:
        """Watch every field of the server arguments."""
        self._program = entry.session.program
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
        if not self._held(owner):
            return
        parts = value if isinstance(value, (tuple, list)) else (value,)
        for part in parts:
            if isinstance(part, dict):
                for name, item in part.items():
                    if name in self.names:
                        self.stores.append(Store(name, item, self._origin(name, item)))

    def put(self, owner: Any, key: Value, value: Value) -> None:
        """An item was stored: a declaration, where the record holds the mapping, or part of one.

        A declared value may be kept with a note of who declared it; it is the part that was
        written down for this field, else the first.
        """
        if key.__class__ is not str or key not in self.names:
            return
        if not self._held(owner):
            self.made({key: value})
            return
        parts = value if isinstance(value, tuple) and value else (value,)
        written = [made for made, _ in self._made.get(key, ())]
        item = next((part for part in parts if any(part is made for made in written)), parts[0])
        self.stores.append(Store(key, item, self._origin(key, item)))

    def _held(self, owner: Any) -> bool:
        """Whether the record holds a container."""
        return self.record is not None and any(owner is own for own in self.record.d.values())

    def _origin(self, name: str, value: Value) -> Running:
        """Where the declared value was written down; declarations are copied on the way."""
        for made, where in reversed(self._made.get(name, ())):
            if made is value or made == value:
                return where
        return self._declaring()

    def _declaring(self) -> Running:
        """Where the function that notes a declaration was called: the declaration itself."""
        now = running()
        own = self._function_at(now.stack[0]) if now.stack else None
        for depth, spot in enumerate(now.stack):
            if own is not None and self._function_at(spot) != own:
                return Running(now.stack[depth:], now.branches)
        return now

    def _function_at(self, spot: Spot) -> tuple[str, int] | None:
        """File and first line of the function around a place, None at the top of a module."""
        file, line = spot
        lines = self._functions.get(file)
        if lines is None:
            tree = self._program.parse(file)
            lines = self._functions[file] = functions_of(tree) if tree is not None else ()
        inner = [first for first, last in lines if first <= line <= last]
        return (file, inner[-1]) if inner else None

    def steps(self, machine: Any) -> dict[str, list[Step]]:
        """Field -> what set it, in order."""
        steps: dict[str, list[Step]] = {}
        for store in self.stores:
            where = store.running.stack[0] if store.running.stack else None
            entry = Step(
                step_text(machine, store.value),
                Place(*where) if where else None,
                "decided",
                conditions(machine, store.running),
            )
            listed = steps.setdefault(store.name, [])
            if not listed or listed[-1] != entry:
                listed.append(entry)
        return steps


def step_text(machine: Any, value: Value) -> str:
    """How a value reads in a trace."""
    return str(machine.part(value, 0)[:200])


def functions_of(tree: ast.Module) -> tuple[tuple[int, int], ...]:
    """First and last line of every function, outer before inner."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [(n.lineno, n.end_lineno or n.lineno) for n in ast.walk(tree) if isinstance(n, kinds)]
    return tuple(sorted(found, key=lambda lines: (lines[0], -lines[1])))


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
