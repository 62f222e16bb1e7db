"""Lowering of expressions into closures that take a frame and return a value."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.scopes import GLOBALS, PARENT, Scope, bound_names
from sgl_audit.evaluate.streams import Stream
from sgl_audit.evaluate.values import (
    Cases,
    Lazy,
    Negation,
    Raised,
    Super,
    Undecidable,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.lowering import Lowering

Frame = dict[str, Value]
Run = Callable[[Frame], Value]

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


def lower_expression(lowering: Lowering, node: ast.expr, scope: Scope) -> Run:
    """The closure for one expression."""
    return _LOWER[type(node)](lowering, node, scope)


def _constant(lowering: Lowering, node: ast.Constant, scope: Scope) -> Run:
    value = node.value
    return lambda f: value


def _name(lowering: Lowering, node: ast.Name, scope: Scope) -> Run:
    return load_name(lowering, node.id, scope)


def unbound_local(name: str) -> str:
    """The message for a local name without a value."""
    return f"cannot access local variable {name!r} where it is not associated with a value"


def unbound_free(name: str) -> str:
    """The message for a name of an enclosing function without a value."""
    return (
        f"cannot access free variable {name!r} where it is not associated with a value in "
        "enclosing scope"
    )


def load_name(lowering: Lowering, name: str, scope: Scope) -> Run:
    """Reading a name, wherever it is bound."""
    where, depth = scope.resolve(name)
    machine = lowering.machine
    if where == "local":

        def local(f: Frame) -> Value:
            try:
                value = f[name]
            except KeyError:
                raise machine.error("UnboundLocalError", unbound_local(name)) from None
            return machine.force(f, name, value) if value.__class__ is Lazy else value

        return local
    if where == "up":
        return _load_up(lowering, name, depth)
    missing = machine.global_missing

    def from_globals(f: Frame) -> Value:
        ns = f[GLOBALS]
        value = ns.get(name, ns)
        if value is ns:
            return missing(ns, name)
        return machine.force(ns, name, value) if value.__class__ is Lazy else value

    if where == "global":
        return from_globals
    outer = _class_fallback(lowering, name, scope)

    def from_class(f: Frame) -> Value:
        return f[name] if name in f else outer(f)

    return from_class


def _class_fallback(lowering: Lowering, name: str, scope: Scope) -> Run:
    probe = Scope("class", scope.parent, set(), scope.qualname)
    return load_name(lowering, name, probe)


def _load_up(lowering: Lowering, name: str, depth: int) -> Run:
    machine = lowering.machine

    def up(f: Frame) -> Value:
        for _ in range(depth):
            f = f[PARENT]
        try:
            value = f[name]
        except KeyError:
            raise machine.error("NameError", unbound_free(name)) from None
        return machine.force(f, name, value) if value.__class__ is Lazy else value

    if depth != 1:
        return up

    def up_one(f: Frame) -> Value:
        value = f[PARENT].get(name, f)
        if value is f:
            raise machine.error("NameError", unbound_free(name))
        return machine.force(f[PARENT], name, value) if value.__class__ is Lazy else value

    return up_one


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


def _call(lowering: Lowering, node: ast.Call, scope: Scope) -> Run:
    machine = lowering.machine
    if isinstance(node.func, ast.Name) and not node.args and not node.keywords:
        special = _special_call(lowering, node.func.id, scope)
        if special is not None:
            return special
    starred = any(isinstance(arg, ast.Starred) for arg in node.args)
    doubled = any(keyword.arg is None for keyword in node.keywords)
    arguments = _arguments(lowering, node, scope) if starred or doubled else None
    args = [] if arguments else [lower_expression(lowering, arg, scope) for arg in node.args]
    keywords = (
        []
        if arguments
        else [(kw.arg or "", lower_expression(lowering, kw.value, scope)) for kw in node.keywords]
    )
    if isinstance(node.func, ast.Attribute):
        return _method_call(lowering, node.func, scope, args, keywords, arguments)
    callee = lower_expression(lowering, node.func, scope)
    call = machine.call
    if arguments is not None:

        def spread(f: Frame) -> Value:
            function = callee(f)
            positional, named = arguments(f)
            return call(function, positional, named)

        return spread
    if not keywords:
        if len(args) == 1:
            (only,) = args
            return lambda f: call(callee(f), [only(f)], {})
        return lambda f: call(callee(f), [arg(f) for arg in args], {})
    return lambda f: call(callee(f), [arg(f) for arg in args], {k: v(f) for k, v in keywords})


def _method_call(
    lowering: Lowering,
    func: ast.Attribute,
    scope: Scope,
    args: list[Run],
    keywords: list[tuple[str, Run]],
    arguments: Callable[[Frame], tuple[list[Value], dict[str, Value]]] | None,
) -> Run:
    name = func.attr
    if arguments is None and is_super(func.value) and not keywords:
        found = _super_call(lowering, name, scope, args)
        if found is not None:
            return found
    owner = lower_expression(lowering, func.value, scope)
    call_method = lowering.machine.call_method
    if arguments is not None:

        def spread(f: Frame) -> Value:
            target = owner(f)
            positional, named = arguments(f)
            return call_method(target, name, positional, named)

        return spread
    if not keywords:
        return lambda f: call_method(owner(f), name, [arg(f) for arg in args], {})
    return lambda f: call_method(
        owner(f), name, [arg(f) for arg in args], {k: v(f) for k, v in keywords}
    )


def is_super(node: ast.expr) -> bool:
    """Whether an expression is `super()`."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "super"
        and not node.args
        and not node.keywords
    )


