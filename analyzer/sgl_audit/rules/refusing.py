"""Places that refuse a value of an option, and the ways in which they do on one capability."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace

from sgl_audit.model.facts import Option, Rejection, RejectionKind
from sgl_audit.model.guard import ALWAYS, Atom, AtomKind, Guard, all_of, atoms
from sgl_audit.model.source import Place
from sgl_audit.rules.atoms import vocabulary
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.choosing import in_server
from sgl_audit.rules.models import specific
from sgl_audit.rules.options import both_stages, options_by_name
from sgl_audit.rules.reach import Reach, reach_of
from sgl_audit.rules.registered import registered
from sgl_audit.rules.sources import syntax_of
from sgl_audit.rules.ways import Demand, Way, demands, subject_of, ways

_ASSERT = RejectionKind.ASSERT
_ADVICE = re.compile(r"(--[a-z][a-z0-9-]*)[ =]([a-z][a-z0-9_]*)")


@dataclass(frozen=True, slots=True)
class Refusal:
    """One rejection that concerns one option.

    Attributes:
        value: the value it refuses where it stands in the function registered for that value;
            None where its own condition says which values.
        guard: the rejection's, with what the layer it stands in rests on.
        by_machine: whether it asks what the machine can do.
    """

    rejection: Rejection
    option: Option
    guard: Guard
    by_machine: bool
    value: str | None = None


def refusals(context: RuleContext) -> tuple[Refusal, ...]:
    """Every refusal of a value of an option with choices, in source order."""
    return context.once(_refusals)


def _refusals(context: RuleContext) -> tuple[Refusal, ...]:
    options = options_by_name(context)
    names = registered(context)
    found: list[Refusal] = []
    for rejection in context.facts.rejections:
        if not in_server(context, rejection.place):
            continue
        name = names.get((rejection.place.file, rejection.function))
        guard = all_of(rejection.guard, _of_class(rejection))
        asks = any(atom.kind is AtomKind.GATE for atom in atoms(guard))
        if name is not None:
            found.append(Refusal(rejection, options[name.option], guard, asks, name.value))
        found += [
            Refusal(rejection, options[option], guard, asks)
            for option in rejection.options
            if (name is None or option != name.option) and options[option].choices
        ]
    return tuple(found)


def refusing_ways(
    context: RuleContext, refusal: Refusal, value: str, capability: str
) -> tuple[Way, ...]:
    """The ways in which a value is refused on a capability, without the tests of the option."""
    if refusal.value is not None:
        every = ways(context, refusal.guard, capability)
        return every if refusal.value == value else ()
    return tuple(
        rest
        for asked, rest in _told_apart(context, refusal, capability)
        if all(demand.admits(value) for demand in asked)
    )


_Apart = tuple[tuple[tuple[Demand, ...], Way], ...]


def _told_apart(context: RuleContext, refusal: Refusal, capability: str) -> _Apart:
    """Each way with what it asks of the option, and the way without those tests."""
    memory = context.once(_memory)
    every = ways(context, refusal.guard, capability)
    # Capabilities that a guard does not tell apart share the very same ways.
    key = (id(every), refusal.option.name)
    if key not in memory:
        memory[key] = tuple(_apart(context, refusal, way) for way in every)
    return tuple(item for item in memory[key] if item[0])


def _memory(context: RuleContext) -> dict[tuple[int, str], _Apart]:
    return {}


def _apart(context: RuleContext, refusal: Refusal, way: Way) -> tuple[tuple[Demand, ...], Way]:
    words = vocabulary(context)
    asked = demands(way.literals, words)
    names = {subject for subject in asked if _stands_for(context, subject, asked, refusal)}
    rest = [lit for lit in way.literals if subject_of(lit, words) not in names]
    return tuple(asked[name] for name in names), replace(way, literals=tuple(rest))


def _stands_for(
    context: RuleContext, subject: str, asked: dict[str, Demand], refusal: Refusal
) -> bool:
    """Whether a subject is the option, or a local name that is compared with its choices."""
    if subject == refusal.option.name:
        return True
    if subject in options_by_name(context) or not subject.isidentifier():
        return False
    demand = asked[subject]
    values = (demand.allowed or frozenset()) | demand.excluded
    return values <= set(refusal.option.choices or ())


def _of_class(rejection: Rejection) -> Guard:
    """What a refusal inside a layer's class rests on besides its tests: that the layer is used."""
    name, dot, _ = rejection.function.rpartition(".")
    late = "/layers/" in rejection.place.file or "/models/" in rejection.place.file
    return Atom(AtomKind.MODEL, f"the model uses {name}") if dot and late else ALWAYS


def refused(context: RuleContext, option: Option, value: str, capability: str) -> bool:
    """Whether something refuses a value on a capability, for what it is and for any model."""
    known = context.once(_refused_memory)
    key = (option.name, value, capability)
    if key not in known:
        known[key] = _refused(context, option, value, capability)
    return known[key]


def turned_away(context: RuleContext, option: Option, value: str, capability: str) -> bool:
    """The same, where an option of one stage may be refused as the option of both is."""
    both = options_by_name(context).get(both_stages(option.name))
    if both is not None and both != option and refused(context, both, value, capability):
        return True
    return refused(context, option, value, capability)


def _refused_memory(context: RuleContext) -> dict[tuple[str, str, str], bool]:
    return {}


def _refused(context: RuleContext, option: Option, value: str, capability: str) -> bool:
    for refusal in refusals(context):
        if refusal.option.name != option.name or not refusal.by_machine:
            continue
        for way in refusing_ways(context, refusal, value, capability):
            marked = any(specific(context, literal) for literal in way.literals)
            if way.machine and not marked and reach_of(context, way.literals) <= Reach.MODEL:
                return True
    return False


def ways_out(context: RuleContext, refusal: Refusal, capability: str) -> list[str]:
    """The values that a refusal names as the way out, as far as nothing else refuses them."""
    words = vocabulary(context)
    named: set[str] = set()
    for way in ways(context, refusal.rejection.guard, capability):
        demand = demands(way.literals, words).get(refusal.option.name)
        if demand is not None and demand.allowed is None:
            named |= {item for item in demand.excluded if isinstance(item, str)}
    for flag, value in _ADVICE.findall(refusal.rejection.message):
        if flag in {item.name for item in refusal.option.flags}:
            named.add(value)
    choices = [str(item) for item in refusal.option.choices or () if item in named]
    return [item for item in choices if not refused(context, refusal.option, item, capability)]


def refused_at(context: RuleContext, rejection: Rejection) -> Place:
    """Where a traceback of the refusal points: for an `assert`, at the last test it made."""
    tree = syntax_of(context, rejection.place.file) if rejection.kind is _ASSERT else None
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Assert) and node.lineno == rejection.place.line:
            last = _last_test(node.test)
            return Place(rejection.place.file, last.lineno, last.col_offset)
    return rejection.place


def _last_test(node: ast.expr) -> ast.expr:
    match node:
        case ast.BoolOp(values=values):
            return _last_test(values[-1])
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _last_test(operand)
    return node
