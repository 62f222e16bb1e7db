"""Refusals by compute capability that stand in a function's own code.

`if get_compute_capability(q.device)[0] not in (10, 12): raise ValueError(...)` refuses whatever the
other arguments are. Only statements that run on every call count; what a condition asks of the
library is asked of the library's own functions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sgl_audit.kernels.flashinfer.conditions import UNKNOWN, Conditions
from sgl_audit.kernels.flashinfer.declared import Evaluated
from sgl_audit.kernels.flashinfer.library import Definition, ModuleText
from sgl_audit.kernels.flashinfer.world import NUMBERS
from sgl_audit.model.kernels import CapabilityCheck
from sgl_audit.model.source import Place

MAX_DEPTH = 2


def of_function(done: Evaluated, text: ModuleText, name: str) -> tuple[CapabilityCheck, ...]:
    """Refusals on every path through a function, those of helpers that it always calls included."""
    node = text.functions.get(name)
    if node is None:
        return ()
    found = {check.place: check for check in _read(done, text, name, node, 0)}
    return tuple(found.values())


def _read(
    done: Evaluated, text: ModuleText, name: str, node: Definition, depth: int
) -> Iterator[CapabilityCheck]:
    conditions = Conditions(done, text)
    for statement in node.body:
        if isinstance(statement, ast.If) and _raises(statement.body):
            yield from _check(conditions, text, name, statement.test, statement.lineno, False)
        elif isinstance(statement, ast.Assert):
            yield from _check(conditions, text, name, statement.test, statement.lineno, True)
        elif isinstance(statement, ast.Return):
            yield from _helpers(done, text, statement, depth)
            return
        elif isinstance(statement, (ast.Expr, ast.Assign, ast.AnnAssign)):
            yield from _helpers(done, text, statement, depth)
        if _leaves(statement):
            return
        conditions.assign(statement)


def _raises(body: list[ast.stmt]) -> bool:
    return any(isinstance(item, ast.Raise) for item in body)


def _leaves(statement: ast.stmt) -> bool:
    """Whether a statement may return early, so that what follows is not on every path."""
    return any(isinstance(item, ast.Return) for item in ast.walk(statement))


def _check(
    conditions: Conditions, text: ModuleText, name: str, test: ast.expr, line: int, holds: bool
) -> Iterator[CapabilityCheck]:
    source = ast.unparse(test)
    if not conditions.about_capability(test):
        return
    refused: list[int] = []
    unknown: list[int] = []
    for number in NUMBERS:
        truth = conditions.truth(test, number)
        if truth is UNKNOWN:
            unknown.append(number)
        elif truth is not holds:
            refused.append(number)
    if refused or len(unknown) < len(NUMBERS):
        if not refused and not unknown:
            return
        full = f"{text.name}.{name}"
        place = Place(text.file, line)
        yield CapabilityCheck(full, tuple(refused), tuple(unknown), source[:200], place)


def _helpers(
    done: Evaluated, text: ModuleText, statement: ast.stmt, depth: int
) -> Iterator[CapabilityCheck]:
    """Checks of functions that the statement calls outright."""
    value = getattr(statement, "value", None)
    if (
        depth >= MAX_DEPTH
        or not isinstance(value, ast.Call)
        or not isinstance(value.func, ast.Name)
    ):
        return
    found = done.library.resolve(f"{text.name}.{value.func.id}")
    if (
        found is None
        or found[1] not in found[0].functions
        or not _words(found[0].functions[found[1]])
    ):
        return
    yield from _read(done, found[0], found[1], found[0].functions[found[1]], depth + 1)


def _words(node: Definition) -> bool:
    names = {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
    return any(word in name for name in names for word in ("capability", "is_sm", "sm_version"))