def _super_call(lowering: Lowering, name: str, scope: Scope, args: list[Run]) -> Run | None:
    """`super().name(...)` with positional arguments, without the object in between."""
    if scope.kind != "function" or scope.owner is None or scope.resolve("super")[0] != "global":
        return None
    cell = load_name(lowering, "__class__", scope)
    receiver = load_name(lowering, scope.owner, scope)
    call_super = lowering.machine.call_super
    return lambda f: call_super(cell(f), receiver(f), name, [arg(f) for arg in args])


def _special_call(lowering: Lowering, name: str, scope: Scope) -> Run | None:
    machine = lowering.machine
    if name == "super" and scope.resolve("super")[0] == "global":
        cell = load_name(lowering, "__class__", scope)
        first = scope
        while first.kind == "comprehension" and first.parent is not None:
            first = first.parent
        if first.owner is None:
            return None
        receiver = load_name(lowering, first.owner, scope)
        return lambda f: Super(cell(f), receiver(f))
    if name == "locals" and scope.resolve("locals")[0] == "global":
        return lambda f: {k: v for k, v in f.items() if k not in (GLOBALS, PARENT)}
    if name == "globals" and scope.resolve("globals")[0] == "global":
        return lambda f: machine.note_globals(f[GLOBALS])
    return None


def _arguments(
    lowering: Lowering, node: ast.Call, scope: Scope
) -> Callable[[Frame], tuple[list[Value], dict[str, Value]]]:
    machine = lowering.machine
    parts = [
        (isinstance(arg, ast.Starred), lower_expression(lowering, _unstar(arg), scope))
        for arg in node.args
    ]
    named = [(kw.arg, lower_expression(lowering, kw.value, scope)) for kw in node.keywords]

    def build(f: Frame) -> tuple[list[Value], dict[str, Value]]:
        args: list[Value] = []
        for starred, run in parts:
            if starred:
                args.extend(machine.spread(run(f)))
            else:
                args.append(run(f))
        kwargs: dict[str, Value] = {}
        for name, run in named:
            if name is None:
                machine.add_keywords(kwargs, machine.mapping(run(f)))
            else:
                kwargs[name] = run(f)
        return args, kwargs

    return build


def _unstar(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Starred) else node


