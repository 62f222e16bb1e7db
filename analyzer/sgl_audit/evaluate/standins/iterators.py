"""`itertools` and `operator`.

Assumes: CPython's own behaviour. Both run the program's own methods where values have them.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.streams import Stream
from sgl_audit.evaluate.values import Class, Module, Native, Negation, Value

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine
    from sgl_audit.evaluate.standins import Standins

# Functions whose positional arguments are all iterables, or the first of them.
ALL_ITERABLES = ("chain", "zip_longest", "product")
FIRST_ITERABLE = (
    *("islice", "cycle", "combinations", "combinations_with_replacement", "permutations"),
    "pairwise",
)
POOLED = ("product", "combinations", "combinations_with_replacement", "permutations")


def itertools_module(standins: Standins, module: Module) -> None:
    """`itertools`."""
    machine = standins.machine

    def stream(name: str, every: bool) -> Native:
        function: Callable[..., Any] = getattr(itertools, name)
        read = machine.iterate_counted if name in POOLED else machine.iterate

        def run(args: list[Value], kwargs: dict[str, Value]) -> Value:
            count = len(args) if every else 1
            sources: list[Any] = [read(arg) for arg in args[:count]]
            if name in POOLED:
                sources = [list(source) for source in sources]
            return Stream(machine, function(*sources, *args[count:], **kwargs))

        return Native(f"itertools.{name}", run, raw=True)

    for name in ALL_ITERABLES:
        module.ns[name] = stream(name, True)
    for name in FIRST_ITERABLE:
        module.ns[name] = stream(name, False)
    chain = Class("chain", (machine.object_class,), {}, "itertools")
    joined = module.ns["chain"].run
    chain.data["new"] = Native("chain", lambda args, kw: joined(args[1:], kw), raw=True)
    chain.ns["from_iterable"] = Native(
        "from_iterable", lambda args, kw: Stream(machine, _flattened(machine, args[0])), raw=True
    )
    module.ns["chain"] = chain
    standins.define(
        module,
        count=lambda start=0, step=1: Stream(machine, itertools.count(start, step)),
        repeat=lambda item, *times: Stream(machine, itertools.repeat(item, *times)),
    )
    standins.define(
        module,
        raw=True,
        accumulate=lambda *a, **k: Stream(machine, _accumulated(machine, *a, **k)),
        takewhile=lambda test, items: Stream(machine, _taken(machine, test, items)),
        dropwhile=lambda test, items: Stream(machine, _dropped(machine, test, items)),
        filterfalse=lambda test, items: Stream(machine, _refused(machine, test, items)),
        starmap=lambda function, items: Stream(machine, _spread(machine, function, items)),
        compress=lambda items, tests: Stream(machine, _compressed(machine, items, tests)),
        groupby=lambda items, key=None: Stream(machine, _grouped(machine, items, key)),
        tee=lambda items, n=2: tuple(
            Stream(machine, iter(copy)) for copy in [list(machine.iterate_counted(items))] * n
        ),
    )


def _flattened(machine: Machine, items: Value) -> Iterator[Value]:
    for inner in machine.iterate(items):
        yield from machine.iterate(inner)


def _accumulated(
    machine: Machine, items: Value, function: Value = None, *, initial: Value = None
) -> Iterator[Value]:
    total: Value = initial
    started = initial is not None
    if started:
        yield total
    for item in machine.iterate(items):
        if not started:
            total, started = item, True
        elif function is None:
            total = machine.binary("Add", total, item)
        else:
            total = machine.call(function, [total, item], {})
        yield total


def _passes(machine: Machine, test: Value, item: Value) -> bool:
    return machine.truth(item if test is None else machine.call(test, [item], {}))


def _taken(machine: Machine, test: Value, items: Value) -> Iterator[Value]:
    for item in machine.iterate(items):
        if not _passes(machine, test, item):
            return
        yield item


def _dropped(machine: Machine, test: Value, items: Value) -> Iterator[Value]:
    dropping = True
    for item in machine.iterate(items):
        dropping = dropping and _passes(machine, test, item)
        if not dropping:
            yield item


def _refused(machine: Machine, test: Value, items: Value) -> Iterator[Value]:
    return (item for item in machine.iterate(items) if not _passes(machine, test, item))


def _spread(machine: Machine, function: Value, items: Value) -> Iterator[Value]:
    for item in machine.iterate(items):
        yield machine.call(function, list(machine.iterate(item)), {})


def _compressed(machine: Machine, items: Value, tests: Value) -> Iterator[Value]:
    pairs = zip(machine.iterate(items), machine.iterate(tests), strict=False)
    return (item for item, test in pairs if machine.truth(test))


def _grouped(machine: Machine, items: Value, key: Value) -> Iterator[Value]:
    group: list[Value] = []
    current: Value = None
    for item in machine.iterate_counted(items):
        mark = item if key is None else machine.call(key, [item], {})
        if group and not machine.truth(mark == current):
            yield (current, Stream(machine, iter(group)))
            group = []
        current = mark
        group.append(item)
    if group:
        yield (current, Stream(machine, iter(group)))


BINARY = {
    "add": "Add",
    "sub": "Sub",
    "mul": "Mult",
    "truediv": "Div",
    "floordiv": "FloorDiv",
    "mod": "Mod",
    "pow": "Pow",
    "lshift": "LShift",
    "rshift": "RShift",
    "and_": "BitAnd",
    "or_": "BitOr",
    "xor": "BitXor",
    "matmul": "MatMult",
    "concat": "Add",
}
ORDERS = ("lt", "le", "gt", "ge")


def operator_module(standins: Standins, module: Module) -> None:
    """`operator`."""
    machine = standins.machine
    functions: dict[str, Callable[..., Value]] = {
        "eq": lambda a, b: a == b,
        "ne": lambda a, b: Negation.of(a == b),
        "is_": machine.is_same,
        "is_not": lambda a, b: Negation.of(machine.is_same(a, b)),
        "not_": lambda a: Negation.of(machine.truth_value(a)),
        "truth": machine.truth_value,
        "contains": lambda a, b: machine.contains(b, a),
        "getitem": machine.getitem,
        "setitem": machine.setitem,
        "delitem": machine.delitem,
        "index": machine.as_index,
        "neg": lambda a: machine.unary(operator.neg, a),
        "pos": lambda a: machine.unary(operator.pos, a),
        "invert": lambda a: machine.unary(operator.invert, a),
        "call": lambda f, *a, **k: machine.call(f, list(a), k),
        "itemgetter": lambda *keys: _getter(machine, machine.getitem, keys),
        "attrgetter": lambda *names: _getter(machine, _dotted(machine), names),
        "methodcaller": lambda name, *a, **k: Native(
            name, lambda args, kw: machine.call_method(args[0], name, list(a), dict(k)), raw=True
        ),
    }
    for name, symbol in BINARY.items():
        functions[name] = lambda a, b, symbol=symbol: machine.binary(symbol, a, b)
        functions[f"i{name.rstrip('_')}"] = lambda a, b, s=symbol: machine.inplace(s, a, b)
    for name in ORDERS:
        order = getattr(operator, name)
        functions[name] = lambda a, b, order=order: machine.compare(order, a, b)
    standins.define(module, raw=True, **functions)
    standins.define(module, abs=abs)


def _dotted(machine: Machine) -> Callable[[Value, str], Value]:
    def look(owner: Value, name: str) -> Value:
        for part in name.split("."):
            owner = machine.getattr(owner, part)
        return owner

    return look


def _getter(
    machine: Machine, look: Callable[[Value, Any], Value], keys: tuple[Value, ...]
) -> Native:
    def run(args: list[Value], kwargs: dict[str, Value]) -> Value:
        found = tuple(look(args[0], key) for key in keys)
        return found[0] if len(found) == 1 else found

    return Native("getter", run, raw=True)


BUILDERS: dict[str, Any] = {"itertools": itertools_module, "operator": operator_module}
