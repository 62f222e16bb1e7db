"""How often a tree speaks of a choice, besides declaring it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from sgl_audit.audit.places import bytes_of, in_server
from sgl_audit.model.facts import Facts
from sgl_audit.model.source import SourceTree

_QUOTED = re.compile(rb"""["']([A-Za-z0-9_.+-]{2,40})["']""")
# Arguments that declare an option: what they quote says nothing of what is done with it.
_DECLARING = frozenset({"choices", "default", "help", "metavar"})


def count_mentions(
    tree: SourceTree, facts: Facts, modules: Mapping[str, ast.Module]
) -> dict[str, int]:
    """How often the server speaks of each choice outside declarations."""
    used = {option.choice_list for option in facts.options}
    declaring = {option.place.file for option in facts.options}
    declaring |= {item.place.file for item in facts.choice_lists if item.name in used}
    found = {
        value: 0
        for option in facts.options
        for value in option.choices or ()
        if isinstance(value, str)
    }
    for file in tree.files():
        if file in declaring and file in modules:
            words: Iterator[str] = _spoken(modules[file])
        elif in_server(file):
            words = (word.decode() for word in _QUOTED.findall(bytes_of(tree, file)))
        else:
            continue
        for word in words:
            if word in found:
                found[word] += 1
    return dict(sorted(found.items()))


def _spoken(module: ast.Module) -> Iterator[str]:
    """The words that functions of a declaring file quote, declarations left out."""
    for node in module.body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        for item in inner:
            if not isinstance(item, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)):
                yield from _words(item)


def _words(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.keyword) and node.arg in _DECLARING:
        return
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node.value
        return
    for child in ast.iter_child_nodes(node):
        yield from _words(child)
