"""Lowering of expressions into closures that take a frame and return a value."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.calls import lower_call, unstar
from sgl_audit.evaluate.closures import (
    EXPRESSIONS,
    Frame,
    Run,
    load_name,
    lower_expression,
    unbound_local,
)
from sgl_audit.evaluate.comprehensions import lower_comprehension
from sgl_audit.evaluate.scopes import PARENT, Scope
from sgl_audit.evaluate.values import (
    Negation,
    Undecidable,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.lowering import Lowering


OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
    ast.MatMult: operator.matmul,
}


COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}


FAST = (str, int, float, bool, type(None))


def _constant(lowering: Lowering, node: ast.Constant, scope: Scope) -> Run:
    value = node.value
    return lambda f: value


def _name(lowering: Lowering, node: ast.Name, scope: Scope) -> Run:
    return load_name(lowering, node.id, scope)


def _attribute(lowering: Lowering, node: ast.Attribute, scope: Scope) -> Run:
    owner = lower_expression(lowering, node.value, scope)
    name = node.attr
    load = lowering.machine.getattr
    return lambda f: load(owner(f), name)


def _subscript(lowering: Lowering, node: ast.Subscript, scope: Scope) -> Run:
    owner = lower_expression(lowering, node.value, scope)
    index = lower_expression(lowering, node.slice, scope)
    getitem = lowering.machine.getitem

    def run(f: Frame) -> Value:
        container = owner(f)
        key = index(f)
        if container.__class__ is dict and key.__class__ is str:
            value = container.get(key, container)
            if value is not container:
                return value
        return getitem(container, key)

    return run


def _slice(lowering: Lowering, node: ast.Slice, scope: Scope) -> Run:
    none: Run = lambda f: None  # noqa: E731
    lower = lower_expression(lowering, node.lower, scope) if node.lower else none
    upper = lower_expression(lowering, node.upper, scope) if node.upper else none
    step = lower_expression(lowering, node.step, scope) if node.step else none
    return lambda f: slice(lower(f), upper(f), step(f))


def _sequence(lowering: Lowering, node: Any, scope: Scope) -> Run:
    machine = lowering.machine
    parts = [
        (isinstance(item, ast.Starred), lower_expression(lowering, unstar(item), scope))
        for item in node.elts
    ]
    builders: dict[type, Callable[[list[Value]], Value]] = {
        ast.Tuple: tuple,
        ast.List: list,
        ast.Set: machine.make_set,
    }
    build = builders[type(node)]
    if not any(starred for starred, _ in parts):
        runs = [run for _, run in parts]
        if type(node) is ast.List:
            return lambda f: [run(f) for run in runs]
        return lambda f: build([run(f) for run in runs])

    def spread(f: Frame) -> Value:
        items: list[Value] = []
        for starred, run in parts:
            if starred:
                items.extend(machine.iterate(run(f)))
            else:
                items.append(run(f))
        return build(items)

    return spread


def _dict(lowering: Lowering, node: ast.Dict, scope: Scope) -> Run:
    machine = lowering.machine
    pairs = [
        (
            None if key is None else lower_expression(lowering, key, scope),
            lower_expression(lowering, value, scope),
        )
        for key, value in zip(node.keys, node.values, strict=True)
    ]

    def run(f: Frame) -> Value:
        result: dict[Value, Value] = {}
        for key, value in pairs:
            if key is None:
                result.update(machine.mapping(value(f)))
            else:
                k = key(f)
                if isinstance(k, Unknown):
                    raise Undecidable(f"dictionary key {k.name}: {k.reason}")
                try:
                    result[k] = value(f)
                except TypeError as error:
                    raise machine.convert(error) from None
        if machine.tracer is not None:
            machine.tracer.made(result)
        return result

    return run


def _unary(lowering: Lowering, node: ast.UnaryOp, scope: Scope) -> Run:
    machine = lowering.machine
    operand = lower_expression(lowering, node.operand, scope)
    if isinstance(node.op, ast.Not):

        def negate(f: Frame) -> Value:
            value = operand(f)
            if value is True:
                return False
            if value is False or value is None:
                return True
            truth = machine.truth_value(value)
            return Negation.of(truth)

        return negate
    return lambda f: machine.unary(UNARY[type(node.op)], operand(f))


def _binary(lowering: Lowering, node: ast.BinOp, scope: Scope) -> Run:
    machine = lowering.machine
    left = lower_expression(lowering, node.left, scope)
    right = lower_expression(lowering, node.right, scope)
    function = OPERATORS[type(node.op)]
    symbol = type(node.op).__name__
    binary = machine.binary

    def run(f: Frame) -> Value:
        a = left(f)
        b = right(f)
        if a.__class__ is int and b.__class__ is int:
            try:
                return function(a, b)
            except (ArithmeticError, ValueError, TypeError) as error:
                raise machine.convert(error) from None
        return binary(symbol, a, b)

    # These can make a number too large to hold, which `binary` looks out for.
    growing = symbol in ("Pow", "LShift", "Mult")
    return (lambda f: binary(symbol, left(f), right(f))) if growing else run


def _bool_op(lowering: Lowering, node: ast.BoolOp, scope: Scope) -> Run:
    machine = lowering.machine
    runs = [lower_expression(lowering, value, scope) for value in node.values]
    stop_at = isinstance(node.op, ast.Or)

    def evaluate(f: Frame, index: int) -> Value:
        value: Value = None
        for position in range(index, len(runs)):
            value = runs[position](f)
            if position == len(runs) - 1:
                return value
            if value is True or value is False:
                truth: Value = value
            else:
                truth = machine.truth_value(value)
            if truth is stop_at:
                return value
            if truth is True or truth is False:
                continue
            return machine.fork_value(
                truth,
                lambda known: (
                    stopped(value, stop_at) if known is stop_at else evaluate(f, position + 1)
                ),
            )
        return value

    return lambda f: evaluate(f, 0)


# Unknowns made by questions are truth values; any other may be anything that is true or false.
TRUTHS = frozenset({"==", "is", "in", "contains", "not", "hasattr", "isinstance", "issubclass"})


def stopped(value: Value, truth: bool) -> Value:
    """What `a or b` and `a and b` give where `a`, whose truth was asked, decides."""
    if isinstance(value, Unknown) and value.key and value.key[0] in TRUTHS:
        return truth
    return value


def _compare(lowering: Lowering, node: ast.Compare, scope: Scope) -> Run:
    left = lower_expression(lowering, node.left, scope)
    rights = [lower_expression(lowering, item, scope) for item in node.comparators]
    tests = [_test(lowering, op) for op in node.ops]
    machine = lowering.machine
    if len(tests) == 1:
        test, right = tests[0], rights[0]
        if isinstance(node.ops[0], ast.In):

            def member(f: Frame) -> Value:
                item, container = left(f), right(f)
                if container.__class__ is dict and item.__class__ is str:
                    return item in container
                result = test(item, container)
                return machine.known_truth(result) if isinstance(result, Unknown) else result

            return member

        def single(f: Frame) -> Value:
            result = test(left(f), right(f))
            if result is True or result is False:
                return result
            # What is assumed on this way may answer it, and is forgotten after the branch.
            return machine.known_truth(result) if isinstance(result, Unknown) else result

        return single

    def chain(f: Frame) -> Value:
        a = left(f)
        result: Value = True
        for test, right in zip(tests, rights, strict=True):
            b = right(f)
            link = machine.truth_value(test(a, b))
            if link is False:
                return False
            result = link if result is True else machine.both(result, link)
            a = b
        return result

    return chain


def _test(lowering: Lowering, op: ast.cmpop) -> Callable[[Value, Value], Value]:
    machine = lowering.machine
    same: Callable[[Value, Value], Value] = machine.is_same
    contains: Callable[[Value, Value], Value] = machine.contains
    match op:
        case ast.Is():
            return same
        case ast.IsNot():
            return lambda a, b: Negation.of(machine.is_same(a, b))
        case ast.In():
            return contains
        case ast.NotIn():
            return lambda a, b: Negation.of(machine.contains(a, b))
        case ast.Eq():
            return _equal
        case ast.NotEq():
            return lambda a, b: (a != b) if a.__class__ in FAST else Negation.of(_equal(a, b))
    function = COMPARISONS[type(op)]
    compare = machine.compare

    def ordered(a: Value, b: Value) -> Value:
        if a.__class__ is int and b.__class__ is int:
            return function(a, b)
        return compare(function, a, b)

    return ordered


def _equal(a: Value, b: Value) -> Value:
    return a == b


def _if_expression(lowering: Lowering, node: ast.IfExp, scope: Scope) -> Run:
    machine = lowering.machine
    test = lower_expression(lowering, node.test, scope)
    then = lower_expression(lowering, node.body, scope)
    other = lower_expression(lowering, node.orelse, scope)

    def run(f: Frame) -> Value:
        truth = test(f)
        if truth is not True and truth is not False:
            truth = machine.truth_value(truth)
        if truth is True:
            return then(f)
        if truth is False:
            return other(f)
        return machine.fork_value(truth, lambda known: then(f) if known else other(f))

    return run


def _lambda(lowering: Lowering, node: ast.Lambda, scope: Scope) -> Run:
    return lowering.function(node, scope)


def _joined(lowering: Lowering, node: ast.JoinedStr, scope: Scope) -> Run:
    machine = lowering.machine
    parts = [lower_expression(lowering, part, scope) for part in node.values]

    def run(f: Frame) -> Value:
        texts = [part(f) for part in parts]
        for text in texts:
            if text.__class__ is not str:
                return machine.assemble(texts)
        return "".join(texts)

    return run


def _formatted(lowering: Lowering, node: ast.FormattedValue, scope: Scope) -> Run:
    machine = lowering.machine
    value = lower_expression(lowering, node.value, scope)
    spec = lower_expression(lowering, node.format_spec, scope) if node.format_spec else None
    conversion = chr(node.conversion) if node.conversion != -1 else ""

    def run(f: Frame) -> Value:
        item = value(f)
        return machine.format(item, spec(f) if spec else "", conversion)

    return run


def _named(lowering: Lowering, node: ast.NamedExpr, scope: Scope) -> Run:
    value = lower_expression(lowering, node.value, scope)
    target = scope
    hops = 0
    while target.kind == "comprehension" and target.parent is not None:
        target, hops = target.parent, hops + 1
    store = lowering.store_name(node.target.id, target)
    touch = lowering.machine.touch

    def run(f: Frame) -> Value:
        item = value(f)
        frame = f
        for _ in range(hops):
            frame = frame[PARENT]
        # Arms of an expression are undone by the journal, which statements' arms do by themselves.
        touch(frame)
        store(frame, item)
        return item

    return run


def _await(lowering: Lowering, node: ast.Await, scope: Scope) -> Run:
    value = lower_expression(lowering, node.value, scope)
    return lambda f: Unknown("await", "coroutines are not evaluated", ("await", id(value(f))))


def _unsupported(lowering: Lowering, node: ast.expr, scope: Scope) -> Run:
    kind = type(node).__name__
    where = (lowering.file, node.lineno)

    def run(f: Frame) -> Value:
        raise Undecidable(f"{kind} is not evaluated here", where)

    return run


EXPRESSIONS |= {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Call: lower_call,
    ast.Tuple: _sequence,
    ast.List: _sequence,
    ast.Set: _sequence,
    ast.Dict: _dict,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.BoolOp: _bool_op,
    ast.Compare: _compare,
    ast.IfExp: _if_expression,
    ast.Lambda: _lambda,
    ast.JoinedStr: _joined,
    ast.FormattedValue: _formatted,
    ast.NamedExpr: _named,
    ast.ListComp: lower_comprehension,
    ast.SetComp: lower_comprehension,
    ast.DictComp: lower_comprehension,
    ast.GeneratorExp: lower_comprehension,
    ast.Await: _await,
    ast.Yield: _unsupported,
    ast.YieldFrom: _unsupported,
    ast.Starred: _unsupported,
}


__all__ = ["OPERATORS", "Frame", "Run", "load_name", "lower_expression", "unbound_local"]
