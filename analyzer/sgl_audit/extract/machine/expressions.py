"""One small function per kind of expression."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from sgl_audit.extract.machine.names import attribute_of, lookup
from sgl_audit.extract.machine.reader import Reader
from sgl_audit.extract.machine.scopes import Scope, frame
from sgl_audit.extract.machine.values import (
    UNBOUND,
    UNKNOWN,
    Function,
    Instance,
    Record,
    Value,
    VersionText,
    join,
    truth,
)
from sgl_audit.syntax.comparing import COMPARE


def _constant(reader: Reader, node: ast.Constant, scope: Scope) -> Value:
    return UNKNOWN if node.value is Ellipsis else node.value


def _name(reader: Reader, node: ast.Name, scope: Scope) -> Value:
    return lookup(reader, node.id, scope, node.lineno)


def _attribute(reader: Reader, node: ast.Attribute, scope: Scope) -> Value:
    return attribute_of(reader, reader.value(node.value, scope), node.attr)


def _boolean(reader: Reader, node: ast.BoolOp, scope: Scope) -> Value:
    decides = isinstance(node.op, ast.Or)
    unknown = False
    value: Value = UNKNOWN
    for part in node.values:
        value = reader.value(part, scope)
        if value is UNBOUND and not unknown:
            return UNBOUND
        holds = truth(value)
        if holds is None:
            unknown = True
        elif holds is decides:
            # A later part that decides does so whatever the unknown ones are.
            return decides if unknown else value
    return UNKNOWN if unknown else value


def _unary(reader: Reader, node: ast.UnaryOp, scope: Scope) -> Value:
    value = reader.value(node.operand, scope)
    if value is UNBOUND:
        return UNBOUND
    if isinstance(node.op, ast.Not):
        holds = truth(value)
        return UNKNOWN if holds is None else not holds
    if isinstance(node.op, ast.USub) and isinstance(value, (int, float)):
        return -value
    return UNKNOWN


_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Div: operator.truediv,
}


def _binary(reader: Reader, node: ast.BinOp, scope: Scope) -> Value:
    left = reader.value(node.left, scope)
    right = reader.value(node.right, scope)
    function = _BINARY.get(type(node.op))
    plain = (int, float, str, tuple, list)
    if left is UNBOUND or right is UNBOUND:
        return UNBOUND
    if function is None or not isinstance(left, plain) or not isinstance(right, plain):
        return UNKNOWN
    if isinstance(node.op, ast.Mult) and not isinstance(left, (int, float)):
        return UNKNOWN
    try:
        return function(left, right)
    except (TypeError, ValueError, ZeroDivisionError):
        return UNKNOWN


def _comparison(reader: Reader, node: ast.Compare, scope: Scope) -> Value:
    left = reader.value(node.left, scope)
    unknown = False
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        right = reader.value(comparator, scope)
        result = compare(reader, op, left, right)
        if result is UNBOUND:
            return UNBOUND
        if result is UNKNOWN:
            unknown = True
        elif not result:
            return False
        left = right
    return UNKNOWN if unknown else True


def compare(reader: Reader, op: ast.cmpop, left: Value, right: Value) -> Value:
    """One comparison; UNKNOWN where either side, or any part of it, is unknown."""
    left, right = _plain(left), _plain(right)
    if left is UNBOUND or right is UNBOUND:
        return UNBOUND
    identity = isinstance(op, (ast.Is, ast.IsNot))
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if not identity and (isinstance(left, VersionText) or isinstance(right, VersionText)):
        reader.flags.add("version")
    if identity and left is not None and right is not None and not isinstance(left, bool):
        return UNKNOWN
    if _has_unknown(left) or _has_unknown(right):
        return UNKNOWN
    try:
        return bool(COMPARE[type(op)](left, right))
    except TypeError:
        # A version that is not there cannot be ordered: the test fails on that machine.
        return UNBOUND if left is None or right is None else UNKNOWN
    except ValueError:
        return UNKNOWN


def _plain(value: Value) -> Value:
    if isinstance(value, (Record, Instance)) and value.sequence is not None:
        return value.sequence
    return value


def _has_unknown(value: Value) -> bool:
    return isinstance(value, (tuple, list, set, frozenset)) and any(
        item is UNKNOWN for item in value
    )


def _choice(reader: Reader, node: ast.IfExp, scope: Scope) -> Value:
    holds = truth(reader.value(node.test, scope))
    if holds is None:
        return join(reader.value(node.body, scope), reader.value(node.orelse, scope))
    return reader.value(node.body if holds else node.orelse, scope)


def _sequence(reader: Reader, node: ast.Tuple | ast.List | ast.Set, scope: Scope) -> Value:
    items: list[Value] = []
    for element in node.elts:
        if isinstance(element, ast.Starred):
            inner = reader.value(element.value, scope)
            if not isinstance(inner, (tuple, list, set, frozenset)):
                return UNKNOWN
            items.extend(inner)
        else:
            items.append(reader.value(element, scope))
    if isinstance(node, ast.Tuple):
        return tuple(items)
    if isinstance(node, ast.List):
        return items
    try:
        return UNKNOWN if any(item is UNKNOWN for item in items) else frozenset(items)
    except TypeError:
        return UNKNOWN


def _dictionary(reader: Reader, node: ast.Dict, scope: Scope) -> Value:
    result: dict[Value, Value] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        name = UNKNOWN if key is None else reader.value(key, scope)
        if name is UNKNOWN or (isinstance(name, (list, dict, tuple)) and _has_unknown(name)):
            return UNKNOWN
        try:
            result[name] = reader.value(value, scope)
        except TypeError:
            return UNKNOWN
    return result


def _subscript(reader: Reader, node: ast.Subscript, scope: Scope) -> Value:
    owner = _plain(reader.value(node.value, scope))
    if owner is UNBOUND:
        return UNBOUND
    if isinstance(owner, VersionText):
        reader.flags.add("version")
    if isinstance(node.slice, ast.Slice):
        bounds = [
            None if part is None else reader.value(part, scope)
            for part in (node.slice.lower, node.slice.upper, node.slice.step)
        ]
        if not isinstance(owner, (tuple, list, str)) or UNKNOWN in bounds:
            return UNKNOWN
        return owner[slice(*bounds)]
    index = reader.value(node.slice, scope)
    if index is UNKNOWN or not isinstance(owner, (tuple, list, str, dict)):
        return UNKNOWN
    try:
        return owner[index]
    except (KeyError, IndexError, TypeError):
        return UNKNOWN


def _call(reader: Reader, node: ast.Call, scope: Scope) -> Value:
    match node.func:
        case ast.Attribute(value=ast.Attribute(attr=variable), attr="get" | "is_set" as method):
            declared = reader.world.environment(variable)
            if declared is not None:
                default = reader.take(declared)
                return False if method == "is_set" else default
    callee = reader.value(node.func, scope)
    arguments: list[Value] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            inner = reader.value(argument.value, scope)
            arguments.extend(inner if isinstance(inner, (tuple, list)) else (UNKNOWN,))
        else:
            arguments.append(reader.value(argument, scope))
    named = {
        keyword.arg: reader.value(keyword.value, scope)
        for keyword in node.keywords
        if keyword.arg is not None
    }
    return reader.call(callee, tuple(arguments), named)


def _lambda(reader: Reader, node: ast.Lambda, scope: Scope) -> Value:
    return Function(node, scope)


def _text(reader: Reader, node: ast.JoinedStr, scope: Scope) -> Value:
    parts: list[str] = []
    for item in node.values:
        if isinstance(item, ast.Constant):
            parts.append(str(item.value))
            continue
        value = reader.value(item.value, scope) if isinstance(item, ast.FormattedValue) else None
        if not isinstance(value, (str, int)):
            return UNKNOWN
        parts.append(str(value))
    return "".join(parts)


def _comprehension(
    reader: Reader, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, scope: Scope
) -> Value:
    generator = node.generators[0]
    target = generator.target
    if len(node.generators) != 1 or not isinstance(target, ast.Name):
        return UNKNOWN
    source = reader.value(generator.iter, scope)
    if not isinstance(source, (tuple, list, set, frozenset, dict)) or len(source) > 64:
        return UNKNOWN
    results: list[Value] = []
    ordered = sorted(source, key=repr) if isinstance(source, (set, frozenset)) else source
    for item in ordered:
        inner = frame(scope, {target.id: item})
        kept = [truth(reader.value(test, inner)) for test in generator.ifs]
        if None in kept:
            return UNKNOWN
        if False not in kept:
            results.append(reader.value(node.elt, inner))
    return results


def _walrus(reader: Reader, node: ast.NamedExpr, scope: Scope) -> Value:
    return reader.value(node.value, scope)


EVALUATE: dict[type[ast.expr], Callable[[Reader, Any, Scope], Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.BoolOp: _boolean,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.Compare: _comparison,
    ast.IfExp: _choice,
    ast.Tuple: _sequence,
    ast.List: _sequence,
    ast.Set: _sequence,
    ast.Dict: _dictionary,
    ast.Subscript: _subscript,
    ast.Call: _call,
    ast.Lambda: _lambda,
    ast.JoinedStr: _text,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.NamedExpr: _walrus,
}
