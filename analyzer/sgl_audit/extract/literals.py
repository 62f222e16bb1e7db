"""Plain constants as facts hold them."""

from __future__ import annotations

import ast

from sgl_audit.model.facts import JsonValue, Scalar


def scalar(node: ast.expr | None) -> Scalar:
    """The value of a plain constant, or None where it is none."""
    match node:
        case ast.Constant(value=value) if isinstance(value, (str, int, float, bool)):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
            return -value if isinstance(value, (int, float)) else None
    return None


def is_literal(node: ast.expr) -> bool:
    """Whether an expression is a constant, or a collection of constants."""
    match node:
        case ast.Constant(value=value):
            return value is not ...
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return is_literal(operand)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return all(is_literal(item) for item in items)
        case ast.Dict(keys=keys, values=values):
            return all(key is not None and is_literal(key) for key in keys) and all(
                is_literal(value) for value in values
            )
    return False


def json_value(node: ast.expr) -> JsonValue:
    """The JSON form of a literal; None where it is none."""
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [json_value(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            return {
                str(scalar(key)): json_value(value) for key, value in zip(keys, values, strict=True)
            }
    return scalar(node)


def keyword(node: ast.Call, name: str) -> ast.expr | None:
    """The value of a keyword argument."""
    return next((item.value for item in node.keywords if item.arg == name), None)


def called_name(node: ast.Call) -> str:
    """The last part of the name that is called, or ""."""
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def text_of(node: ast.expr | None) -> str | None:
    """A string constant, an f-string with its holes in braces, or None."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=values):
            parts = [
                item.value if isinstance(item, ast.Constant) else _hole(item) for item in values
            ]
            return "".join(str(part) for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = text_of(left), text_of(right)
            return None if first is None or second is None else first + second
        case ast.BinOp(left=left, op=ast.Mod()):
            return text_of(left)
        case ast.Call(func=ast.Attribute(value=owner, attr="format")):
            return text_of(owner)
    return None


def _hole(node: ast.expr) -> str:
    inner = node.value if isinstance(node, ast.FormattedValue) else node
    return "{" + ast.unparse(inner) + "}"
