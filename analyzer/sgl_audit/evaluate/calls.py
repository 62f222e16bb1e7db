"""Lowering of calls."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from sgl_audit.evaluate.closures import Frame, Run, load_name, lower_expression
from sgl_audit.evaluate.scopes import GLOBALS, PARENT, Scope
from sgl_audit.evaluate.values import (
    Super,
    Value,
)

if TYPE_CHECKING:
    from sgl_audit.evaluate.lowering import Lowering


def lower_call(lowering: Lowering, node: ast.Call, scope: Scope) -> Run:
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
    if lowering.tolerant:
        from sgl_audit.evaluate.following.tolerant import tolerant_call

        return tolerant_call(lowering, node, scope)
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
        (isinstance(arg, ast.Starred), lower_expression(lowering, unstar(arg), scope))
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


def unstar(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Starred) else node
