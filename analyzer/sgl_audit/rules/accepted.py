"""Where a value that a user names is let through: the gate, the registry, or the list itself."""

from __future__ import annotations

import ast

from sgl_audit.model.facts import Option, Rejection, RejectionKind
from sgl_audit.model.source import Place
from sgl_audit.rules.atoms import vocabulary
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.refusing import Refusal, refusals
from sgl_audit.rules.registered import registrations
from sgl_audit.rules.sources import syntax_of
from sgl_audit.rules.ways import demands, ways


def let_through(context: RuleContext, option: Option, value: str) -> tuple[str, Place, str]:
    """How a value gets past, where, and in which function.

    First a gate that asks the machine for this very value and is not narrow enough; then what
    is registered under it; then a check of the option that does not ask for the machine; else
    the option itself.
    """
    gates = [item for item in _refusals(context, option, value) if item.by_machine]
    if gates:
        item = gates[0]
        place = gate_of(context, item.rejection)
        return "this gate lets it through", place, item.rejection.function
    for entry, place in registrations(context).get(option.name, ()):
        if entry.value == value:
            return "it is registered here without asking for the capability", place, value
    checked = _check(context, option)
    if checked is not None:
        return "it is checked here, but not for the capability", *checked
    return "no place between the option and the kernel asks for the capability", option.place, ""


def _refusals(context: RuleContext, option: Option, value: str) -> list[Refusal]:
    """The refusals that are about the value by its name."""
    return [
        item
        for item in refusals(context)
        if item.option.name == option.name
        and (item.value == value or (item.value is None and _names(context, item, value)))
    ]


def _names(context: RuleContext, item: Refusal, value: str) -> bool:
    for capability in context.capabilities:
        for way in ways(context, item.rejection.guard, capability):
            for demand in demands(way.literals, vocabulary(context)).values():
                if value in (demand.allowed or ()) and len(demand.allowed or ()) < 3:
                    return True
    return False


def _check(context: RuleContext, option: Option) -> tuple[Place, str] | None:
    """The last check of the option, blind to the machine, where the option gets its default."""
    deciding = {
        (item.place.file, item.function)
        for item in context.facts.decisions
        if item.option == option.name
    }
    refusing = {item.function for item in context.facts.rejections}
    found = [
        (Place(file, call.lineno, call.col_offset), function)
        for file, function in sorted(deciding)
        for call in _calls_with(context, file, function, option.name)
        if isinstance(call.func, ast.Name) and call.func.id in refusing
    ]
    return max(found, default=None)


def _calls_with(context: RuleContext, file: str, function: str, name: str) -> list[ast.Call]:
    """The calls in a function that are statements and are given the option's value."""
    tree = syntax_of(context, file)
    wanted = function.rpartition(".")[2]
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef) and node.name == wanted:
            inner = list(ast.walk(node))
            held = {
                target.id
                for item in inner
                if isinstance(item, ast.Assign) and _mentions(item.value, {name})
                for target in item.targets
                if isinstance(target, ast.Name)
            }
            return [
                item.value
                for item in inner
                if isinstance(item, ast.Expr)
                and isinstance(item.value, ast.Call)
                and any(_mentions(given, {name, *held}) for given in item.value.args)
            ]
    return []


def _mentions(node: ast.expr, names: set[str]) -> bool:
    """Whether one of the names is read, as a name, an attribute or a key."""
    for item in ast.walk(node):
        match item:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str() as name):
                if name in names:
                    return True
    return False


def gate_of(context: RuleContext, rejection: Rejection) -> Place:
    """The `if` in whose arm a refusal stands, or the refusal itself."""
    place = rejection.place
    if rejection.kind is RejectionKind.ASSERT:
        return place
    tree = syntax_of(context, place.file)
    inner = place
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.If) and any(item.lineno == place.line for item in node.body):
            inner = Place(place.file, node.lineno, node.col_offset)
    return inner
