"""Running the body of a function, both arms where a test is not known."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from sgl_audit.extract.machine.names import import_fails
from sgl_audit.extract.machine.reader import Budget, Reader
from sgl_audit.extract.machine.scopes import ImportFails, Scope, collect, imported_modules
from sgl_audit.extract.machine.values import RAISES, UNKNOWN, Instance, Record, Value, join, truth

FALLS_OFF: Final = "\0falls off"
BREAKS: Final = "\0breaks"
CONTINUES: Final = "\0continues"
_SKIPPED = (ast.Expr, ast.Pass, ast.Global, ast.Nonlocal, ast.Delete)
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def execute(reader: Reader, body: Sequence[ast.stmt], scope: Scope) -> Value:
    """What running the statements returns, or FALLS_OFF."""
    for index, statement in enumerate(body):
        if isinstance(statement, ast.If):
            holds = truth(reader.value(statement.test, scope))
            if holds is None:
                arms = (statement.body, statement.orelse)
                return _both(reader, arms, body[index + 1 :], scope)
            result = execute(reader, statement.body if holds else statement.orelse, scope)
        elif isinstance(statement, ast.Try) and _may_fail(reader, statement):
            arms = ([*statement.body, *statement.orelse], statement.handlers[0].body)
            return _both(reader, arms, body[index + 1 :], scope)
        else:
            result = _one(reader, statement, scope)
        if result is not FALLS_OFF:
            return result
    return FALLS_OFF


def _may_fail(reader: Reader, node: ast.Try) -> bool:
    modules = tuple(imported_modules(node.body))
    return bool(modules and node.handlers) and import_fails(reader, ImportFails(modules)) is None


def _both(
    reader: Reader,
    arms: tuple[Sequence[ast.stmt], Sequence[ast.stmt]],
    rest: Sequence[ast.stmt],
    scope: Scope,
) -> Value:
    results = []
    for arm in arms:
        copy = Scope(scope.path, scope.node, scope.parent, dict(scope.names), owner=scope.owner)
        copy.values = dict(scope.values or {})
        results.append(execute(reader, [*arm, *rest], copy))
    left, right = (None if item is FALLS_OFF else item for item in results)
    return join(left, right)


def _one(reader: Reader, node: ast.stmt, scope: Scope) -> Value:
    reader_value = reader.value
    match node:
        case ast.Return(value=value):
            return None if value is None else reader_value(value, scope)
        case ast.Raise():
            return RAISES
        case ast.Assign(targets=targets, value=value):
            computed = reader_value(value, scope)
            for target in targets:
                _assign(reader, target, computed, scope)
        case ast.AnnAssign(target=target, value=value) if value is not None:
            _assign(reader, target, reader_value(value, scope), scope)
        case ast.AugAssign(target=target):
            _assign(reader, target, UNKNOWN, scope)
        case ast.Assert(test=test):
            return RAISES if truth(reader_value(test, scope)) is False else FALLS_OFF
        case ast.Try():
            return _try(reader, node, scope)
        case ast.With(body=body):
            return execute(reader, body, scope)
        case ast.For():
            return _for(reader, node, scope)
        case ast.Break():
            return BREAKS
        case ast.Continue():
            return CONTINUES
        case _ if isinstance(node, _DEFINES):
            collect(scope, [node], ())
        case _ if not isinstance(node, _SKIPPED):
            raise Budget
    return FALLS_OFF


def _assign(reader: Reader, target: ast.expr, value: Value, scope: Scope) -> None:
    values = scope.values
    if values is None:
        return
    match target:
        case ast.Name(id=name):
            values[name] = value
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            items = value.sequence if isinstance(value, (Record, Instance)) else value
            fits = isinstance(items, (tuple, list)) and len(items) == len(elements)
            for index, element in enumerate(elements):
                inner = element.value if isinstance(element, ast.Starred) else element
                _assign(reader, inner, items[index] if fits and items else UNKNOWN, scope)
        case ast.Attribute(value=owner, attr=name):
            instance = reader.value(owner, scope)
            if isinstance(instance, Instance):
                instance.fields[name] = value


def _try(reader: Reader, node: ast.Try, scope: Scope) -> Value:
    result = execute(reader, [*node.body, *node.orelse], scope)
    if result is RAISES and node.handlers:
        result = execute(reader, node.handlers[0].body, scope)
    return result


def _for(reader: Reader, node: ast.For, scope: Scope) -> Value:
    source = reader.value(node.iter, scope)
    if not isinstance(source, (tuple, list)) or len(source) > 64:
        raise Budget
    for item in source:
        _assign(reader, node.target, item, scope)
        result = execute(reader, node.body, scope)
        if result is BREAKS:
            return FALLS_OFF
        if result not in (FALLS_OFF, CONTINUES):
            return result
    return execute(reader, node.orelse, scope)
