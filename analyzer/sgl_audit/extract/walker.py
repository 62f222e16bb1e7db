"""Every statement of a file with the conditions under which it is reached in its function."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from sgl_audit.extract.machine.scopes import (
    FunctionNode,
    ImportFails,
    Scope,
    class_info,
    function_scope,
    imported_modules,
)

_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@dataclass(frozen=True, slots=True)
class Condition:
    """One test on the way to a place, with the value it must have there."""

    test: ast.expr | ImportFails | str
    holds: bool


@dataclass(frozen=True, slots=True)
class Function:
    """The function a statement belongs to."""

    name: str
    scope: Scope
    node: FunctionNode | None = None


@dataclass(frozen=True, slots=True)
class Visit:
    """One statement, its function, and the conditions around and before it."""

    node: ast.stmt
    function: Function
    conditions: tuple[Condition, ...] = ()


def visits(module: Scope, tree: ast.Module, wanted: Callable[[ast.stmt], bool]) -> Iterator[Visit]:
    """Every statement of a module in source order; functions and classes only where wanted."""
    yield from _Walk(wanted).block(tree.body, Function("<module>", module), ())


def leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether running the statements always leaves the block they stand in."""
    for statement in body:
        match statement:
            case _ if isinstance(statement, _LEAVES):
                return True
            case ast.If(body=inner, orelse=orelse) if orelse and leaves(inner) and leaves(orelse):
                return True
            case ast.With(body=inner) if leaves(inner):
                return True
            case ast.Try(body=inner, handlers=handlers, finalbody=last):
                handled = all(leaves(handler.body) for handler in handlers)
                if leaves(last) or (leaves(inner) and handled):
                    return True
            case ast.Expr(value=ast.Call(func=func)) if _exits(func):
                return True
    return False


def _exits(func: ast.expr) -> bool:
    match func:
        case ast.Attribute(value=ast.Name(id="sys" | "os"), attr="exit" | "_exit"):
            return True
        case ast.Name(id="exit"):
            return True
    return False


class _Walk:
    """The walk, with what decides which functions are entered."""

    def __init__(self, wanted: Callable[[ast.stmt], bool]) -> None:
        self._wanted = wanted

    def block(
        self, body: Sequence[ast.stmt], function: Function, conditions: tuple[Condition, ...]
    ) -> Iterator[Visit]:
        for statement in body:
            yield Visit(statement, function, conditions)
            yield from self._inside(statement, function, conditions)
            conditions += _after(statement)

    def _inside(
        self, node: ast.stmt, function: Function, conditions: tuple[Condition, ...]
    ) -> Iterator[Visit]:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() if not self._wanted(
                node
            ):
                return
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                scope = function_scope(node, function.scope)
                inner = Function(_qualified(function, node.name), scope, node)
                yield from self.block(node.body, inner, ())
            case ast.ClassDef(name=name, body=body):
                info = class_info(node, function.scope)
                scope = info.body or function.scope
                inner = Function(_qualified(function, name), scope, function.node)
                yield from self.block(body, inner, conditions)
            case ast.If(test=test, body=body, orelse=orelse):
                yield from self.block(body, function, (*conditions, Condition(test, True)))
                yield from self.block(orelse, function, (*conditions, Condition(test, False)))
            case ast.While(test=test, body=body, orelse=orelse):
                yield from self.block(body, function, (*conditions, Condition(test, True)))
                yield from self.block(orelse, function, conditions)
            case ast.For(body=body, orelse=orelse) | ast.AsyncFor(body=body, orelse=orelse):
                yield from self.block(body, function, conditions)
                yield from self.block(orelse, function, conditions)
            case ast.With(body=body) | ast.AsyncWith(body=body):
                yield from self.block(body, function, conditions)
            case ast.Try():
                yield from self._try(node, function, conditions)
            case ast.Match():
                yield from self._match(node, function, conditions)

    def _try(
        self, node: ast.Try, function: Function, conditions: tuple[Condition, ...]
    ) -> Iterator[Visit]:
        failure = _failure(node)
        yield from self.block(node.body, function, conditions)
        for handler in node.handlers:
            yield from self.block(handler.body, function, (*conditions, Condition(failure, True)))
        yield from self.block(node.orelse, function, (*conditions, Condition(failure, False)))
        yield from self.block(node.finalbody, function, conditions)

    def _match(
        self, node: ast.Match, function: Function, conditions: tuple[Condition, ...]
    ) -> Iterator[Visit]:
        earlier: tuple[Condition, ...] = ()
        for case in node.cases:
            test = case_test(node.subject, case.pattern)
            own = () if test is None else (Condition(test, True),)
            guard = () if case.guard is None else (Condition(case.guard, True),)
            yield from self.block(case.body, function, (*conditions, *earlier, *own, *guard))
            if not guard:
                earlier += tuple(replace(item, holds=False) for item in own)


def _after(statement: ast.stmt) -> tuple[Condition, ...]:
    match statement:
        case ast.If(test=test, body=body, orelse=orelse):
            if leaves(body):
                return (Condition(test, False), *(_after_all(orelse)))
            if orelse and leaves(orelse):
                return (Condition(test, True),)
        case ast.Assert(test=test):
            return (Condition(test, True),)
        case ast.Try(handlers=handlers) if handlers:
            if all(leaves(handler.body) for handler in handlers) and not leaves(statement.body):
                return (Condition(_failure(statement), False),)
    return ()


def _after_all(orelse: Sequence[ast.stmt]) -> tuple[Condition, ...]:
    # An `elif` chain of which every arm leaves leaves its last negation too.
    return _after(orelse[0]) if len(orelse) == 1 and isinstance(orelse[0], ast.If) else ()


def _failure(node: ast.Try) -> ImportFails | str:
    modules = tuple(imported_modules(node.body))
    if modules:
        return ImportFails(modules)
    names = [ast.unparse(item.type) if item.type else "any error" for item in node.handlers]
    return f"{' or '.join(names)} raised at line {node.lineno}"


def case_test(subject: ast.expr, pattern: ast.pattern) -> ast.expr | str | None:
    """A `case` as a comparison with its subject; None where it matches everything."""
    match pattern:
        case ast.MatchValue(value=value):
            return _written(ast.Compare(subject, [ast.Eq()], [value]), pattern)
        case ast.MatchSingleton(value=value):
            constant = ast.copy_location(ast.Constant(value), pattern)
            return _written(ast.Compare(subject, [ast.Is()], [constant]), pattern)
        case ast.MatchOr(patterns=patterns):
            tests = [case_test(subject, item) for item in patterns]
            parts = [item for item in tests if isinstance(item, ast.expr)]
            if len(parts) == len(tests):
                return _written(ast.BoolOp(ast.Or(), parts), pattern)
        case ast.MatchAs(pattern=None):
            return None
    return f"{ast.unparse(subject)} matches {ast.unparse(pattern)}"


def _written(test: ast.expr, pattern: ast.pattern) -> ast.expr:
    """A test that the source spells otherwise: it has a line, and no end to cut its text by."""
    test.lineno, test.col_offset, test.end_lineno = pattern.lineno, pattern.col_offset, None
    return test


def _qualified(function: Function, name: str) -> str:
    return name if function.name == "<module>" else f"{function.name}.{name}"
