"""Functions that a decorator registers under a value: `@register_attention_backend("fa3")`."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.options import options_by_name
from sgl_audit.rules.sources import data_of, syntax_of


@dataclass(frozen=True, slots=True)
class Registered:
    """One function and the option value under which it is found."""

    option: str
    value: str


Key = tuple[str, str]


def registered(context: RuleContext) -> dict[Key, Registered]:
    """(file, function) -> the value it is registered under, for files that refuse something."""
    return context.once(_registered)


def _registered(context: RuleContext) -> dict[Key, Registered]:
    options = options_by_name(context)
    found: dict[Key, Registered] = {}
    for file in sorted({item.place.file for item in context.facts.rejections}):
        for node in functions_of(context, file):
            for decorator in node.decorator_list:
                match decorator:
                    case ast.Call(
                        func=ast.Name(id=name) | ast.Attribute(attr=name),
                        args=[ast.Constant(value=str() as value), *_],
                    ):
                        option = options.get(name.removeprefix("register_"))
                        if option is not None and value in (option.choices or ()):
                            found[file, node.name] = Registered(option.name, value)
    return found


def functions_of(context: RuleContext, file: str) -> list[ast.FunctionDef]:
    """The module-level functions of a file that carry decorators, where anything is registered."""
    tree = syntax_of(context, file) if b"@register" in data_of(context, file) else None
    body = tree.body if tree is not None else []
    return [node for node in body if isinstance(node, ast.FunctionDef) and node.decorator_list]
