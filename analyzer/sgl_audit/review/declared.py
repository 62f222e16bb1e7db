"""The declared options of a tree alone, where nothing else of its facts is needed."""

from __future__ import annotations

from sgl_audit.audit.facts import merge_options
from sgl_audit.evaluate.reading import Reader
from sgl_audit.model.facts import Facts
from sgl_audit.model.source import SourceTree


def declared_facts(tree: SourceTree) -> Facts:
    """Facts that hold the options and nothing else; places are not known."""
    options = merge_options((), Reader(tree).options(), tree)
    return Facts((), options, (), (), (), (), (), ())
