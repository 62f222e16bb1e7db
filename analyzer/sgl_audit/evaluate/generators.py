"""Generator functions: the statements that hold a `yield` run as Python generators."""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.expressions import Frame, lower_expression
from sgl_audit.evaluate.scopes import Scope, has_yield
from sgl_audit.evaluate.statements import (
    BREAK,
    CONTINUE,
    Return,
    Split,
    lower_block,
    lower_statement,
)
from sgl_audit.evaluate.values import Raised, Undecidable, Value

if TYPE_CHECKING:
    from sgl_audit.evaluate.lowering import Lowering
    from sgl_audit.evaluate.machine import Machine

GeneratorRun = Callable[[Frame], Generator[Value, Value, Value]]


def lower_generator_block(
    lowering: Lowering, body: list[ast.stmt], scope: Scope, caught: bool = False
) -> GeneratorRun:
    """A block in which statements may yield; the generator's return value is the signal.

    Args:
        caught: the block stands in a `try` that may swallow what it raises.
    """
    runs = [_lower(lowering, node, scope, caught) for node in body]

    def run(f: Frame) -> Any:
        for statement in runs:
            signal = yield from statement(f)
            if signal is not None:
                if signal.__class__ is Split:
                    raise Undecidable("a generator that goes on under an unknown condition")
                return signal
        return None

    return run


def _lower(lowering: Lowering, node: ast.stmt, scope: Scope, caught: bool) -> GeneratorRun:
    if not has_yield([node]) or isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return _simple(lowering, node, scope, caught)
    match node:
        case ast.Expr(value=ast.Yield() | ast.YieldFrom() as inner):
            return _yield(lowering, inner, scope, None)
        case ast.Assign(targets=[target], value=ast.Yield() | ast.YieldFrom() as inner):
            return _yield(lowering, inner, scope, lowering.assign(target, scope))
        case ast.Return(value=ast.YieldFrom() | ast.Yield() as inner):
            return _returned(_yield(lowering, inner, scope, _keep))
        case ast.If():
            return _if(lowering, node, scope, caught)
        case ast.For() | ast.While():
            return _loop(lowering, node, scope, caught)
        case ast.Try():
            return _try(lowering, node, scope, caught)
        case ast.With():
            return _with(lowering, node, scope, caught)
    return _unsupported


def _simple(lowering: Lowering, node: ast.stmt, scope: Scope, caught: bool) -> GeneratorRun:
    plain = lower_statement(lowering, node, scope)
    machine = lowering.machine

    def simple(f: Frame) -> Any:
        if plain is None:
            return None
        machine.handlers += caught
        try:
            return plain(f)
        finally:
            machine.handlers -= caught
        yield

    return simple


def _unsupported(f: Frame) -> Generator[Value, Value, Value]:
    raise Undecidable("a yield in this position is not evaluated")
    yield


def _yield(lowering: Lowering, node: Any, scope: Scope, store: Any) -> GeneratorRun:
    value = lower_expression(lowering, node.value, scope) if node.value else None
    machine = lowering.machine

    def run(f: Frame) -> Any:
        item = value(f) if value is not None else None
        if isinstance(node, ast.YieldFrom):
            inner: Any = machine.iterate(item)
            got = yield from inner
        else:
            got = yield item
        if store is not None:
            store(f, got)

    return run


KEPT = "<yielded>"


def _keep(f: Frame, value: Value) -> None:
    f[KEPT] = value


def _returned(run: GeneratorRun) -> GeneratorRun:
    def give(f: Frame) -> Any:
        yield from run(f)
        return Return(f.pop(KEPT))

    return give


def run_generator(machine: Machine, body: GeneratorRun, f: Frame) -> Any:
    """The generator of a call: its steps count against the depth budget while they run."""
    inner = body(f)
    send: Any = inner.send
    given: Any = None
    while True:
        machine.descend()
        try:
            item = send(given)
        except StopIteration as stop:
            signal = stop.value
            return signal.value if signal.__class__ is Return else None
        except Raised as raised:
            if any(cls.name == "StopIteration" for cls in raised.value.cls.mro):
                raise machine.error("RuntimeError", "generator raised StopIteration") from None
            raise
        finally:
            machine.ascend()
        try:
            given, send = (yield item), inner.send
        except BaseException as error:
            given, send = error, inner.throw


def _if(lowering: Lowering, node: ast.If, scope: Scope, caught: bool) -> GeneratorRun:
    test = lower_expression(lowering, node.test, scope)
    then = lower_generator_block(lowering, node.body, scope, caught)
    other = lower_generator_block(lowering, node.orelse, scope, caught)
    machine = lowering.machine

    def run(f: Frame) -> Any:
        return (yield from (then if machine.truth(test(f)) else other)(f))

    return run


def _loop(lowering: Lowering, node: Any, scope: Scope, caught: bool) -> GeneratorRun:
    machine = lowering.machine
    body = lower_generator_block(lowering, node.body, scope, caught)
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


def _try(lowering: Lowering, node: ast.Try, scope: Scope, caught: bool) -> GeneratorRun:
    from sgl_audit.evaluate.statements import lower_handler

    body = lower_generator_block(lowering, node.body, scope, caught or bool(node.handlers))
    handlers = [lower_handler(lowering, handler, scope) for handler in node.handlers]
    other = lower_block(lowering, node.orelse, scope)
    final = lower_block(lowering, node.finalbody, scope)

    def run(f: Frame) -> Any:
        try:
            try:
                signal = yield from body(f)
            except Raised as raised:
                for matches, handle in handlers:
                    if matches(f, raised):
                        return handle(f, raised)
                raise
            if signal is None:
                signal = other(f)
        finally:
            if final(f) is not None:
                raise Undecidable("a generator's finally block that leaves it")
        return signal

    return run


def _with(lowering: Lowering, node: ast.With, scope: Scope, caught: bool) -> GeneratorRun:
    machine = lowering.machine
    managers = [lower_expression(lowering, item.context_expr, scope) for item in node.items]
    stores = [
        lowering.assign(item.optional_vars, scope) if item.optional_vars else None
        for item in node.items
    ]
    body = lower_generator_block(lowering, node.body, scope, True)

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
