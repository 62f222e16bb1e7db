"""Lowering of comprehensions and generator expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.closures import Frame, Run, lower_expression
from sgl_audit.evaluate.scopes import GLOBALS, PARENT, Scope, bound_names
from sgl_audit.evaluate.streams import Stream
from sgl_audit.evaluate.values import (
    Cases,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.lowering import Lowering


def lower_comprehension(lowering: Lowering, node: Any, scope: Scope) -> Run:
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
