"""Places in layers that prepare for one value of an option on some capabilities only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sgl_audit.model.facts import Decision, DecisionKind
from sgl_audit.model.guard import AtomKind, Guard, atoms
from sgl_audit.model.source import Place
from sgl_audit.rules.atoms import asked_by, vocabulary
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.choosing import in_server
from sgl_audit.rules.options import options_by_name
from sgl_audit.rules.sources import data_of, syntax_of

Asked = tuple[str, str]
# An attribute that keeps the answer of `option.is_value()`; few files have one.
_KEPT = re.compile(rb"self\.\w+ = \w+(?:\(\))?\.is_\w+\(\)")


@dataclass(frozen=True, slots=True)
class Preparation:
    """A branch by capability inside which, and nowhere beside it, one value is asked for.

    Attributes:
        guard: when the branch is taken.
        place: of the branch; `asks`: of the question inside it.
    """

    option: str
    value: str
    guard: Guard
    place: Place
    asks: Place
    function: str
    line: str


def preparations(context: RuleContext) -> tuple[Preparation, ...]:
    """Every such branch of the server's layers."""
    return context.once(_preparations)


def _preparations(context: RuleContext) -> tuple[Preparation, ...]:
    branches: dict[str, dict[int, Decision]] = {}
    for decision in context.facts.decisions:
        by_machine = any(atom.kind is AtomKind.GATE for atom in atoms(decision.guard))
        dispatch = decision.kind is DecisionKind.DISPATCH and by_machine
        if dispatch and in_server(context, decision.place):
            branches.setdefault(decision.place.file, {})[decision.place.line] = decision
    found: list[Preparation] = []
    for file, lines in sorted(branches.items()):
        if not _KEPT.search(data_of(context, file)):
            continue
        tree = syntax_of(context, file)
        for node in tree.body if tree is not None else ():
            if isinstance(node, ast.ClassDef):
                found += _in_class(context, file, node, lines)
    return tuple(found)


def _in_class(
    context: RuleContext, file: str, node: ast.ClassDef, lines: dict[int, Decision]
) -> Iterator[Preparation]:
    asked = _asking_attributes(context, node)
    if not asked:
        return
    for method in node.body:
        if not isinstance(method, ast.FunctionDef):
            continue
        everywhere = list(_questions(method, asked))
        for branch in ast.walk(method):
            decision = lines.get(branch.lineno) if isinstance(branch, ast.If) else None
            if not isinstance(branch, ast.If) or decision is None:
                continue
            inside = [item for part in branch.body for item in _questions(part, asked)]
            if not everywhere:
                inside = _insisted(node, method, branch, asked)
            for what, question in inside:
                # Asked outside of the branch too, it is prepared for there as well.
                if sum(other == what for other, _ in everywhere) < 2:
                    yield Preparation(
                        *what,
                        decision.guard,
                        Place(file, branch.lineno, branch.col_offset),
                        Place(file, question.lineno, question.col_offset),
                        decision.function,
                        decision.excerpt,
                    )


def _insisted(
    node: ast.ClassDef, preparing: ast.FunctionDef, branch: ast.If, asked: dict[str, Asked]
) -> list[tuple[Asked, ast.Attribute]]:
    """Questions in other methods that assert something about what the branch prepares."""
    made = {
        target.id
        for item in ast.walk(branch)
        if isinstance(item, ast.Assign)
        for target in item.targets
        if isinstance(target, ast.Name)
    }
    found: list[tuple[Asked, ast.Attribute]] = []
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method is not preparing:
            for item in ast.walk(method):
                if isinstance(item, ast.If) and isinstance(item.body[0], ast.Assert):
                    tested = ast.walk(item.body[0].test)
                    if made & {name.id for name in tested if isinstance(name, ast.Name)}:
                        found += list(_questions(item, asked))[:1]
    return found


def _questions(node: ast.AST, asked: dict[str, Asked]) -> Iterator[tuple[Asked, ast.Attribute]]:
    for item in ast.walk(node):
        if isinstance(item, ast.If):
            match item.test:
                case ast.Attribute(value=ast.Name(id="self"), attr=name) as test if name in asked:
                    yield asked[name], test


def _asking_attributes(context: RuleContext, node: ast.ClassDef) -> dict[str, Asked]:
    """The attributes that hold whether an option has one value."""
    words, options = vocabulary(context), options_by_name(context)
    getters = {
        name: getter
        for item in ast.walk(node)
        if isinstance(item, ast.Assign)
        and (getter := _getter(item.value))
        and isinstance(item.targets[0], ast.Name)
        and (name := item.targets[0].id)
    }
    found: dict[str, Asked] = {}
    for item in ast.walk(node):
        match item:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)],
                value=ast.Call(func=ast.Attribute(value=owner, attr=predicate), args=[]),
            ):
                local = getters.get(owner.id) if isinstance(owner, ast.Name) else None
                option = _getter(owner) or local or ""
                value = next(iter(asked_by(words, predicate, option) or ()), None)
                if option in options and isinstance(value, str):
                    found[name] = option, value
    return found


def _getter(node: ast.expr) -> str | None:
    """The option that a call such as `get_moe_runner_backend()` gives."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[]):
            return name.removeprefix("get_") if name.startswith("get_") else None
    return None
