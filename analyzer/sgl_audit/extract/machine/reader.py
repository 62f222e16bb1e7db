"""The reader: evaluates expressions of the tree on one machine."""

from __future__ import annotations

import ast
from typing import Protocol

from sgl_audit.extract.machine.outside import Machine
from sgl_audit.extract.machine.scopes import Scope
from sgl_audit.extract.machine.values import UNKNOWN, Entry, Value, settled

MAX_STEPS = 3000
MAX_DEPTH = 24


class World(Protocol):
    """What lies beyond one file."""

    def module_path(self, dotted: str) -> str | None:
        """The tree path of a module, or None where it is not of the tree."""
        ...

    def member(self, reader: Reader, path: str, name: str) -> Value:
        """What `from path import name` gives."""
        ...

    def attribute(self, reader: Reader, name: str) -> Value:
        """The value that every class of the tree gives `self.name`, or UNKNOWN."""
        ...

    def environment(self, name: str) -> Entry | None:
        """The default of an environment variable that the tree declares."""
        ...

    def worth_running(self, path: str, node: ast.AST) -> bool:
        """Whether a function of that file may ask about the machine."""
        ...


class Budget(Exception):
    """Too many steps or too deep: the expression stays unknown."""


class Reader:
    """Evaluates on one machine; remembers names and functions without arguments."""

    def __init__(self, machine: Machine, world: World) -> None:
        self.machine = machine
        self.world = world
        self.flags: set[str] = set()
        self.memo: dict[object, Entry] = {}
        self.active: set[object] = set()
        self._steps = 0
        self._depth = 0

    def evaluate(self, node: ast.expr, scope: Scope) -> Entry:
        """The value of an expression, and what it rests on."""
        self.flags = set()
        self.refill()
        try:
            value = self.value(node, scope)
        except (Budget, RecursionError):
            value = UNKNOWN
        return Entry(value, frozenset(self.flags))

    def refill(self) -> None:
        """Start the budget of an evaluation."""
        self._steps = 0
        self._depth = 0

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression inside a running evaluation."""
        from sgl_audit.extract.machine.expressions import EVALUATE

        self._steps += 1
        if self._steps > MAX_STEPS:
            raise Budget
        handler = EVALUATE.get(type(node))
        if handler is None:
            return UNKNOWN
        self._depth += 1
        if self._depth > MAX_DEPTH * 4:
            self._depth -= 1
            raise Budget
        try:
            return handler(self, node, scope)
        finally:
            self._depth -= 1

    def call(self, callee: Value, arguments: tuple[Value, ...], named: dict[str, Value]) -> Value:
        """The result of a call inside a running evaluation."""
        from sgl_audit.extract.machine.calls import call

        return call(self, callee, arguments, named)

    def take(self, entry: Entry) -> Value:
        """The value of an entry, noting what it rests on."""
        self.flags |= settled(entry.value, entry.flags).flags
        return entry.value
