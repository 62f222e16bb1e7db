"""Generator functions: the statements that hold a `yield` run as Python generators."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.expressions import Frame, lower_expression
from sgl_audit.evaluate.scopes import Scope, has_yield
from sgl_audit.evaluate.statements import BREAK, CONTINUE, lower_block, lower_statement
from sgl_audit.evaluate.values import Raised, Undecidable, Value

if TYPE_CHECKING:
    from sgl_audit.evaluate.lowering import Lowering

GeneratorRun = Callable[[Frame], Iterator[Value]]


def lower_generator_block(lowering: Lowering, body: list[ast.stmt], scope: Scope) -> GeneratorRun:
    """A block in which statements may yield; the generator's return value is the signal."""
    runs = [_lower(lowering, node, scope) for node in body]

    def run(f: Frame) -> Any:
        for statement in runs:
            signal = yield from statement(f)
            if signal is not None:
                return signal
        return None

    return run


def _lower(lowering: Lowering, node: ast.stmt, scope: Scope) -> GeneratorRun:
    if not has_yield([node]) or isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        plain = lower_statement(lowering, node, scope)

        def simple(f: Frame) -> Any:
            return plain(f) if plain is not None else None
            yield

        return simple
    match node:
        case ast.Expr(value=ast.Yield() | ast.YieldFrom() as inner):
            return _yield(lowering, inner, scope, None)
        case ast.Assign(targets=[target], value=ast.Yield() | ast.YieldFrom() as inner):
            return _yield(lowering, inner, scope, lowering.assign(target, scope))
        case ast.If():
            return _if(lowering, node, scope)
        case ast.For() | ast.While():
            return _loop(lowering, node, scope)
        case ast.Try():
            return _try(lowering, node, scope)
        case ast.With():
            return _with(lowering, node, scope)
    return _unsupported


def _unsupported(f: Frame) -> Iterator[Value]:
    raise Undecidable("a yield in this position is not evaluated")
    yield


def _yield(lowering: Lowering, node: Any, scope: Scope, store: Any) -> GeneratorRun:
    value = lower_expression(lowering, node.value, scope) if node.value else None
    machine = lowering.machine

    def run(f: Frame) -> Any:
        item = value(f) if value is not None else None
        if isinstance(node, ast.YieldFrom):
            yield from machine.iterate(item)
        else:
            yield item
        if store is not None:
            store(f, None)

    return run


def _if(lowering: Lowering, node: ast.If, scope: Scope) -> GeneratorRun:
    test = lower_expression(lowering, node.test, scope)
    then = lower_generator_block(lowering, node.body, scope)
    other = lower_generator_block(lowering, node.orelse, scope)
    machine = lowering.machine

    def run(f: Frame) -> Any:
        return (yield from (then if machine.truth(test(f)) else other)(f))

    return run


def _loop(lowering: Lowering, node: Any, scope: Scope) -> GeneratorRun:
    machine = lowering.machine
    body = lower_generator_block(lowering, node.body, scope)
    other = lower_block(lowering, node.orelse, scope)
    head = lower_expression(lowering, node.iter if isinstance(node, ast.For) else node.test, scope)
    assign = lowering.assign(node.target, scope) if isinstance(node, ast.For) else None

    def rounds(f: Frame) -> Iterator[None]:
        if assign is None:
            while machine.truth(head(f)):
                yield
            return
        for item in machine.iterate(head(f)):
            assign(f, item)
            yield

    def run(f: Frame) -> Any:
        for _ in rounds(f):
            machine.step()
            signal = yield from body(f)
            if signal is BREAK:
                return None
            if signal is not None and signal is not CONTINUE:
                return signal
        return other(f)

    return run


def _try(lowering: Lowering, node: ast.Try, scope: Scope) -> GeneratorRun:
    from sgl_audit.evaluate.statements import _handler

    body = lower_generator_block(lowering, node.body, scope)
    handlers = [_handler(lowering, handler, scope) for handler in node.handlers]
    other = lower_block(lowering, node.orelse, scope)
    final = lower_block(lowering, node.finalbody, scope)

    def run(f: Frame) -> Any:
        try:
            signal = yield from body(f)
            if signal is None:
                signal = other(f)
        except Raised as raised:
            for matches, handle in handlers:
                if matches(f, raised):
                    signal = handle(f, raised)
                    break
            else:
                raise
        finally:
            final(f)
        return signal

    return run


def _with(lowering: Lowering, node: ast.With, scope: Scope) -> GeneratorRun:
    machine = lowering.machine
    managers = [lower_expression(lowering, item.context_expr, scope) for item in node.items]
    stores = [
        lowering.assign(item.optional_vars, scope) if item.optional_vars else None
        for item in node.items
    ]
    body = lower_generator_block(lowering, node.body, scope)

    def run(f: Frame) -> Any:
        opened = []
        for expression, store in zip(managers, stores, strict=True):
            manager = expression(f)
            entered = machine.enter(manager)
            opened.append(manager)
            if store is not None:
                store(f, entered)
        try:
            signal = yield from body(f)
        except Raised as raised:
            if any(machine.exit(manager, raised) for manager in reversed(opened)):
                return None
            raise
        for manager in reversed(opened):
            machine.exit(manager, None)
        return signal

    return run
