"""Which of two places of a launch runs first, where that is known."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sgl_audit.model.facts import Option
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.choosing import Selection
from sgl_audit.rules.refusing import Refusal
from sgl_audit.rules.sources import syntax_of


def comes_first(context: RuleContext, selection: Selection, refusal: Refusal) -> bool:
    """Whether the selection is known to run before the refusal."""
    if selection.declared:
        return not _ever_set(context, selection.option)
    rejection = refusal.rejection
    if rejection.place.file != selection.place.file:
        return False
    if rejection.function == selection.function:
        return selection.place.line < rejection.place.line
    order = _call_order(context, selection.place.file)
    first, second = order.get(selection.function), order.get(rejection.function)
    return first is not None and second is not None and first < second


def _ever_set(context: RuleContext, option: Option) -> bool:
    return any(item.option == option.name for item in context.facts.decisions)


def _call_order(context: RuleContext, file: str) -> dict[str, int]:
    """Method -> the line on which the one method that begins a launch calls it."""
    key = ("call order", file)
    if key not in context.memory:
        context.memory[key] = dict(_calls_of(context, file))
    found: dict[str, int] = context.memory[key]
    return found


def _calls_of(context: RuleContext, file: str) -> Iterator[tuple[str, int]]:
    tree = syntax_of(context, file)
    for owner in tree.body if tree is not None else ():
        if not isinstance(owner, ast.ClassDef):
            continue
        for method in owner.body:
            if isinstance(method, ast.FunctionDef) and method.name == "__post_init__":
                for node in ast.walk(method):
                    match node:
                        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)):
                            yield f"{owner.name}.{name}", node.lineno
