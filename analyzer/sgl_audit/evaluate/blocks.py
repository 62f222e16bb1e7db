"""Blocks of statements, and the signals by which a statement ends.

A signal is None (go on), a Return, BREAK, CONTINUE, or a Split: several ways to go on, each
under a condition that is not known.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.closures import Frame, Run
from sgl_audit.evaluate.scopes import Scope
from sgl_audit.evaluate.values import Raised, Undecidable, Value

if TYPE_CHECKING:
    from sgl_audit.evaluate.lowering import Lowering

Place = tuple[str, int]


class Return:
    """The signal of a return statement."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


RETURN = Return


class Signal:
    """BREAK and CONTINUE."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


BREAK = Signal("break")


CONTINUE = Signal("continue")

# Kind of statement -> what lowers it; `statements` fills it.
STATEMENTS: dict[type, Callable[[Any, Any, Scope], Run | None]] = {}


class Split:
    """Several ways to go on. Each has a condition, a signal and the heap it leads to."""

    __slots__ = ("ways",)

    def __init__(self, ways: list[Any]) -> None:
        self.ways = ways


def lower_block(lowering: Lowering, body: list[ast.stmt], scope: Scope) -> Run:
    """The closure for a list of statements."""
    runs = [run for node in body if (run := lower_statement(lowering, node, scope)) is not None]
    return sequence(lowering.machine, runs)


def sequence(machine: Any, runs: list[Run]) -> Run:
    """Run one after the other until one gives a signal."""
    if not runs:
        return lambda f: None
    if len(runs) == 1:
        return runs[0]

    def run(f: Frame, start: int = 0) -> Value:
        signal = None
        for index in range(start, len(runs)):
            signal = runs[index](f)
            if signal is not None:
                if signal.__class__ is Split:
                    rest = index + 1
                    return machine.continue_split(signal, lambda: run(f, rest), f)
                return signal
        return None

    def fast(f: Frame) -> Value:
        for statement in runs:
            signal = statement(f)
            if signal is not None:
                if signal.__class__ is Split:
                    rest = runs.index(statement) + 1
                    return machine.continue_split(signal, lambda: run(f, rest), f)
                return signal
        return None

    return fast


def lower_statement(lowering: Lowering, node: ast.stmt, scope: Scope) -> Run | None:
    """The closure for one statement; None where it does nothing."""
    if lowering.tolerant:
        from sgl_audit.evaluate.following.tolerant import tolerant_statement

        return tolerant_statement(lowering, node, scope)
    return STATEMENTS[type(node)](lowering, node, scope)


def placed(lowering: Lowering, node: ast.stmt, action: Callable[[Frame], Value]) -> Run:
    """A simple statement that tells the exceptions passing through it where they come from."""
    place = lowering.place(node)

    def run(f: Frame) -> Value:
        try:
            return action(f)
        except Raised as raised:
            if raised.place is None:
                raised.place = place
            raise
        except Undecidable as stop:
            if stop.where is None:
                stop.where = place
            raise

    return run
