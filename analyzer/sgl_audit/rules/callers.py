"""Who calls a function, and under which condition: what the function's own guards do not show."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sgl_audit.extract.walker import leaves
from sgl_audit.model.guard import ALWAYS, Atom, AtomKind, Guard, all_of, any_of, negate
from sgl_audit.model.source import Place
from sgl_audit.rules.atoms import OR, THE_MODEL_IS
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.conditions import guard_of
from sgl_audit.rules.sources import files_with, lines_with, syntax_of

_ARCHITECTURE = re.compile(r"[A-Z]\w+For[A-Z]\w+|[A-Z]\w+(?:LMHead)?Model\b")
_MANY = 24
_DEPTH = 2


@dataclass(frozen=True, slots=True)
class CallSite:
    """One use of a function by name, and the condition inside the function it stands in.

    Attributes:
        owner: what it is called on: `wrapper` of `wrapper.f()`, or "".
    """

    place: Place
    function: str
    guard: Guard
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Registration:
    """A function that a decorator files under texts, so that no call names it."""

    decorator: str
    texts: tuple[str, ...]


def registration(context: RuleContext, file: str, function: str) -> Registration | None:
    """What a module-level function is registered under, or None."""
    tree = syntax_of(context, file)
    for node in tree.body if tree is not None else ():
        if isinstance(node, ast.FunctionDef) and node.name == function:
            for item in node.decorator_list:
                match item:
                    case ast.Call(
                        func=ast.Name(id=name) | ast.Attribute(attr=name), args=[_, *_] as given
                    ):
                        texts = [ast.unparse(argument).strip("'\"") for argument in given]
                        return Registration(name, tuple(texts))
    return None


def entry_guard(context: RuleContext, file: str, function: str, depth: int = _DEPTH) -> Guard:
    """The condition under which a module-level function is entered, as far as callers show it."""
    if "." in function or function in ("", "<module>"):
        return ALWAYS
    key = ("entry", file, function, depth)
    if key not in context.memory:
        context.memory[key] = ALWAYS
        context.memory[key] = _entry(context, file, function, depth)
    found: Guard = context.memory[key]
    return found


def _entry(context: RuleContext, file: str, function: str, depth: int) -> Guard:
    filed = registration(context, file, function)
    if filed is not None and any(_ARCHITECTURE.search(text) for text in filed.texts):
        return Atom(AtomKind.MODEL, f"{THE_MODEL_IS}{OR.join(filed.texts)}")
    sites = call_sites(context, function) if depth else ()
    if not sites or len(sites) > _MANY:
        return ALWAYS
    if depth <= 1:
        return any_of(*(site.guard for site in sites))
    return any_of(
        *(
            all_of(site.guard, entry_guard(context, site.place.file, site.function, depth - 1))
            for site in sites
        )
    )


def call_sites(context: RuleContext, name: str) -> tuple[CallSite, ...]:
    """Every call of a name in the server, methods of that name included."""
    key = ("calls", name)
    if key not in context.memory:
        context.memory[key] = tuple(
            site
            for file in files_with(context, name)
            if (tree := syntax_of(context, file)) is not None
            for site in _Calls(context, file, name).block(tree.body, "<module>", ALWAYS)
        )
    found: tuple[CallSite, ...] = context.memory[key]
    return found


class _Calls:
    """The walk over one file for the calls of one name."""

    def __init__(self, context: RuleContext, file: str, name: str) -> None:
        self._context = context
        self._file = file
        self._name = name
        self._lines = lines_with(context, file, name)

    def block(self, body: Sequence[ast.stmt], function: str, guard: Guard) -> Iterator[CallSite]:
        for node in body:
            yield from self._statement(node, function, guard)
            if isinstance(node, ast.If) and leaves(node.body):
                guard = all_of(guard, negate(guard_of(self._context, node.test)))

    def _statement(self, node: ast.stmt, function: str, guard: Guard) -> Iterator[CallSite]:
        first = bisect_left(self._lines, node.lineno)
        if first == len(self._lines) or self._lines[first] > (node.end_lineno or node.lineno):
            return
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                inner = name if function == "<module>" else f"{function}.{name}"
                yield from self.block(node.body, inner, ALWAYS)
            case ast.ClassDef(name=name):
                inner = name if function == "<module>" else f"{function}.{name}"
                yield from self.block(node.body, inner, guard)
            case ast.If(test=test, body=body, orelse=orelse):
                yield from self._calls(test, function, guard)
                asked = guard_of(self._context, test)
                yield from self.block(body, function, all_of(guard, asked))
                yield from self.block(orelse, function, all_of(guard, negate(asked)))
            case _:
                yield from self._others(node, function, guard)

    def _others(self, node: ast.stmt, function: str, guard: Guard) -> Iterator[CallSite]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                yield from self._statement(child, function, guard)
            elif isinstance(child, (ast.ExceptHandler, ast.match_case)):
                yield from self.block(child.body, function, guard)
            else:
                yield from self._calls(child, function, guard)

    def _calls(self, node: ast.AST, function: str, guard: Guard) -> Iterator[CallSite]:
        if isinstance(node, ast.IfExp):
            yield from self._calls(node.test, function, guard)
            asked = guard_of(self._context, node.test)
            yield from self._calls(node.body, function, all_of(guard, asked))
            yield from self._calls(node.orelse, function, all_of(guard, negate(asked)))
            return
        match node:
            case ast.Call(func=ast.Name(id=name)) if name == self._name:
                yield CallSite(self._place(node), function, guard)
            case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name == self._name:
                yield CallSite(self._place(node), function, guard, ast.unparse(owner))
        for given in node.args if isinstance(node, ast.Call) else ():
            # Handed on to what runs it: a pass, a thread, a partial.
            if isinstance(given, ast.Name) and given.id == self._name:
                yield CallSite(self._place(given), function, guard)
        for child in ast.iter_child_nodes(node):
            yield from self._calls(child, function, guard)

    def _place(self, node: ast.expr) -> Place:
        return Place(self._file, node.lineno, node.col_offset)
