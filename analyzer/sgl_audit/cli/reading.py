"""A tree and its facts, for the commands that need no more."""

from __future__ import annotations

from pathlib import Path

from sgl_audit import api
from sgl_audit.cli.choosing import ArchValues, Opening, chosen, names_of, open_tree
from sgl_audit.cli.remembering import of_trees, once, store_of
from sgl_audit.cli.stderr import Feedback
from sgl_audit.cli.unread import tell_unread
from sgl_audit.model.capability import ALL_CAPABILITIES
from sgl_audit.model.facts import Facts
from sgl_audit.model.source import SourceTree


def read(
    source: str | None, archs: ArchValues, opening: Opening, jobs: int, feedback: Feedback
) -> tuple[SourceTree, Facts]:
    """Open the source and read its facts, for every capability where none is named."""
    tree = open_tree(source, opening, feedback)
    return tree, read_facts(tree, archs, opening.cache_dir, jobs, feedback)


def read_facts(
    tree: SourceTree, archs: ArchValues, cache_dir: Path | None, jobs: int, feedback: Feedback
) -> Facts:
    """The facts of an open tree."""
    names = names_of(chosen(archs)) or ALL_CAPABILITIES
    facts = once(
        "facts",
        (*of_trees(tree), names),
        cache_dir,
        Facts,
        lambda: api.facts(
            tree,
            capabilities=names,
            jobs=jobs,
            progress=feedback.progress("reading"),
            store=store_of(cache_dir),
        ),
    )
    tell_unread(facts.diagnostics, feedback)
    return facts
