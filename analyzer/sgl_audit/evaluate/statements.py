"""Lowering of statements into closures that take a frame and return a signal.

A signal is None (go on), a Return, BREAK, CONTINUE, or a Split: several ways to go on, each
under a condition that is not known.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.expressions import Frame, Run, lower_expression, unbound_local
from sgl_audit.evaluate.scopes import GLOBALS, PARENT, Scope, walk_scope
from sgl_audit.evaluate.streams import Stream
from sgl_audit.evaluate.values import Class, Instance, Raised, Undecidable, Unknown, Value

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
    return _LOWER[type(node)](lowering, node, scope)


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


def _expression(lowering: Lowering, node: ast.Expr, scope: Scope) -> Run | None:
    if isinstance(node.value, ast.Constant):
        return None
    value = silent_call(lowering, node.value, scope) or lower_expression(
        lowering, node.value, scope
    )
    place = lowering.place(node)

    def run(f: Frame) -> Value:
        try:
            value(f)
        except Raised as raised:
            if raised.place is None:
                raised.place = place
            raise
        except Undecidable as stop:
            if stop.where is None:
                stop.where = place
            raise
        return None

    return run


LOG_METHODS = frozenset(
    "debug info warning error exception critical log warning_once info_once warning_advice".split()
)


def silent_call(lowering: Lowering, node: ast.expr, scope: Scope) -> Run | None:
    """`logger.info(f"...")`: where the logger is silent its arguments run but no text is made."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return None
    if node.func.attr not in LOG_METHODS or any(isinstance(arg, ast.Starred) for arg in node.args):
        return None
    owner = lower_expression(lowering, node.func.value, scope)
    whole = lower_expression(lowering, node, scope)
    parts = [
        lower_expression(lowering, part, scope)
        for argument in (*node.args, *(keyword.value for keyword in node.keywords))
        for part in embedded(argument)
    ]

    def run(f: Frame) -> Value:
        logger = owner(f)
        if logger.__class__ is Instance and "silent" in logger.cls.data:
            for part in parts:
                part(f)
            return None
        return whole(f)

    return run


