"""Which server option an expression reads, by the shape of the names around it."""

from __future__ import annotations

import ast

from sgl_audit.extract.context import FileContext
from sgl_audit.extract.machine.scopes import Binding, How, Scope

# Names that hold the server's arguments, or a view of them, wherever they appear.
_ARGUMENT_NAMES = frozenset({"server_args", "args", "view", "cfg", "sa"})
_DEPTH = 3


def is_arguments(context: FileContext, node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is the server's arguments or a view of them."""
    match node:
        case ast.Name(id="self"):
            owner = scope.owner
            return owner is not None and owner.name in context.index.option_classes
        case ast.Name(id=name):
            return name in _ARGUMENT_NAMES or "server_args" in name
        case ast.Attribute(attr=name):
            return name.lstrip("_") in ("server_args", "cfg")
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return "server_args" in name or name in context.index.bag_getters
    return False


def option_of(
    context: FileContext, node: ast.expr, scope: Scope, depth: int = _DEPTH
) -> str | None:
    """The option whose value an expression is, or None."""
    names = context.index.options
    match node:
        case ast.Attribute(value=owner, attr=name):
            if name in names and (
                name in context.index.backend_options or is_arguments(context, owner, scope)
            ):
                return name
            plain = name.lstrip("_")
            return plain if plain in context.index.backend_options else None
        case ast.Call(
            func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str() as name), *_]
        ):
            return name if name in names and is_arguments(context, owner, scope) else None
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _through_call(context, name, arguments, scope, depth)
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=arguments):
            if name in ("get", "pop") and arguments and isinstance(arguments[0], ast.Constant):
                key = arguments[0].value
                return key if isinstance(key, str) and key in names else None
            if name in ("lower", "strip", "upper"):
                return option_of(context, owner, scope, depth)
            return _through_call(context, name, arguments, scope, depth)
        case ast.Name(id=name):
            return _through_name(context, name, scope, depth)
        case ast.BoolOp(values=[first, *_]):
            return option_of(context, first, scope, depth)
        case ast.Subscript(slice=ast.Constant(value=str() as name)):
            return name if name in names else None
    return None


def _through_call(
    context: FileContext, name: str, arguments: list[ast.expr], scope: Scope, depth: int
) -> str | None:
    getter = name.removeprefix("get_")
    if getter != name and getter in context.index.options:
        return getter
    # An enum made from a string keeps the option the string came from.
    if name in context.index.enums and len(arguments) == 1:
        return option_of(context, arguments[0], scope, depth)
    return None


def _through_name(context: FileContext, name: str, scope: Scope, depth: int) -> str | None:
    current: Scope | None = scope
    while depth and current is not None and not current.is_module:
        bindings = current.names.get(name)
        if bindings is not None:
            found = {_of_binding(context, item, current, name, depth) for item in bindings}
            found.discard(None)
            if len(found) == 1:
                return found.pop()
            break
        current = current.parent
    plain = name.lstrip("_").lower()
    return plain if plain in context.index.backend_options else None


def _of_binding(
    context: FileContext, binding: Binding, scope: Scope, name: str, depth: int
) -> str | None:
    if binding.how is How.EXPRESSION and isinstance(binding.node, ast.expr):
        return option_of(context, binding.node, scope, depth - 1)
    return None
