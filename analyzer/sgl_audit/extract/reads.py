"""Reads of environment variables, and names that are bound only under a condition."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from sgl_audit.extract.context import FileContext
from sgl_audit.extract.guards import guard_of
from sgl_audit.extract.literals import called_name, text_of
from sgl_audit.extract.machine.scopes import Binding, How, ImportFails
from sgl_audit.extract.scan import inner_nodes, own_expressions
from sgl_audit.extract.walker import Condition, Visit, visits
from sgl_audit.model.guard import ALWAYS, Guard
from sgl_audit.model.source import Place
from sgl_audit.syntax.hits import LineHits
from sgl_audit.syntax.prefilter import literal_pattern

_READERS = frozenset({"getenv", "get_bool_env_var", "get_int_env_var", "get_str_env_var"})


@dataclass(frozen=True, slots=True)
class VariableRead:
    """One read of an environment variable: with its default, and whether it is set instead."""

    name: str
    place: Place
    default: str | None = None
    sets: bool = False


@dataclass(frozen=True, slots=True)
class ConditionalName:
    """A module-level name bound only under a condition, and its reads inside functions.

    Each read comes with the condition under which it is reached in its function.
    """

    name: str
    place: Place
    guard: Guard
    reads: tuple[tuple[Place, str, Guard], ...]


def variable_reads(context: FileContext, visit: Visit) -> Iterator[VariableRead]:
    """The environment variables a statement reads or sets itself."""
    for node in inner_nodes(visit.node):
        read = _variable(context, node)
        if read is not None:
            yield read


def _variable(context: FileContext, node: ast.AST) -> VariableRead | None:
    match node:
        case ast.Attribute(value=ast.Attribute(attr=name), attr=method) if (
            name in context.index.machines.variables
        ):
            return VariableRead(name, context.parsed.place(node), sets=method == "set")
        case ast.Call(args=[first, *rest]) if called_name(node) in _READERS:
            name_text = text_of(first)
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(attr="environ"), attr="get"),
            args=[first, *rest],
        ):
            name_text = text_of(first)
        case _:
            return None
    if name_text is None:
        return None
    given = rest[0] if rest else next((k.value for k in node.keywords if k.arg == "default"), None)
    default = None if given is None else ast.unparse(given)
    return VariableRead(name_text, context.parsed.place(node), default)


def conditional_names(context: FileContext) -> list[ConditionalName]:
    """Names bound at module level under a condition only, with every read in a function."""
    wanted: dict[str, Binding] = {}
    for name, bindings in context.scope.names.items():
        steps = bindings[0].steps
        if (
            len(bindings) == 1
            and bindings[0].how is How.IMPORT
            and any(not isinstance(step.test, ImportFails) for step in steps)
        ):
            wanted[name] = bindings[0]
    if not wanted:
        return []
    reads = _reads(context, wanted)
    found: list[ConditionalName] = []
    for name, binding in sorted(wanted.items()):
        conditions = tuple(Condition(step.test, step.holds) for step in binding.steps)
        guard = guard_of(context, conditions, context.scope)
        place = Place(context.path, binding.line)
        if guard != ALWAYS and reads.get(name):
            found.append(ConditionalName(name, place, guard, tuple(reads[name])))
    return found


def _reads(
    context: FileContext, wanted: dict[str, Binding]
) -> dict[str, list[tuple[Place, str, Guard]]]:
    hits = LineHits(context.parsed, literal_pattern(name.encode() for name in wanted))
    reads: dict[str, list[tuple[Place, str, Guard]]] = {}
    for visit in visits(context.scope, context.parsed.tree, hits.within):
        scope = visit.function.scope
        if visit.function.node is None or not hits.within(visit.node):
            continue
        for expression in own_expressions(visit.node):
            for node in ast.walk(expression):
                if isinstance(node, ast.Name) and node.id in wanted and node.id not in scope.names:
                    guard = guard_of(context, visit.conditions, scope)
                    place = context.parsed.place(node)
                    reads.setdefault(node.id, []).append((place, visit.function.name, guard))
    return reads
