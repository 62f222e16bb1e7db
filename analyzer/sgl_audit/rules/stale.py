"""Values that are read before the step that still changes them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from sgl_audit.model.facts import Decision, Rejection, RejectionKind
from sgl_audit.model.guard import Atom, all_of, atoms
from sgl_audit.rules.atoms import Question, question_of, vocabulary
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.callers import entry_guard
from sgl_audit.rules.choosing import Selection, in_server, selections
from sgl_audit.rules.models import related
from sgl_audit.rules.options import options_by_name
from sgl_audit.rules.ordering import runs_before
from sgl_audit.rules.reach import Reach, reach_of
from sgl_audit.rules.sources import syntax_of
from sgl_audit.rules.ways import Literal, Way, possible, subject_of, ways

Reading = Decision | Rejection


@dataclass(frozen=True, slots=True)
class Stale:
    """One place that reads an option, and the step after it that changes the answer.

    Attributes:
        atom: the test that is asked too early.
        later: the step that gives the option another value.
        capabilities: those on which one launch takes both.
        way: the tests on the way to the reading place.
    """

    reading: Reading
    atom: Atom
    later: Selection
    capabilities: tuple[str, ...]
    way: Way


def stale_readings(context: RuleContext, readings: list[Reading]) -> Iterator[Stale]:
    """Places among `readings` whose test of another option comes out otherwise later on."""
    changing: dict[str, list[Selection]] = {}
    for selection in selections(context):
        if not selection.declared:
            changing.setdefault(selection.option.name, []).append(selection)
    for reading in readings:
        for atom in dict.fromkeys(atoms(reading.guard)):
            if len(atom.options) != 1 or atom.options[0] == getattr(reading, "option", ""):
                continue
            question = question_of(atom, vocabulary(context))
            for later in changing.get(atom.options[0], ()) if question is not None else ():
                found = _found(context, reading, atom, question, later) if question else None
                if found is not None:
                    yield found


def _found(
    context: RuleContext, reading: Reading, atom: Atom, question: Question, later: Selection
) -> Stale | None:
    default = options_by_name(context)[atom.options[0]].default
    if isinstance(default, (list, dict)):
        return None
    early = (default in question.values) is question.inside
    late = (later.value in question.values) is question.inside
    spot = (reading.place, reading.function)
    if early is late or not runs_before(context, spot, (later.place, later.function)):
        return None
    if reading.function == later.function and atom in atoms(later.guard):
        # Both stand under one test: they were decided together.
        return None
    if _assigned_before(context, reading, atom.options[0]):
        return None
    # A decision rests on the early answer; a refusal is missed for want of the late one.
    asked = (atom, late if isinstance(reading, Rejection) else early)
    names = []
    first: Way | None = None
    for capability in context.capabilities:
        way = _together(context, reading, asked, later, capability)
        if way is not None:
            names.append(capability)
            first = first or way
    return Stale(reading, atom, later, tuple(names), first) if first is not None else None


def _assigned_before(context: RuleContext, reading: Reading, option: str) -> bool:
    """Whether the function itself gives the option a value, in whatever form, further up."""
    tree = syntax_of(context, reading.place.file)
    wanted = reading.function.rpartition(".")[2]
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef) and node.name == wanted:
            for inner in ast.walk(node):
                if getattr(inner, "lineno", reading.place.line) >= reading.place.line:
                    continue
                match inner:
                    case ast.Attribute(attr=name, ctx=ast.Store()):
                        if name == option:
                            return True
                    case ast.Subscript(slice=ast.Constant(value=name), ctx=ast.Store()):
                        if name == option:
                            return True
    return False


def _together(
    context: RuleContext, reading: Reading, literal: Literal, later: Selection, capability: str
) -> Way | None:
    """The way to the reading place that rests on the test, where the later step can follow."""
    words = vocabulary(context)
    option = literal[0].options[0]
    entered = entry_guard(context, later.place.file, later.function, 0)
    guard = all_of(entered, later.guard)
    steps = [
        way
        for way in ways(context, guard, capability)
        if way.certain and reach_of(context, way.literals) <= Reach.MODEL
    ]
    for way in ways(context, reading.guard, capability) if steps else ():
        if literal not in way.literals or not way.certain:
            continue
        before = tuple(lit for lit in way.literals if subject_of(lit, words) != option)
        if reach_of(context, before) > Reach.MODEL:
            continue
        for step in steps:
            after = tuple(lit for lit in step.literals if subject_of(lit, words) != option)
            both = tuple(dict.fromkeys((*before, *after)))
            if possible(both, words) and related(context, before, after):
                return way
    return None


def deciding(context: RuleContext) -> list[Reading]:
    """The decisions of the server that give a kernel option a literal value."""
    options = options_by_name(context)
    return [
        item
        for item in context.facts.decisions
        if item.option in options
        and item.literal is not None
        and in_server(context, item.place)
        and "/layers/" not in item.place.file
    ]


def refusing(context: RuleContext) -> list[Reading]:
    """The refusals of the server outside of its argument parser."""
    return [
        item
        for item in context.facts.rejections
        if item.kind is not RejectionKind.CHOICES and in_server(context, item.place)
    ]
