"""What the extractors of one file share: its syntax, its names, and the machines."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from sgl_audit.extract.index import Index
from sgl_audit.extract.machine.outside import Machine
from sgl_audit.extract.machine.reader import Reader
from sgl_audit.extract.machine.scopes import Scope
from sgl_audit.extract.machine.values import (
    MACHINE_FLAGS,
    UNBOUND,
    UNKNOWN,
    Record,
    Value,
    VersionText,
    truth,
)
from sgl_audit.extract.machine.world import TableWorld
from sgl_audit.model.guard import Guard
from sgl_audit.syntax.hits import LineHits
from sgl_audit.syntax.parse import ParsedFile


@dataclass(frozen=True, slots=True)
class Reading:
    """What an expression is on every capability: truth values, and what they rest on."""

    holds: tuple[bool | None, ...]
    flags: frozenset[str]

    @property
    def asks_machine(self) -> bool:
        """Whether the machine was asked."""
        return bool(self.flags & MACHINE_FLAGS)

    def names(self, capabilities: tuple[str, ...]) -> frozenset[str] | None:
        """Capabilities on which it holds; None where any value is unknown."""
        if None in self.holds:
            return None
        return frozenset(
            name for name, value in zip(capabilities, self.holds, strict=True) if value
        )


@dataclass(slots=True, eq=False)
class FileContext:
    """One file as extractors see it."""

    parsed: ParsedFile
    scope: Scope
    index: Index
    readers: tuple[Reader, ...]
    machine_hits: LineHits
    readings: dict[tuple[int, int], Reading] = field(default_factory=dict)
    guards: dict[tuple[int, int], Guard] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """The tree path of the file."""
        return self.parsed.path

    @property
    def capabilities(self) -> tuple[str, ...]:
        """The capabilities asked, in order."""
        return self.index.machines.capabilities

    def reading(self, node: ast.expr, scope: Scope) -> Reading:
        """What an expression is on every capability."""
        key = (id(node), id(scope))
        known = self.readings.get(key)
        if known is None:
            known = self._read(node, scope)
            self.readings[key] = known
        return known

    def _read(self, node: ast.expr, scope: Scope) -> Reading:
        flags: set[str] = set()
        holds: list[bool | None] = []
        for reader in self.readers:
            entry = reader.evaluate(node, scope)
            flags |= entry.flags
            # Where the name it asks is not bound, a test cannot hold.
            holds.append(False if entry.value is UNBOUND else truth(entry.value))
            if not flags & MACHINE_FLAGS:
                # What does not ask the machine is the same on every machine.
                holds *= len(self.readers)
                break
        return Reading(tuple(holds), frozenset(flags))

    def tests_machine(self, node: ast.expr, scope: Scope) -> bool:
        """Whether a test is one of the machine: it reads what the machine is, or depends on it.

        A value that merely came to be on a path that asks the machine makes no test of it.
        """
        reading = self.reading(node, scope)
        if not reading.asks_machine:
            return False
        if None not in reading.holds:
            return True
        if not isinstance(node, ast.Compare):
            return any(value is not None for value in reading.holds)
        sides = [node.left, *node.comparators]
        return any(self._is_machine_fact(side, scope) for side in sides)

    def _is_machine_fact(self, node: ast.expr, scope: Scope) -> bool:
        for reader in self.readers:
            if not is_fact_of(reader.evaluate(node, scope).value, reader.machine):
                return False
        return True

    def values(self, node: ast.expr, scope: Scope) -> tuple[Value, ...]:
        """The value of an expression on every capability."""
        return tuple(reader.evaluate(node, scope).value for reader in self.readers)


def is_fact_of(value: Value, machine: Machine) -> bool:
    """Whether a value is what the machine answers: its capability, its name, its versions."""
    if isinstance(value, Record):
        return value.sequence == machine.pair or value.kind == "capability"
    if isinstance(value, bool) or value is None or value is UNKNOWN:
        return value is None and not machine.nvidia
    capability = machine.capability
    facts = (machine.pair, capability.major, capability.number, capability.name)
    return value in facts or value == capability.device_name or isinstance(value, VersionText)


def make_readers(
    machines: tuple[Machine, ...], index: Index, scope: Scope, hits: LineHits
) -> tuple[Reader, ...]:
    """One reader per machine for one file; `hits` are its mentions of the machine."""
    return tuple(
        Reader(machine, TableWorld(index.machines, position, scope, hits))
        for position, machine in enumerate(machines)
    )