def embedded(node: ast.expr) -> list[ast.expr]:
    """The expressions inside a text, or the expression itself."""
    if isinstance(node, ast.JoinedStr):
        return [v.value for v in node.values if isinstance(v, ast.FormattedValue)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return embedded(node.left) + embedded(node.right)
    return [] if isinstance(node, ast.Constant) else [node]


def _assign(lowering: Lowering, node: ast.Assign, scope: Scope) -> Run:
    value = lower_expression(lowering, node.value, scope)
    stores = [lowering.assign(target, scope) for target in node.targets]
    place = lowering.place(node)
    if len(stores) == 1:
        (store,) = stores

        def single(f: Frame) -> Value:
            try:
                store(f, value(f))
            except Raised as raised:
                if raised.place is None:
                    raised.place = place
                raise
            except Undecidable as stop:
                if stop.where is None:
                    stop.where = place
                raise
            return None

        return single

    def several(f: Frame) -> Value:
        item = value(f)
        for store in stores:
            store(f, item)

    return placed(lowering, node, several)


def _annotated(lowering: Lowering, node: ast.AnnAssign, scope: Scope) -> Run:
    store = lowering.assign(node.target, scope) if node.value is not None else None
    value = lower_expression(lowering, node.value, scope) if node.value is not None else None
    name = node.target.id if isinstance(node.target, ast.Name) else None
    keep = scope.kind in ("class", "module")
    touch = lowering.machine.touch

    def run(f: Frame) -> Value:
        if keep and name is not None:
            owner: dict[str, Any] = f if scope.kind == "class" else f[GLOBALS]
            annotations = owner.get("__annotations__")
            if annotations is None:
                touch(owner)
                annotations = owner["__annotations__"] = {}
            touch(annotations)
            annotations[name] = lowering.annotation(node.annotation, scope, f)
        if store is not None and value is not None:
            store(f, value(f))

    return placed(lowering, node, run)


def _augmented(lowering: Lowering, node: ast.AugAssign, scope: Scope) -> Run:
    machine = lowering.machine
    value = lower_expression(lowering, node.value, scope)
    symbol = type(node.op).__name__
    target = node.target
    if isinstance(target, ast.Name):
        load = lowering.load(target.id, scope)
        store = lowering.assign(target, scope)

        def name(f: Frame) -> Value:
            store(f, machine.inplace(symbol, load(f), value(f)))

        return placed(lowering, node, name)
    base = lower_expression(lowering, target.value, scope)
    if isinstance(target, ast.Attribute):
        attr = target.attr

        def attribute(f: Frame) -> Value:
            owner = base(f)
            machine.setattr(
                owner, attr, machine.inplace(symbol, machine.getattr(owner, attr), value(f))
            )

        return placed(lowering, node, attribute)
    index = lower_expression(lowering, target.slice, scope)

    def item(f: Frame) -> Value:
        owner, key = base(f), index(f)
        machine.setitem(owner, key, machine.inplace(symbol, machine.getitem(owner, key), value(f)))

    return placed(lowering, node, item)


def _return(lowering: Lowering, node: ast.Return, scope: Scope) -> Run:
    if node.value is None:
        nothing = Return(None)
        return lambda f: nothing
    value = lower_expression(lowering, node.value, scope)
    place = lowering.place(node)

    def run(f: Frame) -> Value:
        try:
            return Return(value(f))
        except Raised as raised:
            if raised.place is None:
                raised.place = place
            raise
        except Undecidable as stop:
            if stop.where is None:
                stop.where = place
            raise

    return run


def _if(lowering: Lowering, node: ast.If, scope: Scope) -> Run:
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


def _while(lowering: Lowering, node: ast.While, scope: Scope) -> Run:
    machine = lowering.machine
    test = lower_expression(lowering, node.test, scope)
    body = lower_block(lowering, node.body, scope)
    other = lower_block(lowering, node.orelse, scope)

    def run(f: Frame) -> Value:
        while machine.truth(test(f)):
            machine.step()
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


def _for(lowering: Lowering, node: ast.For, scope: Scope) -> Run:
    machine = lowering.machine
    source = lower_expression(lowering, node.iter, scope)
    assign = lowering.assign(node.target, scope)
    body = lower_block(lowering, node.body, scope)
    other = lower_block(lowering, node.orelse, scope)

    def rest(f: Frame, items: Iterator[Value]) -> Value:
        budget = machine.step_budget
        for item in items:
            machine.steps += 1
            if machine.steps > budget:
                machine.step()
            assign(f, item)
            signal = body(f)
            if signal is None or signal is CONTINUE:
                continue
            if signal is BREAK:
                return None
            if signal.__class__ is Split:
                remaining = list(machine.iterate_counted(items))
                return machine.continue_loop(signal, lambda: rest(f, iter(remaining)), f)
            return signal
        return other(f)

    def once(f: Frame, item: Value) -> Value:
        assign(f, item)
        return body(f)

    def run(f: Frame) -> Value:
        iterable = source(f)
        if isinstance(iterable, Unknown):
            return machine.fork_iteration(
                iterable,
                lambda known: rest(f, machine.iterate(known)),
                lambda item: once(f, item),
                f,
            )
        return rest(f, machine.iterate(iterable))

    return placed(lowering, node, run)


def _try(lowering: Lowering, node: Any, scope: Scope) -> Run:
    machine = lowering.machine
    body = lower_block(lowering, node.body, scope)
    other = lower_block(lowering, node.orelse, scope)
    final = lower_block(lowering, node.finalbody, scope) if node.finalbody else None
    handlers = [_handler(lowering, handler, scope) for handler in node.handlers]
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


def _handler(lowering: Lowering, handler: ast.ExceptHandler, scope: Scope) -> tuple[Any, Any]:
    machine = lowering.machine
    kind = lower_expression(lowering, handler.type, scope) if handler.type else None
    body = lower_block(lowering, handler.body, scope)
    store = lowering.store_name(handler.name, scope) if handler.name else None
    forget = _delete_name(lowering, handler.name, scope, lenient=True) if handler.name else None

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


def _raise(lowering: Lowering, node: ast.Raise, scope: Scope) -> Run:
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


def _assert(lowering: Lowering, node: ast.Assert, scope: Scope) -> Run:
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


def _with(lowering: Lowering, node: Any, scope: Scope) -> Run:
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


def _delete(lowering: Lowering, node: ast.Delete, scope: Scope) -> Run:
    machine = lowering.machine
    actions: list[Callable[[Frame], None]] = []
    for target in node.targets:
        if isinstance(target, ast.Name):
            actions.append(_delete_name(lowering, target.id, scope))
        elif isinstance(target, ast.Attribute):
            owner = lower_expression(lowering, target.value, scope)
            actions.append(lambda f, owner=owner, name=target.attr: machine.delattr(owner(f), name))  # type: ignore[misc]
        elif isinstance(target, ast.Subscript):
            owner = lower_expression(lowering, target.value, scope)
            key = lower_expression(lowering, target.slice, scope)
            actions.append(lambda f, owner=owner, key=key: machine.delitem(owner(f), key(f)))  # type: ignore[misc]

    def run(f: Frame) -> Value:
        for action in actions:
            action(f)

    return placed(lowering, node, run)


def _delete_name(
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


def _function(lowering: Lowering, node: Any, scope: Scope) -> Run:
    machine = lowering.machine
    make = lowering.function(node, scope)
    decorators = [lower_expression(lowering, item, scope) for item in node.decorator_list]
    store = lowering.store_name(node.name, scope)

    def run(f: Frame) -> Value:
        applied = [decorator(f) for decorator in decorators]
        value = make(f)
        for decorator in reversed(applied):
            value = machine.decorate(decorator, value)
        store(f, value)

    return placed(lowering, node, run)


def _class(lowering: Lowering, node: ast.ClassDef, scope: Scope) -> Run:
    from sgl_audit.evaluate.classes import lower_class

    return placed(lowering, node, lower_class(lowering, node, scope))


def _import(lowering: Lowering, node: ast.Import, scope: Scope) -> Run:
    machine = lowering.machine
    actions = [
        (
            alias.name,
            alias.asname,
            lowering.store_name(alias.asname or alias.name.split(".")[0], scope),
        )
        for alias in node.names
    ]

    def run(f: Frame) -> Value:
        for name, asname, store in actions:
            module = machine.imports.load(name)
            store(f, module if asname else machine.imports.load(name.split(".")[0]))

    return placed(lowering, node, run)


def _import_from(lowering: Lowering, node: ast.ImportFrom, scope: Scope) -> Run:
    machine = lowering.machine
    names = [(alias.name, alias.asname) for alias in node.names]
    stores = [
        None if name == "*" else lowering.store_name(asname or name, scope)
        for name, asname in names
    ]
    where = (lowering.file, node.lineno)
    module = lowering.module
    is_package = lowering.file.endswith("__init__.py")
    if node.module == "__future__" and ("annotations", None) in names:
        lowering.postponed = True

    def run(f: Frame) -> Value:
        target = machine.imports.absolute(module, is_package, node.module, node.level)
        for (name, _), store in zip(names, stores, strict=True):
            if store is None:
                machine.imports.star(target, f)
            else:
                store(f, machine.imports.name_from(target, name, where))

    return placed(lowering, node, run)


def _nothing(lowering: Lowering, node: ast.stmt, scope: Scope) -> Run | None:
    return None


def _break(lowering: Lowering, node: ast.stmt, scope: Scope) -> Run:
    signal = BREAK if isinstance(node, ast.Break) else CONTINUE
    return lambda f: signal


def _unsupported(lowering: Lowering, node: ast.stmt, scope: Scope) -> Run:
    kind = type(node).__name__

    def run(f: Frame) -> Value:
        raise Undecidable(f"{kind} statements are not evaluated")

    return placed(lowering, node, run)


def lower_generator(lowering: Lowering, body: list[ast.stmt], scope: Scope) -> Run:
    """A generator function: the frame goes in, a Return of an iterator comes out."""
    from sgl_audit.evaluate.generators import lower_generator_block, run_generator

    block = lower_generator_block(lowering, body, scope)
    machine = lowering.machine
    return lambda f: Return(Stream(machine, run_generator(machine, block, f)))


_LOWER: dict[type, Callable[[Any, Any, Scope], Run | None]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Return: _return,
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.Try: _try,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.With: _with,
    ast.Delete: _delete,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Global: _nothing,
    ast.Nonlocal: _nothing,
    ast.Pass: _nothing,
    ast.Break: _break,
    ast.Continue: _break,
    ast.AsyncFor: _unsupported,
    ast.AsyncWith: _unsupported,
    ast.Match: _unsupported,
    ast.TryStar: _unsupported,
}
