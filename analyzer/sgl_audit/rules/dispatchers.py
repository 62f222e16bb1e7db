"""Functions that return other functions per backend: which backend each returned one is."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sgl_audit.extract.walker import leaves
from sgl_audit.model.facts import DecisionKind
from sgl_audit.model.guard import ALWAYS, Guard, all_of, negate
from sgl_audit.model.source import Place
from sgl_audit.rules.atoms import vocabulary
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.conditions import guard_of
from sgl_audit.rules.sources import syntax_of
from sgl_audit.rules.ways import demands, ways

_ANYWHERE = "sm90"
# A function that asks for one backend only tells no names of others.
_LEAST = 2


@dataclass(frozen=True, slots=True)
class Returned:
    """One `return name` of a function, when it is reached, and the test that decides it."""

    name: str
    guard: Guard
    place: Place
    function: str


@dataclass(frozen=True, slots=True)
class Dispatched:
    """A function that `auto` comes to, and the backend that it is the code of.

    Attributes:
        value: the one backend for which a dispatcher beside this one returns the same function.
    """

    value: str
    returned: Returned


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """A function that returns one kernel per backend.

    Attributes:
        values: the backends that it asks for by name.
        last: what it returns where it asked for none, if that does not depend on the machine.
    """

    file: str
    function: str
    values: tuple[str, ...]
    last: Returned | None


def dispatchers(context: RuleContext) -> tuple[Dispatcher, ...]:
    """Every function of a layer that returns functions per backend."""
    return context.once(_dispatchers)


def _dispatchers(context: RuleContext) -> tuple[Dispatcher, ...]:
    found = []
    for file in _files(context):
        groups: dict[str, list[Returned]] = {}
        for item in _returns_of(context, file):
            groups.setdefault(item.function, []).append(item)
        for function, items in groups.items():
            values = sorted({value for item in items for value in _asked(context, item)})
            rest = [item for item in items if not _asked(context, item)]
            last = rest[0] if len(rest) == 1 and not _gated(context, rest[0]) else None
            if values:
                found.append(Dispatcher(file, function, tuple(values), last))
    return tuple(found)


def dispatched(context: RuleContext) -> tuple[Dispatched, ...]:
    """What functions return that pick by the machine what others of their file pick by name."""
    return context.once(_dispatched)


def _dispatched(context: RuleContext) -> tuple[Dispatched, ...]:
    return tuple(item for file in _files(context) for item in _in_file(context, file))


def _files(context: RuleContext) -> list[str]:
    asking = Counter(
        (item.place.file, item.function)
        for item in context.facts.decisions
        if item.kind is DecisionKind.DISPATCH
        and "/srt/" in item.place.file
        and "." not in item.function
        and ".is_" in item.value
    )
    return sorted({file for (file, _), times in asking.items() if times >= _LEAST})


def _returns_of(context: RuleContext, file: str) -> list[Returned]:
    tree = syntax_of(context, file)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)] if tree else []
    return [item for node in functions for item in _returns(context, file, node)]


def _in_file(context: RuleContext, file: str) -> Iterator[Dispatched]:
    returns = _returns_of(context, file)
    named: dict[str, set[str]] = {}
    for item in returns:
        for value in _asked(context, item):
            named.setdefault(item.name, set()).add(value)
    for item in returns:
        values = named.get(item.name, set())
        if len(values) == 1 and not _asked(context, item) and _gated(context, item):
            yield Dispatched(next(iter(values)), item)


def _gated(context: RuleContext, item: Returned) -> bool:
    """Whether the machine is asked for the function; what is left over serves nobody by name."""
    every = [way for name in context.capabilities for way in ways(context, item.guard, name)]
    return any(wanted for way in every for _, wanted in way.machine)


def _asked(context: RuleContext, item: Returned) -> set[str]:
    """The backends that the tests around a return ask for by name."""
    found: set[str] = set()
    for way in ways(context, item.guard, _ANYWHERE):
        for demand in demands(way.literals, vocabulary(context)).values():
            found |= {str(value) for value in (demand.allowed or ()) if isinstance(value, str)}
    return found


def _returns(context: RuleContext, file: str, node: ast.FunctionDef) -> list[Returned]:
    found = [
        Returned(value.id, guard, Place(file, arm.lineno, arm.col_offset), node.name)
        for inner, guard, arm in _guarded(context, node.body, ALWAYS)
        if isinstance(value := inner.value, ast.Name)
    ]
    return found if len({item.name for item in found}) > 1 else []


def _guarded(
    context: RuleContext, body: Sequence[ast.stmt], guard: Guard, arm: ast.If | None = None
) -> Iterator[tuple[ast.Return, Guard, ast.stmt]]:
    """The returns of a function, each with its condition and the test whose arm it stands in."""
    for node in body:
        match node:
            case ast.Return():
                yield node, guard, arm or node
            case ast.If(test=test, body=inner, orelse=orelse):
                asked = guard_of(context, test)
                yield from _guarded(context, inner, all_of(guard, asked), node)
                yield from _guarded(context, orelse, all_of(guard, negate(asked)))
                if leaves(inner):
                    guard = all_of(guard, negate(asked))
