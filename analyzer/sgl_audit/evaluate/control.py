"""Lowering of control flow: conditions, loops, `try`, `with`, `raise`, `assert`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.blocks import (
    BREAK,
    CONTINUE,
    Split,
    lower_block,
    placed,
)
from sgl_audit.evaluate.closures import Frame, Run, lower_expression, unbound_local
from sgl_audit.evaluate.scopes import GLOBALS, PARENT, Scope, bound_names, walk_scope
from sgl_audit.evaluate.values import Class, Raised, Undecidable, Unknown, Value

if TYPE_CHECKING:
    from sgl_audit.evaluate.lowering import Lowering

# A loop that counts on and on has left behind whatever a launch may need.
ROUND_BUDGET = 50_000


def lower_if(lowering: Lowering, node: ast.If, scope: Scope) -> Run:
    machine = lowering.machine
    test = lower_expression(lowering, node.test, scope)
    then = lower_block(lowering, node.body, scope)
    other = lower_block(lowering, node.orelse, scope) if node.orelse else None
    place = lowering.place(node)

    def run(f: Frame) -> Value:
        try:
            condition = test(f)
            if condition is not True and condition is not False:
                condition = machine.truth_value(condition)
        except Raised as raised:
            if raised.place is None:
                raised.place = place
            raise
        except Undecidable as stop:
            if stop.where is None:
                stop.where = place
            raise
        if condition is True:
            return then(f)
        if condition is False:
            return other(f) if other is not None else None
        return machine.branch(
            condition, lambda: then(f), lambda: other(f) if other is not None else None, f, place
        )

    return run


def lower_while(lowering: Lowering, node: ast.While, scope: Scope) -> Run:
    machine = lowering.machine
    test = lower_expression(lowering, node.test, scope)
    body = lower_block(lowering, node.body, scope)
    other = lower_block(lowering, node.orelse, scope)

    def run(f: Frame) -> Value:
        rounds = 0
        while machine.truth(test(f)):
            machine.step()
            rounds += 1
            if rounds > ROUND_BUDGET:
                raise Undecidable("round budget reached")
            signal = body(f)
            if signal is None or signal is CONTINUE:
                continue
            if signal is BREAK:
                return None
            if signal.__class__ is Split:
                return machine.continue_loop(signal, lambda: run(f), f)
            return signal
        return other(f)

    return placed(lowering, node, run)


def lower_for(lowering: Lowering, node: ast.For, scope: Scope) -> Run:
    machine = lowering.machine
    source = lower_expression(lowering, node.iter, scope)
    assign = lowering.assign(node.target, scope)
    body = lower_block(lowering, node.body, scope)
    other = lower_block(lowering, node.orelse, scope)
    search = Search.of(node, scope)

    def rest(f: Frame, items: Iterator[Value]) -> Value:
        budget = machine.step_budget
        wanted = search and search.key_in(f)
        place, count = (search.place, search.count) if search else (None, 0)
        passed = None
        for item in items:
            machine.steps += 1
            if machine.steps > budget:
                machine.step()
            if wanted is not None:
                # Here and not in a function of its own: it is run millions of times.
                held: Value = item
                if place is not None:
                    fits = item.__class__ is tuple and len(item) == count
                    held = item[place] if fits else None
                if held.__class__ is dict and wanted not in held:
                    passed = item
                    continue
            passed = None
            assign(f, item)
            signal = body(f)
            wanted = search and search.key_in(f)
            if signal is None or signal is CONTINUE:
                continue
            if signal is BREAK:
                return None
            if signal.__class__ is Split:
                remaining = list(machine.iterate_counted(items))
                return machine.continue_loop(signal, lambda: rest(f, iter(remaining)), f)
            return signal
        if passed is not None:
            assign(f, passed)
        return other(f)

    carried = bound_names(node.body, Scope("function", None, set(), ""))

    def once(f: Frame, item: Unknown) -> Value:
        """One round of which neither the item nor what earlier rounds left is known."""
        for name in carried:
            if name in f:
                f[name] = item.derive(f"{name} in a loop over unknown items", "carried", name)
        assign(f, item)
        return body(f)

    def run(f: Frame) -> Value:
        iterable = source(f)
        if isinstance(iterable, Unknown):
            return machine.fork_iteration(
                iterable,
                lambda known: rest(f, machine.iterate(known)),
                lambda item: once(f, item),
                lambda: other(f),
                f,
            )
        return rest(f, machine.iterate(iterable))

    return placed(lowering, node, run)


@dataclass(frozen=True, slots=True)
class Search:
    """A loop that only looks for a key in dicts: `for source, d in items: if key in d: ...`.

    Views of options look through some fifty dicts for each read, thousands of times a launch.
    A round that finds nothing is told from its item alone.

    Attributes:
        place: of the dict in an item of `count` parts; None where the item itself is the dict.
    """

    key: str
    place: int | None
    count: int

    @staticmethod
    def of(node: ast.For, scope: Scope) -> Search | None:
        """The search that a loop is, or None."""
        match node.body:
            case [
                ast.If(ast.Compare(ast.Name(id=key), [ast.In()], [ast.Name(id=held)]), orelse=[])
            ]:
                pass
            case _:
                return None
        parts = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
        names = [part.id for part in parts if isinstance(part, ast.Name)]
        if len(names) != len(parts) or names.count(held) != 1 or key in names:
            return None
        if any(scope.resolve(name)[0] != "local" for name in (*names, key)):
            return None
        whole = isinstance(node.target, ast.Name)
        return Search(key, None if whole else names.index(held), len(names))

    def key_in(self, f: Frame) -> str | None:
        """What is looked for, where it is a text."""
        wanted = f.get(self.key)
        return wanted if wanted.__class__ is str else None


def lower_try(lowering: Lowering, node: Any, scope: Scope) -> Run:
    machine = lowering.machine
    body = lower_block(lowering, node.body, scope)
    other = lower_block(lowering, node.orelse, scope)
    final = lower_block(lowering, node.finalbody, scope) if node.finalbody else None
    handlers = [lower_handler(lowering, handler, scope) for handler in node.handlers]
    swallowing = any(not _reraises(handler) for handler in node.handlers)
    overriding = leaves(node.finalbody)

    def guarded(f: Frame) -> Value:
        if not handlers:
            return body(f)
        machine.handlers += swallowing
        try:
            try:
                signal = body(f)
            finally:
                machine.handlers -= swallowing
        except Raised as raised:
            for matches, handle in handlers:
                if matches(f, raised):
                    return handle(f, raised)
            raise
        if signal.__class__ is Split:
            return machine.continue_split(signal, lambda: other(f), f)
        return other(f) if signal is None else signal

    if final is None:
        return guarded

    def run(f: Frame) -> Value:
        machine.handlers += overriding
        try:
            signal = guarded(f)
        except Raised:
            override = final(f)
            if override is not None:
                return override
            raise
        finally:
            machine.handlers -= overriding
        if signal.__class__ is Split:
            return machine.finish_split(signal, lambda: final(f), f)
        override = final(f)
        return signal if override is None else override

    return run


def _reraises(handler: ast.ExceptHandler) -> bool:
    """Whether a handler surely passes on the very exception it caught."""
    last = handler.body[-1]
    if not isinstance(last, ast.Raise) or last.cause is not None:
        return False
    bare = last.exc is None or (isinstance(last.exc, ast.Name) and last.exc.id == handler.name)
    return bare and not leaves(handler.body[:-1])


def leaves(body: list[ast.stmt]) -> bool:
    """Whether a block may end otherwise than by running to its end."""
    ways_out = (ast.Return, ast.Break, ast.Continue, ast.Raise, ast.Yield, ast.YieldFrom)
    return any(isinstance(node, ways_out) for node in walk_scope(body))


def lower_handler(lowering: Lowering, handler: ast.ExceptHandler, scope: Scope) -> tuple[Any, Any]:
    machine = lowering.machine
    kind = lower_expression(lowering, handler.type, scope) if handler.type else None
    body = lower_block(lowering, handler.body, scope)
    store = lowering.store_name(handler.name, scope) if handler.name else None
    forget = unbind_name(lowering, handler.name, scope, lenient=True) if handler.name else None

    def matches(f: Frame, raised: Raised) -> bool:
        return kind is None or machine.catches(kind(f), raised.value)

    def handle(f: Frame, raised: Raised) -> Value:
        if store is not None:
            store(f, raised.value)
        machine.handling.append(raised)
        try:
            return body(f)
        finally:
            machine.handling.pop()
            if forget is not None:
                forget(f)

    return matches, handle


def lower_raise(lowering: Lowering, node: ast.Raise, scope: Scope) -> Run:
    machine = lowering.machine
    value = lower_expression(lowering, node.exc, scope) if node.exc else None
    cause = lower_expression(lowering, node.cause, scope) if node.cause else None
    place = lowering.place(node)

    def run(f: Frame) -> Value:
        if value is None:
            if machine.handling:
                raise machine.handling[-1]
            raise machine.error("RuntimeError", "No active exception to reraise")
        try:
            item = value(f)
        except Raised as raised:
            if raised.place is None:
                raised.place = place
            raise
        fresh = machine.raising(item, place)
        own = fresh.value.d
        if machine.handling and machine.handling[-1].value is not fresh.value:
            own.setdefault("__context__", machine.handling[-1].value)
        if cause is not None:
            reason = cause(f)
            own["__cause__"] = machine.call(reason, [], {}) if isinstance(reason, Class) else reason
            own["__suppress_context__"] = True
        raise fresh

    return run


def lower_assert(lowering: Lowering, node: ast.Assert, scope: Scope) -> Run:
    machine = lowering.machine
    test = lower_expression(lowering, node.test, scope)
    message = lower_expression(lowering, node.msg, scope) if node.msg else None
    place = (lowering.file, assert_line(node))

    def refuse(f: Frame) -> Raised:
        args = [message(f)] if message else []
        return machine.error("AssertionError", *args, place=place)

    def run(f: Frame) -> Value:
        truth = machine.truth_value(test(f))
        if truth is True:
            return None
        if truth is False:
            raise refuse(f)

        def failing() -> Value:
            raise refuse(f)

        return machine.branch(truth, lambda: None, failing, f, place)

    return placed(lowering, node, run)


def assert_line(node: ast.Assert) -> int:
    """The line CPython 3.11 names for a failing assert.

    It is the first line of the last comparison met when walking the test through and/or/not;
    without a comparison the assert itself. Found by comparing with recorded tracebacks.
    """
    line = node.lineno
    stack = [node.test]
    found = None
    while stack:
        item = stack.pop(0)
        if isinstance(item, ast.BoolOp):
            stack = [*item.values, *stack]
        elif isinstance(item, ast.UnaryOp) and isinstance(item.op, ast.Not):
            stack = [item.operand, *stack]
        elif isinstance(item, ast.Compare):
            found = item.lineno
    return found if found is not None else line


def lower_with(lowering: Lowering, node: Any, scope: Scope) -> Run:
    machine = lowering.machine
    items = [
        (
            lower_expression(lowering, item.context_expr, scope),
            lowering.assign(item.optional_vars, scope) if item.optional_vars else None,
        )
        for item in node.items
    ]
    body = lower_block(lowering, node.body, scope)

    def level(f: Frame, index: int) -> Value:
        if index == len(items):
            return body(f)
        expression, store = items[index]
        manager = expression(f)
        entered = machine.enter(manager)
        swallowing = machine.may_swallow(manager)
        machine.handlers += swallowing
        try:
            try:
                if store is not None:
                    store(f, entered)
                signal = level(f, index + 1)
            finally:
                machine.handlers -= swallowing
        except Raised as raised:
            if machine.exit(manager, raised):
                return None
            raise
        if signal.__class__ is Split:
            return machine.finish_split(signal, lambda: machine.exit(manager, None) and None, f)
        machine.exit(manager, None)
        return signal

    return placed(lowering, node, lambda f: level(f, 0))


def lower_exit(lowering: Lowering, node: ast.stmt, scope: Scope) -> Run:
    signal = BREAK if isinstance(node, ast.Break) else CONTINUE
    return lambda f: signal


def unbind_name(
    lowering: Lowering, name: str, scope: Scope, lenient: bool = False
) -> Callable[[Frame], None]:
    """Unbind a name; `lenient` where it need not be bound."""
    where, depth = scope.resolve(name)
    machine = lowering.machine

    def run(f: Frame) -> None:
        ns = f
        if where == "global":
            ns = f[GLOBALS]
        for _ in range(depth):
            ns = ns[PARENT]
        if name in ns:
            machine.touch(ns)
            del ns[name]
        elif not lenient:
            if where == "local":
                raise machine.error("UnboundLocalError", unbound_local(name))
            raise machine.error("NameError", f"name {name!r} is not defined")

    return run
