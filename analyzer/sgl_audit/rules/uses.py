"""Calls straight into an outside library, with the conditions around them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sgl_audit.extract.walker import leaves
from sgl_audit.model.guard import ALWAYS, Guard, all_of, negate
from sgl_audit.model.source import Place
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.conditions import guard_of
from sgl_audit.rules.sources import files_with, syntax_of

# What only asks how many or how large, and starts nothing on the device.
_ASKS = ("num_sms", "align", "layout", "Buffer")


@dataclass(frozen=True, slots=True)
class LibraryUse:
    """One name of a library that a function of the server calls or imports to call.

    Attributes:
        name: with the library, "deep_gemm.fp8_mqa_logits".
        guard: the conditions inside the function.
    """

    name: str
    place: Place
    function: str
    guard: Guard


def library_uses(context: RuleContext, module: str) -> tuple[LibraryUse, ...]:
    """Every direct use of a library inside functions, outside of what is named after it."""
    key = ("uses", module)
    if key not in context.memory:
        context.memory[key] = tuple(
            use
            for file in files_with(context, module)
            if "/srt/" in file and not _named_after(module, file)
            if (tree := syntax_of(context, file)) is not None
            for use in _Walk(context, file, module).block(tree.body, "", ALWAYS)
            if use.function and not _named_after(module, use.function)
        )
    found: tuple[LibraryUse, ...] = context.memory[key]
    return found


def _named_after(module: str, text: str) -> bool:
    word = module.replace("_", "").replace(".", "")
    return word in text.replace("_", "").lower()


class _Walk:
    """The walk over one file."""

    def __init__(self, context: RuleContext, file: str, module: str) -> None:
        self._context = context
        self._file = file
        self._module = module

    def block(self, body: Sequence[ast.stmt], function: str, guard: Guard) -> Iterator[LibraryUse]:
        for node in body:
            yield from self._statement(node, function, guard)
            if isinstance(node, ast.If) and leaves(node.body):
                guard = all_of(guard, negate(guard_of(self._context, node.test)))

    def _statement(self, node: ast.stmt, function: str, guard: Guard) -> Iterator[LibraryUse]:
        match node:
            case ast.FunctionDef(name=name, body=body) | ast.AsyncFunctionDef(name=name, body=body):
                inner = f"{function}.{name}" if function else name
                yield from self.block(body, inner, ALWAYS)
            case ast.ClassDef(name=name, body=body):
                for item in body:
                    if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
                        yield from self._statement(item, name, guard)
            case ast.If(test=test, body=body, orelse=orelse):
                asked = guard_of(self._context, test)
                yield from self._calls(test, function, guard)
                yield from self.block(body, function, all_of(guard, asked))
                yield from self.block(orelse, function, all_of(guard, negate(asked)))
            case ast.ImportFrom(module=str() as module, names=names) if module == self._module:
                for alias in names:
                    yield from self._use(alias.name, node, function, guard)
            case _:
                yield from self._others(node, function, guard)

    def _others(self, node: ast.stmt, function: str, guard: Guard) -> Iterator[LibraryUse]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                yield from self._statement(child, function, guard)
            elif isinstance(child, (ast.ExceptHandler, ast.match_case)):
                yield from self.block(child.body, function, guard)
            else:
                yield from self._calls(child, function, guard)

    def _calls(self, node: ast.AST, function: str, guard: Guard) -> Iterator[LibraryUse]:
        for item in ast.walk(node):
            match item:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name)):
                    if owner == self._module:
                        yield from self._use(name, item, function, guard)

    def _use(
        self, name: str, node: ast.stmt | ast.expr, function: str, guard: Guard
    ) -> Iterator[LibraryUse]:
        if not any(word in name for word in _ASKS):
            place = Place(self._file, node.lineno, node.col_offset)
            yield LibraryUse(f"{self._module}.{name}", place, function, guard)
