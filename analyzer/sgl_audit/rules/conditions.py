"""Tests in the source as guards, with the gates and options that the facts already know."""

from __future__ import annotations

import ast
import re

from sgl_audit.model.facts import Gate
from sgl_audit.model.guard import Atom, AtomKind, Guard, all_of, any_of, negate
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.options import options_by_name

_HOLDERS = frozenset({"self", "server_args", "args", "view", "cfg"})
_VARIABLE = re.compile(r"\b(?:envs|environ|getenv|env_var)\b")
_POSITIVE = {ast.NotEq: ast.Eq, ast.NotIn: ast.In, ast.IsNot: ast.Is}


def guard_of(context: RuleContext, node: ast.expr) -> Guard:
    """A test as a guard; what is neither gate nor option is opaque."""
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            return all_of(*(guard_of(context, item) for item in values))
        case ast.BoolOp(values=values):
            return any_of(*(guard_of(context, item) for item in values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return negate(guard_of(context, operand))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _POSITIVE:
            positive = ast.Compare(left, [_POSITIVE[type(op)]()], [right])
            return negate(_atom(context, positive))
    return _atom(context, node)


def _atom(context: RuleContext, node: ast.expr) -> Atom:
    text = " ".join(ast.unparse(node).split())
    name = last_name(node)
    # A platform attribute and a function of one name need not hold on the same capabilities.
    known = context.once(attributes_by_name if isinstance(node, ast.Attribute) else gates_by_name)
    if name is not None and name in known:
        return Atom(AtomKind.GATE, text, known[name])
    options = tuple(sorted(_options_read(context, node)))
    if not options and _VARIABLE.search(text):
        return Atom(AtomKind.ENVIRONMENT, text)
    return Atom(AtomKind.OPTION if options else AtomKind.OPAQUE, text, None, options)


def last_name(node: ast.expr) -> str | None:
    """`x` of `x`, `a.x`, `x()` and `a.x()`; a call with arguments asks something else."""
    match node:
        case ast.Call(func=func, args=[], keywords=[]):
            return last_name(func)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return None


def _options_read(context: RuleContext, node: ast.expr) -> set[str]:
    options = options_by_name(context)
    return {
        item.attr
        for item in ast.walk(node)
        if isinstance(item, ast.Attribute)
        and item.attr in options
        and ast.unparse(item.value).rpartition(".")[2] in _HOLDERS
    }


def gates_by_name(context: RuleContext) -> dict[str, frozenset[str] | None]:
    """The gates of the server by their name, and by the usual private alias of it."""
    return _by_name((*context.facts.gates, *context.facts.platform))


def attributes_by_name(context: RuleContext) -> dict[str, frozenset[str] | None]:
    """The same, attributes of the platform object first."""
    return _by_name((*context.facts.platform, *context.facts.gates))


def _by_name(gates: tuple[Gate, ...]) -> dict[str, frozenset[str] | None]:
    found: dict[str, frozenset[str] | None] = {}
    for gate in gates:
        if gate.name.isidentifier():
            found.setdefault(gate.name, gate.capabilities)
            found.setdefault(f"_{gate.name}", gate.capabilities)
    return found
