"""Which of two places of a launch runs first, where that is known."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sgl_audit.model.facts import Option
from sgl_audit.model.source import Place
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.choosing import Selection
from sgl_audit.rules.refusing import Refusal
from sgl_audit.rules.sources import syntax_of


def comes_first(context: RuleContext, selection: Selection, refusal: Refusal) -> bool:
    """Whether the selection is known to run before the refusal."""
    if selection.declared:
        return not _ever_set(context, selection.option)
    rejection = refusal.rejection
    first = (selection.place, selection.function)
    return _in_turn(context, first, (rejection.place, rejection.function))


Spot = tuple[Place, str]
_LATE = ("/model_executor/", "/layers/", "/models/")


def _is_resolution(place: Place) -> bool:
    """Whether a place belongs to the server's arguments, done with before a model is made."""
    return "/arg_groups/" in place.file or place.file.endswith("/server_args.py")


def runs_before(context: RuleContext, one: Spot, two: Spot) -> bool:
    """Whether the first of two places, each with its function, is known to run before the other.

    Known is the order of lines of one function, of methods that the beginning of a launch calls
    in turn, and of functions of one file that one decorator files as steps.
    """
    (place, function), (other, later) = one, two
    if place.file != other.file:
        return _is_resolution(place) and any(part in other.file for part in _LATE)
    if _in_turn(context, one, two):
        return True
    same = _step(context, place.file, function) == _step(context, place.file, later) != ""
    return same and function != later and place.line < other.line


def _in_turn(context: RuleContext, one: Spot, two: Spot) -> bool:
    """Whether lines of one function, or methods called in turn, come in this order."""
    (place, function), (other, later) = one, two
    if place.file != other.file:
        return False
    if function == later:
        return place.line < other.line
    order = _call_order(context, place.file)
    first, second = order.get(function), order.get(later)
    return first is not None and second is not None and first < second


def _step(context: RuleContext, file: str, function: str) -> str:
    """The decorator, without arguments, that files a function as one of a list of steps."""
    key = ("steps", file)
    if key not in context.memory:
        tree = syntax_of(context, file)
        context.memory[key] = {
            node.name: decorator.id
            for node in (tree.body if tree is not None else ())
            if isinstance(node, ast.FunctionDef)
            for decorator in node.decorator_list
            if isinstance(decorator, ast.Name) and "register" in decorator.id
        }
    found: dict[str, str] = context.memory[key]
    return found.get(function, "")


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
