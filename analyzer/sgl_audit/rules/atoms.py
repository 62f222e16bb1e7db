"""Atoms of guards as questions about values: `option is one of these`, where they are that."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import lru_cache

from sgl_audit.model.facts import Scalar
from sgl_audit.model.guard import Atom
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.lists import local_lists

Values = frozenset[Scalar]
# How a function that is registered for architectures says so in a guard.
THE_MODEL_IS = "the model is "
OR = " or "
FALSE_LIKE: Values = frozenset({None, False, ""})  # 0 equals False


@dataclass(frozen=True, slots=True)
class Question:
    """An atom that holds exactly where `subject` is one of `values` (or is none, if not `inside`).

    The subject is an option's name where the atom reads one option, else source text.
    """

    subject: str
    values: Values
    inside: bool = True


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What names in tests stand for: enum predicates, enum members and named collections."""

    predicates: dict[str, dict[str, Values]]
    members: dict[str, Scalar]
    collections: dict[str, Values]
    asked: dict[tuple[str, tuple[str, ...]], Question | None] = field(default_factory=dict)


def vocabulary(context: RuleContext) -> Vocabulary:
    """The vocabulary of a tree."""
    return context.once(_vocabulary)


def _vocabulary(context: RuleContext) -> Vocabulary:
    predicates: dict[str, dict[str, Values]] = {}
    members: dict[str, Scalar] = {}
    for enum in context.facts.enums:
        for member in enum.members:
            value = member.value
            if isinstance(value, (list, dict)):
                continue
            members.setdefault(f"{enum.name}.{member.name}", value)
            name = f"is_{member.name.lower()}"
            if name in enum.predicates:
                predicates.setdefault(name, {})[plain(enum.name)] = frozenset({value})
    return Vocabulary(predicates, members, _collections(context))


def plain(name: str) -> str:
    """A name without underscores and case: `MoeA2ABackend` is `moe_a2a_backend`."""
    return name.replace("_", "").lower()


def asked_by(words: Vocabulary, predicate: str, option: str = "") -> Values | None:
    """The values for which a predicate of a backend enum is true; of the option's enum if known."""
    known = words.predicates.get(predicate, {})
    own = known.get(plain(option))
    if own is not None:
        return own
    every = set(known.values())
    return every.pop() if len(every) == 1 else None


def _collections(context: RuleContext) -> dict[str, Values]:
    found = local_lists(context)
    return {**found, **{item.name: frozenset(item.values) for item in context.facts.choice_lists}}


def question_of(atom: Atom, words: Vocabulary) -> Question | None:
    """The question an atom asks about one subject, or None where it asks something else."""
    key = (atom.text, atom.options)
    if key not in words.asked:
        words.asked[key] = _question(atom, words)
    return words.asked[key]


def _question(atom: Atom, words: Vocabulary) -> Question | None:
    if atom.text.startswith(THE_MODEL_IS):
        names = atom.text.removeprefix(THE_MODEL_IS).split(OR)
        plain = all(name.isidentifier() for name in names)
        return Question("model_arch", frozenset(names)) if plain else None
    node = parsed(atom.text)
    if node is None or len(atom.options) > 1:
        return None
    match node:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
            value = _constant(right, words)
            return None if value is None else Question(_subject(atom, left), value)
        case ast.Compare(left=left, ops=[ast.In()], comparators=[right]):
            values = _several(right, words)
            return None if values is None else Question(_subject(atom, left), values)
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[], keywords=[]):
            values = asked_by(words, name, atom.options[0] if atom.options else "")
            return None if values is None else Question(_subject(atom, owner), values)
        case ast.Name() | ast.Attribute() if atom.options:
            return Question(_subject(atom, node), FALSE_LIKE, inside=False)
    return None


@lru_cache(maxsize=8192)
def parsed(text: str) -> ast.expr | None:
    """A test as syntax; None where the text is no expression (shortened, or a sentence)."""
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return None


def _subject(atom: Atom, node: ast.expr) -> str:
    return atom.options[0] if atom.options else ast.unparse(node)


def _constant(node: ast.expr, words: Vocabulary) -> Values | None:
    match node:
        case ast.Constant(value=bool() | str() | int() | float() | None as value):
            return frozenset({value})
        case ast.Attribute():
            text = ast.unparse(node)
            found = words.members.get(text.removesuffix(".value"))
            return None if found is None else frozenset({found})
    return None


def _several(node: ast.expr, words: Vocabulary) -> Values | None:
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            parts = [_constant(item, words) for item in items]
            known = [part for part in parts if part is not None]
            return frozenset[Scalar]().union(*known) if len(known) == len(parts) else None
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return words.collections.get(name)
    return None