def _sequence(lowering: Lowering, node: Any, scope: Scope) -> Run:
    machine = lowering.machine
    parts = [
        (isinstance(item, ast.Starred), lower_expression(lowering, _unstar(item), scope))
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


def _comprehension(lowering: Lowering, node: Any, scope: Scope) -> Run:
    machine = lowering.machine
    inner = Scope("comprehension", scope, set(), scope.qualname)
    inner.owner = scope.owner
    inner.names = bound_names([g.target for g in node.generators], inner)
    first = lower_expression(lowering, node.generators[0].iter, scope)
    loops = []
    for index, generator in enumerate(node.generators):
        source = first if index == 0 else lower_expression(lowering, generator.iter, inner)
        assign = lowering.assign(generator.target, inner)
        conditions = [lower_expression(lowering, test, inner) for test in generator.ifs]
        loops.append((source, assign, conditions))
    if isinstance(node, ast.DictComp):
        key = lower_expression(lowering, node.key, inner)
        value = lower_expression(lowering, node.value, inner)
        element: Run = lambda f: (key(f), value(f))  # noqa: E731
    else:
        element = lower_expression(lowering, node.elt, inner)
    produce = _producer(machine, loops, element)

    in_class = scope.kind == "class"

    def frame_of(f: Frame) -> Frame:
        return {GLOBALS: f[GLOBALS], PARENT: f[PARENT] if in_class else f}

    build: Callable[[Any], Value] = {
        ast.ListComp: list,
        ast.SetComp: lambda items: machine.make_set(list(items)),
        ast.DictComp: machine.make_dict,
        ast.GeneratorExp: lambda items: Stream(machine, items),
    }[type(node)]
    text = f"items chosen at line {node.lineno}"
    place = (lowering.file, node.lineno, node.col_offset)

    def run(f: Frame) -> Value:
        source = first(f)
        if not isinstance(source, Unknown):
            return build(produce(frame_of(f), source))
        if isinstance(source, Cases):
            return machine.fork_case(source, lambda known: run_over(f, known))
        return Unknown(text, source.reason, ("chosen", place, source.key), source.kind)

    def run_over(f: Frame, source: Value) -> Value:
        if isinstance(source, Unknown):
            return Unknown(text, source.reason, ("chosen", place, source.key), source.kind)
        return build(produce(frame_of(f), source))

    return run


def _producer(machine: Any, loops: list[Any], element: Run) -> Callable[[Frame, Value], Any]:
    def level(f: Frame, index: int, source: Value) -> Any:
        _, assign, conditions = loops[index]
        for item in machine.iterate(source):
            machine.step()
            assign(f, item)
            if all(machine.truth(test(f)) for test in conditions):
                if index + 1 < len(loops):
                    yield from level(f, index + 1, loops[index + 1][0](f))
                else:
                    yield element(f)

    if len(loops) > 1:
        return lambda f, source: level(f, 0, source)
    _, assign, conditions = loops[0]

    def single(f: Frame, source: Value) -> Any:
        for item in machine.iterate(source):
            assign(f, item)
            machine.step()
            for test in conditions:
                result = test(f)
                if result is not True and (result is False or not machine.truth(result)):
                    break
            else:
                yield element(f)

    return single


def _await(lowering: Lowering, node: ast.Await, scope: Scope) -> Run:
    value = lower_expression(lowering, node.value, scope)
    return lambda f: Unknown("await", "coroutines are not evaluated", ("await", id(value(f))))


def _unsupported(lowering: Lowering, node: ast.expr, scope: Scope) -> Run:
    kind = type(node).__name__
    where = (lowering.file, node.lineno)

    def run(f: Frame) -> Value:
        raise Undecidable(f"{kind} is not evaluated here", where)

    return run


_LOWER: dict[type, Callable[[Any, Any, Scope], Run]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Call: _call,
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
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.Await: _await,
    ast.Yield: _unsupported,
    ast.YieldFrom: _unsupported,
    ast.Starred: _unsupported,
}
__all__ = ["Cases", "Frame", "Raised", "Run", "load_name", "lower_expression"]
