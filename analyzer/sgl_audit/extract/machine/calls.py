"""Calls: functions of the tree run statement by statement, the rest by what it is known to do."""

from __future__ import annotations

import ast

from sgl_audit.extract.machine.builtins import call_builtin, call_method
from sgl_audit.extract.machine.objects import construct
from sgl_audit.extract.machine.outside import call_external
from sgl_audit.extract.machine.reader import Budget, Reader
from sgl_audit.extract.machine.scopes import frame, parameters
from sgl_audit.extract.machine.statements import FALLS_OFF, execute
from sgl_audit.extract.machine.values import (
    RAISES,
    UNBOUND,
    UNKNOWN,
    ClassValue,
    External,
    Function,
    Instance,
    Method,
    Partial,
    TableFunction,
    Value,
    Wrapper,
    settled,
)

MAX_CALLS = 16
# Arguments that say which device is asked: every device of a launch is the same card.
DEVICE_PARAMETERS = frozenset({"device", "device_id", "gpu_id", "device_index", "self", "cls"})


def call(
    reader: Reader, callee: Value, arguments: tuple[Value, ...], named: dict[str, Value]
) -> Value:
    """The result of a call."""
    if callee is UNBOUND:
        return UNBOUND
    match callee:
        case Function():
            return _function(reader, callee, arguments, named)
        case Partial():
            merged = dict(callee.keywords) | named
            return call(reader, callee.callee, (*callee.arguments, *arguments), merged)
        case TableFunction():
            value = reader.take(callee.entry)
            return value if callee.settled or not (arguments or named) else UNKNOWN
        case ClassValue():
            return construct(reader, callee, arguments, named)
        case Wrapper():
            return arguments[0] if arguments else UNKNOWN
        case Method():
            return call_method(reader, callee, arguments, named)
        case External(name=name):
            return _external(reader, name, arguments, named)
    return UNKNOWN


def _external(
    reader: Reader, name: str, arguments: tuple[Value, ...], named: dict[str, Value]
) -> Value:
    if name in ("functools.partial", "partial"):
        if not arguments:
            return UNKNOWN
        return Partial(arguments[0], arguments[1:], tuple(named.items()))
    if name.startswith("builtins."):
        return call_builtin(reader, name.removeprefix("builtins."), arguments, named)
    if "default" in named and len(arguments) == 1:
        arguments = (*arguments, named["default"])
    return reader.take(call_external(name, arguments, reader.machine))


def _function(
    reader: Reader, callee: Function, arguments: tuple[Value, ...], named: dict[str, Value]
) -> Value:
    key = (id(callee.node), _owner_key(callee.owner))
    plain = not arguments and not named
    if plain and (known := reader.memo.get(key)) is not None:
        return reader.take(known)
    if key in reader.active or len(reader.active) > MAX_CALLS * 2:
        return UNKNOWN
    if not reader.world.worth_running(callee.scope.path, callee.node):
        return UNKNOWN
    outer, reader.flags = reader.flags, set()
    reader.active.add(key)
    try:
        entry = settled(_run(reader, callee, arguments, named), frozenset(reader.flags))
    finally:
        reader.active.discard(key)
        reader.flags = outer
    if plain:
        reader.memo[key] = entry
    return reader.take(entry)


def _owner_key(owner: Value) -> int:
    if isinstance(owner, Instance):
        return id(owner.info) if not owner.fields else id(owner)
    return 0


def _run(
    reader: Reader, callee: Function, arguments: tuple[Value, ...], named: dict[str, Value]
) -> Value:
    values = bind(reader, callee, arguments, named)
    if values is None:
        return UNKNOWN
    scope = frame(callee.scope, values, callee.node)
    if isinstance(callee.node, ast.Lambda):
        return reader.value(callee.node.body, scope)
    try:
        result = execute(reader, callee.node.body, scope)
    except Budget:
        return UNKNOWN
    if result is FALLS_OFF:
        return None
    return UNKNOWN if result is RAISES else result


def bind(
    reader: Reader, callee: Function, arguments: tuple[Value, ...], named: dict[str, Value]
) -> dict[str, Value] | None:
    """Parameter values of a call; None where the arguments do not fit."""
    node = callee.node
    positional = [item.arg for item in (*node.args.posonlyargs, *node.args.args)]
    given = ((callee.owner, *arguments)) if _takes_owner(callee) else arguments
    values: dict[str, Value] = {item.arg: UNKNOWN for item in parameters(node)}
    _defaults(reader, callee, values)
    if len(given) > len(positional) and node.args.vararg is None:
        return None
    values.update(zip(positional, given, strict=False))
    for name, value in named.items():
        if name in values:
            values[name] = value
    return values


def _takes_owner(callee: Function) -> bool:
    node = callee.node
    if callee.owner is None or isinstance(node, ast.Lambda):
        return False
    return not any(
        isinstance(item, ast.Name) and item.id == "staticmethod" for item in node.decorator_list
    )


def _defaults(reader: Reader, callee: Function, values: dict[str, Value]) -> None:
    arguments = callee.node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    for item, default in zip(reversed(positional), reversed(arguments.defaults), strict=False):
        values[item.arg] = reader.value(default, callee.scope)
    for item, keyword_default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if keyword_default is not None:
            values[item.arg] = reader.value(keyword_default, callee.scope)


def needs_arguments(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
    """Whether a call without arguments fails, devices and `self` aside."""
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    required = positional[: len(positional) - len(arguments.defaults)]
    required += [
        item
        for item, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is None
    ]
    return any(item.arg not in DEVICE_PARAMETERS for item in required)


def only_devices(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
    """Whether every parameter only says which device is asked."""
    return all(item.arg in DEVICE_PARAMETERS for item in parameters(node))
