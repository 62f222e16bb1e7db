"""Statements and calls that go on where something cannot be evaluated, and say where they stand."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.blocks import BREAK, CONTINUE, RETURN, STATEMENTS, lower_block
from sgl_audit.evaluate.closures import Frame, Run, lower_expression
from sgl_audit.evaluate.scopes import Scope, bound_names
from sgl_audit.evaluate.values import (
    BudgetReachedError,
    Raised,
    Undecidable,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.lowering import Lowering

LOOSE = "it could not be evaluated"
# Statements that bind nothing that a later one could miss, or that end the function.
ENDING = (ast.Raise, ast.Break, ast.Continue, ast.Pass, ast.Global, ast.Nonlocal)


def tolerant_statement(lowering: Lowering, node: ast.stmt, scope: Scope) -> Run | None:
    """One statement; what it would bind is unknown where it cannot be evaluated."""
    if isinstance(node, ENDING):
        return STATEMENTS[type(node)](lowering, node, scope)
    if isinstance(node, ast.If):
        return _if(lowering, node, scope)
    run = STATEMENTS[type(node)](lowering, node, scope)
    if run is None:
        return None
    recover = _recovery(lowering, node, scope)
    machine = lowering.machine
    place = (lowering.file, node.lineno)

    def guarded(f: Frame) -> Value:
        try:
            return run(f)
        except BudgetReachedError:
            raise
        except Undecidable as stop:
            note_gap(machine, stop.reason, place)
        except Raised as raised:
            if raised.explicit or machine.handlers:
                raise
            note_gap(machine, _words(machine, raised), place)
        return recover(f)

    return guarded


def note_gap(machine: Any, reason: str, place: tuple[str, int]) -> None:
    """Tell the follower; a generator may be finished when it has long left."""
    if machine.follower is not None:
        machine.follower.gap(reason, place)


def note_place(machine: Any, place: tuple[str, int]) -> None:
    """Tell the follower where the next call stands."""
    if machine.follower is not None:
        machine.follower.place = place


def _words(machine: Any, raised: Raised) -> str:
    text = machine.as_text(raised.value)
    shown = text.name if isinstance(text, Unknown) else str(text)
    return f"{raised.value.cls.name}: {shown}"


def _if(lowering: Lowering, node: ast.If, scope: Scope) -> Run:
    machine = lowering.machine
    test = lower_expression(lowering, node.test, scope)
    then = lower_block(lowering, node.body, scope)
    other = lower_block(lowering, node.orelse, scope)
    place = (lowering.file, node.lineno)
    text = ast.unparse(node.test)

    def run(f: Frame) -> Value:
        try:
            truth = machine.truth_value(test(f))
        except BudgetReachedError:
            raise
        except (Undecidable, Raised) as stop:
            if isinstance(stop, Raised) and (stop.explicit or machine.handlers):
                raise
            reason = _words(machine, stop) if isinstance(stop, Raised) else stop.reason
            note_gap(machine, reason, place)
            truth = Unknown(text, reason)
        if truth is True:
            return then(f)
        if truth is False:
            return other(f)
        return machine.branch(truth, lambda: then(f), lambda: other(f), f, place)

    return run


def _recovery(lowering: Lowering, node: ast.stmt, scope: Scope) -> Run:
    """What is left where a statement could not be evaluated."""
    if isinstance(node, ast.Return):
        returned = Unknown("the result", LOOSE)
        return lambda f: RETURN(returned)
    forget = _forgetting(lowering, node, scope)
    if isinstance(node, (ast.With, ast.For, ast.While, ast.Try)):
        body = lower_block(lowering, node.body, scope)

        def once(f: Frame) -> Value:
            forget(f)
            signal = body(f)
            return None if signal is BREAK or signal is CONTINUE else signal

        return once
    return forget


def _forgetting(lowering: Lowering, node: ast.stmt, scope: Scope) -> Callable[[Frame], None]:
    names = bound_names([node], Scope("function", None, set(), ""))
    stores = [(name, lowering.store_name(name, scope)) for name in sorted(names)]
    attributes = [(ast.unparse(t), lowering.assign(t, scope)) for t in _attribute_targets(node)]

    def forget(f: Frame) -> None:
        for name, store in (*stores, *attributes):
            try:
                store(f, Unknown(name, LOOSE))
            except (Raised, Undecidable):
                continue

    return forget


def _attribute_targets(node: ast.stmt) -> Iterator[ast.expr]:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        targets = [node.target]
    for target in targets:
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        yield from (part for part in parts if isinstance(part, ast.Attribute))


def tolerant_call(lowering: Lowering, node: ast.Call, scope: Scope) -> Run:
    """A call that tells the follower where it stands; an argument may be unknown."""
    machine = lowering.machine
    place = (lowering.file, node.lineno)
    arguments = _arguments(lowering, node, scope)
    if isinstance(node.func, ast.Attribute):
        owner = lower_expression(lowering, node.func.value, scope)
        name = node.func.attr

        def method(f: Frame) -> Value:
            target = owner(f)
            args, kwargs = arguments(f)
            note_place(machine, place)
            return machine.call_method(target, name, args, kwargs)

        return method
    callee = lower_expression(lowering, node.func, scope)

    def plain(f: Frame) -> Value:
        function = callee(f)
        args, kwargs = arguments(f)
        note_place(machine, place)
        return machine.call(function, args, kwargs)

    return plain


def _arguments(
    lowering: Lowering, node: ast.Call, scope: Scope
) -> Callable[[Frame], tuple[list[Value], dict[str, Value]]]:
    machine = lowering.machine
    positional = [
        (isinstance(item, ast.Starred), _argument(lowering, item, scope)) for item in node.args
    ]
    named = [(item.arg, _argument(lowering, item.value, scope)) for item in node.keywords]

    def build(f: Frame) -> tuple[list[Value], dict[str, Value]]:
        args: list[Value] = []
        for starred, run in positional:
            if starred:
                args.extend(_spread(machine, run(f)))
            else:
                args.append(run(f))
        kwargs: dict[str, Value] = {}
        for name, run in named:
            if name is None:
                _add_keywords(machine, kwargs, run(f))
            else:
                kwargs[name] = run(f)
        return args, kwargs

    return build


def _spread(machine: Any, value: Value) -> list[Value]:
    return [] if isinstance(value, Unknown) else list(machine.spread(value))


def _add_keywords(machine: Any, kwargs: dict[str, Value], value: Value) -> None:
    """Keywords of an unknown mapping are left out: most often they are tuning parameters."""
    try:
        machine.add_keywords(kwargs, machine.mapping(value))
    except BudgetReachedError:
        raise
    except Undecidable:
        return


def _argument(lowering: Lowering, node: ast.expr, scope: Scope) -> Run:
    if isinstance(node, ast.Starred):
        return _argument(lowering, node.value, scope)
    run = lower_expression(lowering, node, scope)
    if isinstance(node, (ast.Constant, ast.Name)):
        return run
    machine = lowering.machine
    text = ast.unparse(node)[:80]

    def tolerant(f: Frame) -> Value:
        try:
            return run(f)
        except BudgetReachedError:
            raise
        except Undecidable as stop:
            return Unknown(text, stop.reason)
        except Raised as raised:
            if raised.explicit or machine.handlers:
                raise
            return Unknown(text, _words(machine, raised))

    return tolerant
