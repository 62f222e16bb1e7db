"""Dispatch: places that pick a code path by a backend or by the machine."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from sgl_audit.extract.backends import is_member, is_text_choice, literal_of
from sgl_audit.extract.context import FileContext
from sgl_audit.extract.literals import called_name
from sgl_audit.extract.machine.scopes import Scope
from sgl_audit.extract.subjects import option_of
from sgl_audit.extract.walker import Condition, Visit
from sgl_audit.model.facts import DecisionKind, Scalar
from sgl_audit.syntax.text import one_line


@dataclass(frozen=True, slots=True)
class Setting:
    """One value given to one name, before the arms of the value are told apart.

    Attributes:
        literal: the value where the expression itself does not show it.
        conditions: what must hold besides the way to the statement.
    """

    option: str
    value: ast.expr
    kind: DecisionKind
    place: ast.expr | ast.stmt
    literal: Scalar = None
    conditions: tuple[Condition, ...] = ()


def dispatches(context: FileContext, visit: Visit, node: ast.If) -> Iterator[Setting]:
    """The dispatch an `if` makes, by backend where it asks one, else by capability."""
    if isinstance(node.body[0], ast.Raise):
        return
    scope = visit.function.scope
    chosen = (Condition(node.test, True),)
    asked = list(_asked_backends(context, node.test, scope))
    if asked and not _only_assigns(context, node.body[0]):
        for subject, member, literal in asked:
            yield Setting(subject, member, DecisionKind.DISPATCH, node, literal, chosen)
        return
    if asked or visit.function.node is None or _decides(node.body[0]):
        return
    if _asks_capability(context, node.test, scope):
        name = visit.function.name.rpartition(".")[2]
        yield Setting(name, node.test, DecisionKind.DISPATCH, node, None, chosen)


def fallback(context: FileContext, visit: Visit, value: ast.expr) -> Iterator[Setting]:
    """What a function returns once every backend it asked for was not the one."""
    if not isinstance(value, (ast.Name, ast.Attribute, ast.Call)) or is_member(context, value):
        return
    last = visit.conditions[-1] if visit.conditions else None
    if last is None or last.holds or not isinstance(last.test, ast.expr):
        return
    asked = next(_asked_backends(context, last.test, visit.function.scope), None)
    if asked is not None:
        text = one_line(context.parsed, value)
        yield Setting(asked[0], value, DecisionKind.DISPATCH, visit.node, text)


def _only_assigns(context: FileContext, node: ast.stmt) -> bool:
    """Whether a branch gives a backend to a name, which is a decision of its own."""
    match node:
        case ast.Assign(value=value) if is_member(context, value):
            return True
        case ast.Assign(value=ast.Constant()) | ast.Return(value=ast.Constant() | None):
            return True
    return isinstance(node, (ast.Pass, ast.Continue, ast.Break, ast.Assert))


def _decides(node: ast.stmt) -> bool:
    """Whether a statement sets an option or hands a value on: found as what it is."""
    match node:
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript(slice=ast.Constant())]):
            return True
        case ast.Assign(value=ast.Constant()) | ast.Return(value=ast.Constant(value=str())):
            return True
    return False


def _asks_capability(context: FileContext, test: ast.expr, scope: Scope) -> bool:
    """Whether any part of a test asks for the capability, by its value and not by its guard."""
    match test:
        case ast.BoolOp(values=values):
            return any(_asks_capability(context, item, scope) for item in values)
        case ast.UnaryOp(operand=operand):
            return _asks_capability(context, operand, scope)
        case ast.Constant() | ast.Compare(comparators=[ast.Constant(value=None)]):
            return False
    asked = context.tests_machine(test, scope)
    return asked and "capability" in context.reading(test, scope).flags


def _asked_backends(
    context: FileContext, test: ast.expr, scope: Scope
) -> Iterator[tuple[str, ast.expr, Scalar]]:
    """The backends a test asks for: subject, expression that names the member, its value."""
    for inner in test.values if isinstance(test, ast.BoolOp) else [test]:
        match inner:
            case ast.Call(func=ast.Attribute(value=owner, attr=name)):
                member = context.index.predicates.get(name)
                if member:
                    yield subject_of(context, owner, scope), inner, _member_value(context, member)
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                named = is_text_choice(context, right) and option_of(context, left, scope)
                if named or is_member(context, right):
                    subject = subject_of(context, left, scope)
                    yield subject, right, literal_of(context, right)
            case ast.Compare(left=left, ops=[ast.In()], comparators=[right]):
                for item in getattr(right, "elts", []):
                    named = is_text_choice(context, item) and option_of(context, left, scope)
                    if named or is_member(context, item):
                        subject = subject_of(context, left, scope)
                        yield subject, item, literal_of(context, item)


def _member_value(context: FileContext, member: str) -> Scalar:
    for name in sorted(context.index.backend_enums):
        members = context.index.enums.get(name, {})
        if member in members:
            return members[member] or member
    return member


def subject_of(context: FileContext, owner: ast.expr, scope: Scope) -> str:
    """What is asked: the option where it is known, else the name it is asked of."""
    name = option_of(context, owner, scope)
    if name is not None:
        return name
    match owner:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call():
            return called_name(owner).removeprefix("get_")
    return one_line(context.parsed, owner)
