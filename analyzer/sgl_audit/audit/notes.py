"""What cells, behaviours and `why` need of a tree beside its facts.

Facts hold the guard of a place inside its function. Whether the function runs at all, what a
predicate of an enum says, and whether the tree speaks of a value anywhere is read here, once.
"""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass, field

from sgl_audit.audit.calls import CallMap, otherwise
from sgl_audit.audit.contexts import Contexts
from sgl_audit.audit.mentions import count_mentions
from sgl_audit.audit.places import bytes_of, makes_kernel, parsed_file, resolves_arguments
from sgl_audit.audit.predicates import read_predicates
from sgl_audit.audit.switches import Switched, read_switches
from sgl_audit.audit.vocabulary import Predicates
from sgl_audit.model.facts import Decision, DecisionKind, Facts, Rejection
from sgl_audit.model.guard import Atom, AtomKind, Guard
from sgl_audit.model.source import SourceTree


@dataclass(frozen=True, slots=True, eq=False)
class TreeNotes:
    """Notes on one tree.

    Attributes:
        contexts: (file, function) -> the condition under which the function runs.
        predicates: what predicates of backend enums hold for.
        mentions: how often each quoted word stands in the server, outside the files that
            declare options and choices; None where that was not read.
        complete: (file, function) -> whether its tests of a backend end in an `else`.
        switched: methods that act on switches of a backend option and on nothing else.
    """

    contexts: dict[tuple[str, str], Guard] = field(default_factory=dict)
    predicates: Predicates = field(default_factory=dict)
    mentions: dict[str, int] | None = None
    complete: dict[tuple[str, str], bool] = field(default_factory=dict)
    switched: tuple[Switched, ...] = ()

    def context(self, file: str, function: str) -> Guard:
        """The condition under which a function runs, opaque where it was not read."""
        found = self.contexts.get((file, function))
        return Atom(AtomKind.OPAQUE, f"{function} runs") if found is None else found


def read_notes(tree: SourceTree, facts: Facts) -> TreeNotes:
    """Read the notes of a tree."""
    calls = CallMap()
    modules: dict[str, ast.Module] = {}
    for file in tree.files():
        if resolves_arguments(file):
            module = parsed_file(tree, file)
            if module is not None:
                modules[file] = module
                calls.read(file, module)
    contexts = Contexts(calls, facts)
    items: tuple[Decision | Rejection, ...] = (*facts.decisions, *facts.rejections)
    wanted = {(i.place.file, i.function) for i in items if i.place.file in modules}
    return TreeNotes(
        {key: contexts.guard(*key) for key in sorted(wanted)},
        read_predicates(tree, facts, modules),
        count_mentions(tree, facts, modules),
        read_complete(tree, facts),
        read_switches(tree, facts),
    )


def read_complete(tree: SourceTree, facts: Facts) -> dict[tuple[str, str], bool]:
    """Whether functions of layers that pick a backend have a branch for every other one."""
    undecided = {option.name for option in facts.options if option.default == "auto"}
    lines: dict[tuple[str, str], set[int]] = {}
    for item in facts.decisions:
        picks = item.kind is DecisionKind.DISPATCH and item.option in undecided
        if picks and "/layers/" in item.place.file and makes_kernel(item.function):
            lines.setdefault((item.place.file, item.function), set()).add(item.place.line)
    found: dict[tuple[str, str], bool] = {}
    for (file, function), asked in sorted(lines.items()):
        segment = function_at(bytes_of(tree, file), function, min(asked))
        if segment is not None:
            node, first = segment
            found[file, function] = otherwise(node, {line - first for line in asked})
    return found


def function_at(data: bytes, function: str, line: int) -> tuple[ast.Module, int] | None:
    """One function as syntax, and how far its lines are shifted; None where it is not found.

    Only the function is parsed: the files of layers are long, and one function of each is asked.
    """
    lines = data.decode(errors="replace").splitlines()
    start = re.compile(rf"(\s*)(?:async )?def {re.escape(function.rpartition('.')[2])}\b")
    for first in range(min(line, len(lines)) - 1, -1, -1):
        head = start.match(lines[first])
        if head is not None:
            break
    else:
        return None
    indent = len(head.group(1))
    body = [lines[first]]
    for text in lines[first + 1 :]:
        plain = text.strip()
        if plain and len(text) - len(text.lstrip()) <= indent and not plain.startswith((")", "#")):
            break
        body.append(text)
    try:
        return ast.parse(textwrap.dedent("\n".join(body))), first
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


NO_NOTES = TreeNotes()
