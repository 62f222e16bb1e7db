"""Functions that a decorator registers under a value: `@register_attention_backend("fa3")`."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from sgl_audit.model.source import Place
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.options import options_by_name
from sgl_audit.rules.sources import data_of, server_files, syntax_of


@dataclass(frozen=True, slots=True)
class Registered:
    """One function and the option value under which it is found."""

    option: str
    value: str


Key = tuple[str, str]


def registered(context: RuleContext) -> dict[Key, Registered]:
    """(file, function) -> the value that a function is registered under."""
    return {key: found for key, (found, _) in context.once(_registered).items()}


def registrations(context: RuleContext) -> dict[str, list[tuple[Registered, Place]]]:
    """Option -> everything that is registered under a value of it, with the decorator's place."""
    found: dict[str, list[tuple[Registered, Place]]] = {}
    for item, place in context.once(_registered).values():
        found.setdefault(item.option, []).append((item, place))
    return found


def _registered(context: RuleContext) -> dict[Key, tuple[Registered, Place]]:
    options = {f"register_{n}": o for n, o in options_by_name(context).items() if o.choices}
    pattern = re.compile("@(?:{})\\(".format("|".join(map(re.escape, options))).encode())
    found: dict[Key, tuple[Registered, Place]] = {}
    for file in server_files(context) if options else ():
        tree = syntax_of(context, file) if pattern.search(data_of(context, file)) else None
        for node in tree.body if tree is not None else ():
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            for item in node.decorator_list:
                match item:
                    case ast.Call(
                        func=ast.Name(id=name) | ast.Attribute(attr=name),
                        args=[ast.Constant(value=str() as value), *_],
                    ) if name in options:
                        place = Place(file, item.lineno, item.col_offset)
                        found[file, node.name] = Registered(options[name].name, value), place
    return found
