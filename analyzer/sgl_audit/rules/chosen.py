"""What gives an option a backend by itself: defaults, resolution, layers, dispatchers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sgl_audit.model.facts import Decision, Option
from sgl_audit.model.guard import ALWAYS, atoms
from sgl_audit.rules.atoms import plain, question_of, vocabulary
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.choosing import Selection, selections
from sgl_audit.rules.dispatchers import Dispatched, dispatched
from sgl_audit.rules.options import UNDECIDED, options_by_name
from sgl_audit.rules.picks import picks
from sgl_audit.rules.sources import syntax_of

_SUFFIXES = ("_runner_backend", "_backend")


def chosen(context: RuleContext) -> tuple[Selection, ...]:
    """Every place in the server where a backend comes out without being asked for."""
    return context.once(_chosen)


def _chosen(context: RuleContext) -> tuple[Selection, ...]:
    found = [item for item in selections(context) if item.option.name.endswith("backend")]
    known = {item.place for item in found}
    for pick in picks(context):
        # What a runner says of itself is no choice.
        told = "/layers/" in pick.place.file and pick.guard == ALWAYS
        option = option_of(context, pick) if pick.place not in known and not told else None
        if option is not None:
            value, line = str(pick.literal), pick.excerpt
            place, function = pick.place, pick.function
            found.append(Selection(option, value, pick.guard, place, function, line))
    for item in dispatched(context):
        found += _of_dispatcher(context, item)
    return tuple(found)


def _of_dispatcher(context: RuleContext, item: Dispatched) -> Iterator[Selection]:
    got = item.returned
    option = called_like(context, f"{got.place.file} {got.name}", item.value)
    if option is not None:
        yield Selection(option, item.value, got.guard, got.place, got.function, got.name)


def option_of(context: RuleContext, pick: Decision) -> Option | None:
    """The option that a local name of a layer stands for, or None where nothing says so."""
    options = options_by_name(context)
    value = str(pick.literal)
    own = options.get(pick.option) or options.get(pick.option.replace("_impl", "_backend"))
    if own is not None:
        return own if value in (own.choices or ()) and value not in UNDECIDED else None
    owner, dot, _ = pick.value.partition(".")
    if dot:
        same = (option for option in options.values() if plain(option.name) == plain(owner))
        return next((option for option in same if value in (option.choices or ())), None)
    return (
        passed_on(context, pick)
        or _asked_beside(context, pick)
        or called_like(context, pick.function, value)
    )


def passed_on(context: RuleContext, pick: Decision) -> Option | None:
    """The option to which the function hands the local name on."""
    options = options_by_name(context)
    for name in _targets(context, pick.place.file, pick.function, pick.option):
        option = options.get(name)
        if option is not None and str(pick.literal) in (option.choices or ()):
            return option
    return None


def _targets(context: RuleContext, file: str, function: str, local: str) -> list[str]:
    """What a function assigns a local name to: names, attributes and keys, in source order."""
    key = ("targets", file, function, local)
    if key not in context.memory:
        tree = syntax_of(context, file)
        wanted = function.rpartition(".")[2]
        context.memory[key] = [
            name
            for node in ast.walk(tree or ast.Module([], []))
            if isinstance(node, ast.FunctionDef) and node.name == wanted
            for inner in ast.walk(node)
            if isinstance(inner, ast.Assign)
            and isinstance(inner.value, ast.Name)
            and inner.value.id == local
            for name in map(_target, inner.targets)
        ]
    found: list[str] = context.memory[key]
    return found


def _target(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(slice=ast.Constant(value=str() as name)):
            return name
    return ""


def _asked_beside(context: RuleContext, pick: Decision) -> Option | None:
    """The one option, or pair for two stages, that has the value and one the guard asks for."""
    named = [atom for atom in atoms(pick.guard) if "==" in atom.text]
    asked = [question_of(atom, vocabulary(context)) for atom in named]
    given = {value for item in asked if item for value in item.values if isinstance(value, str)}
    wanted = {str(pick.literal), *given}
    found = [
        option
        for option in options_by_name(context).values()
        if given - {pick.literal}
        and wanted <= set(option.choices or ())
        and option.name.endswith("backend")
    ]
    return min(found, key=lambda item: item.name) if found else None


def called_like(context: RuleContext, text: str, value: str) -> Option | None:
    """The option whose name, without what all of them end in, is part of a name."""
    words = text.replace("/", "_")
    for option in options_by_name(context).values():
        ends = [end for end in _SUFFIXES if option.name.endswith(end)]
        stem = option.name.removesuffix(ends[0]) if ends else ""
        kind = f"{stem.partition('_')[0]}_utils"
        long = "_" in stem and (stem in words or ("/" in text and kind in words))
        if long and value in (option.choices or ()) and value not in UNDECIDED:
            return option
    return None
