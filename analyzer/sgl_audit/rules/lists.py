"""Lists of values that functions keep in a local name and then test against."""

from __future__ import annotations

import ast
import re

from sgl_audit.model.facts import Scalar
from sgl_audit.model.guard import atoms
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.sources import syntax_of

_TESTED = re.compile(r" in ([a-z_]\w*)$")


def local_lists(context: RuleContext) -> dict[str, frozenset[Scalar]]:
    """Local names that options and refusals outside of layers use, where they are one literal."""
    return context.once(_local_lists)


def _local_lists(context: RuleContext) -> dict[str, frozenset[Scalar]]:
    known = {item.name for item in context.facts.choice_lists}
    wanted: dict[str, set[str]] = {}
    for option in context.facts.options:
        if option.choice_list and option.choices is None and option.choice_list not in known:
            wanted.setdefault(option.place.file, set()).add(option.choice_list)
    for rejection in context.facts.rejections:
        if "/layers/" in rejection.place.file or "/models/" in rejection.place.file:
            continue
        for atom in atoms(rejection.guard):
            match = _TESTED.search(atom.text)
            if match is not None:
                wanted.setdefault(rejection.place.file, set()).add(match[1])
    found: dict[str, set[frozenset[Scalar]]] = {}
    for file, names in sorted(wanted.items()):
        tree = syntax_of(context, file)
        for node in ast.walk(tree) if tree is not None else ():
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in names:
                    found.setdefault(name, set()).add(_literal(value))
    # A name that means different lists at different places is no list of its own.
    return {
        name: values
        for name, kinds in found.items()
        if len(kinds) == 1 and (values := next(iter(kinds)))
    }


def _literal(node: ast.expr) -> frozenset[Scalar]:
    """The values of a literal collection of texts; empty where it is something else."""
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            texts = [i.value for i in items if isinstance(i, ast.Constant)]
            if len(texts) == len(items) and all(isinstance(text, str) for text in texts):
                return frozenset(str(text) for text in texts)
    return frozenset()
