"""Refusals by compute capability that stand in a function's own code.

`if get_compute_capability(q.device)[0] not in (10, 12): raise ValueError(...)` refuses whatever the
other arguments are. Only statements that run on every call count; what a condition asks of the
library is asked of the library's own functions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sgl_audit.kernels.flashinfer.conditions import UNKNOWN, Conditions
from sgl_audit.kernels.flashinfer.declared import Evaluated
from sgl_audit.kernels.flashinfer.library import ModuleText
from sgl_audit.kernels.flashinfer.world import NUMBERS
from sgl_audit.model.requirements import CapabilityCheck
from sgl_audit.model.source import Place

MAX_DEPTH = 2
BACKEND = "backend"


def of_function(done: Evaluated, text: ModuleText, name: str) -> tuple[CapabilityCheck, ...]:
    """Refusals on every path through a function, or on every path of one backend.

    Those of helpers that are always called there are included.
    """
    node = text.functions.get(name)
    if node is None:
        return ()
    reader = _Reader(done, text, name, Conditions(done, text))
    found = {(check.place, check.backend): check for check in reader.read(node.body)}
    return tuple(found.values())


@dataclass(slots=True)
class _Reader:
    """Walks the statements of one function that run on every call.

    Attributes:
        backend: the backend whose branch is walked, None outside of such branches.
    """

    done: Evaluated
    text: ModuleText
    name: str
    conditions: Conditions
    backend: str | None = None
    depth: int = 0

    def read(self, body: list[ast.stmt]) -> Iterator[CapabilityCheck]:
        """Checks of a block, up to where it may be left."""
        for statement in body:
            if isinstance(statement, ast.If):
                yield from self._branch(statement)
            elif isinstance(statement, ast.Assert):
                yield from self._check(statement.test, statement.lineno, holds=True)
            elif isinstance(statement, (ast.Expr, ast.Assign, ast.AnnAssign, ast.Return)):
                yield from self._helper(statement.value)
            if any(isinstance(item, ast.Return) for item in ast.walk(statement)):
                return
            self.conditions.assign(statement)

    def _branch(self, statement: ast.If) -> Iterator[CapabilityCheck]:
        backends = backend_names(statement.test)
        if backends and self.backend is None:
            for backend in backends:
                yield from replace(self, backend=backend).read(statement.body)
            yield from self._other(statement.orelse)
        elif any(isinstance(item, ast.Raise) for item in statement.body):
            yield from self._check(statement.test, statement.lineno, holds=False)

    def _other(self, body: list[ast.stmt]) -> Iterator[CapabilityCheck]:
        """The `elif` of a chain over backends; a plain `else` belongs to no known one."""
        if len(body) == 1 and isinstance(body[0], ast.If) and backend_names(body[0].test):
            yield from self._branch(body[0])

    def _check(self, test: ast.expr, line: int, holds: bool) -> Iterator[CapabilityCheck]:
        if not self.conditions.about_capability(test):
            return
        truths = {number: self.conditions.truth(test, number) for number in NUMBERS}
        unknown = tuple(n for n, truth in truths.items() if truth is UNKNOWN)
        refused = tuple(n for n in NUMBERS if n not in unknown and truths[n] is not holds)
        # Unknown everywhere means that it asks something else, and never refused says nothing.
        if refused or 0 < len(unknown) < len(NUMBERS):
            full = f"{self.text.name}.{self.name}"
            place = Place(self.text.file, line)
            source = ast.unparse(test)[:200]
            yield CapabilityCheck(full, refused, unknown, source, place, self.backend)

    def _helper(self, value: ast.expr | None) -> Iterator[CapabilityCheck]:
        """Checks of a function that the statement calls outright."""
        called = value.func if isinstance(value, ast.Call) else None
        if self.depth >= MAX_DEPTH or not isinstance(called, ast.Name):
            return
        library = self.done.library
        found = library.resolve(f"{self.text.name}.{called.id}")
        node = None if found is None else found[0].functions.get(found[1])
        if found is not None and node is not None:
            conditions = Conditions(self.done, found[0])
            inner = _Reader(self.done, *found, conditions, self.backend, self.depth + 1)
            yield from inner.read(node.body)


def backend_names(test: ast.expr) -> tuple[str, ...]:
    """The names for which `backend == "x"` or `backend in ("x", "y")` holds; else none."""
    if not (isinstance(test, ast.Compare) and isinstance(test.left, ast.Name)):
        return ()
    if test.left.id != BACKEND or len(test.ops) != 1:
        return ()
    right = test.comparators[0]
    items = [right]
    if isinstance(test.ops[0], ast.In) and isinstance(right, (ast.Tuple, ast.List, ast.Set)):
        items = list(right.elts)
    elif not isinstance(test.ops[0], ast.Eq):
        return ()
    names = [item.value for item in items if isinstance(item, ast.Constant)]
    return tuple(name for name in names if isinstance(name, str) and name != "auto")
