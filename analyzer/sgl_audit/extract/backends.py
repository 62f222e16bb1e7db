"""Backends as the source writes them: members of enums and strings of choice lists."""

from __future__ import annotations

import ast

from sgl_audit.extract.context import FileContext
from sgl_audit.extract.literals import scalar
from sgl_audit.model.facts import Scalar


def literal_of(context: FileContext, node: ast.expr) -> Scalar:
    """The value of a constant or of an enum member."""
    match node:
        case ast.Attribute(value=ast.Name(id=enum), attr=member) if enum in context.index.enums:
            return context.index.enums[enum].get(member) or member
        case ast.Attribute(value=ast.Attribute(value=inner), attr="value"):
            return literal_of(context, inner)
        case ast.Call(func=ast.Name(id=enum), args=[inner]) if enum in context.index.enums:
            return literal_of(context, inner)
    return scalar(node)


def is_member(context: FileContext, node: ast.expr) -> bool:
    """Whether an expression names a member of a backend enum."""
    match node:
        case ast.Attribute(value=ast.Name(id=enum), attr=member):
            members = context.index.enums.get(enum, {})
            return enum in context.index.backend_enums and member in members
    return False


def is_text_choice(context: FileContext, node: ast.expr) -> bool:
    """Whether an expression is a string that some backend option allows."""
    value = scalar(node)
    return isinstance(value, str) and value in context.index.values
