"""Tests that single models out, and whether two sets of them can be about one model."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sgl_audit.rules.atoms import THE_MODEL_IS, question_of, vocabulary
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.reach import FROM_MODEL, Reach, reach_of_one
from sgl_audit.rules.ways import Literal

ARCHITECTURE = re.compile(rf"\b(?:model_arch|architectures?|arch)\b|^{THE_MODEL_IS}")
_WORD = re.compile(r"[a-z0-9]+")


def specific(context: RuleContext, literal: Literal) -> bool:
    """Whether a test singles models out, rather than leaving some out."""
    atom, wanted = literal
    if reach_of_one(context, atom, wanted) is not Reach.MODEL:
        return False
    return wanted is not atom.text.endswith(" is None")


def related(context: RuleContext, chosen: Iterable[Literal], refusing: Iterable[Literal]) -> bool:
    """Whether nothing speaks against one model that passes both sets of tests.

    Where both single models out by different marks, nothing says that one model has both, so
    that counts against it; a mark that names the quantization the other side asks for does not.
    """
    ours, theirs = tuple(chosen), tuple(refusing)
    if _denied(context, ours, theirs) or _denied(context, theirs, ours):
        return False
    left = {literal for literal in ours if specific(context, literal)}
    right = {literal for literal in theirs if specific(context, literal)}
    if not left or not right or left & right:
        return True
    if _architectures(left) and _architectures(right):
        return False
    named = _values(context, left)
    return any(_names(literal, value) for value in named for literal in right)


def _denied(context: RuleContext, asking: Iterable[Literal], other: Iterable[Literal]) -> bool:
    """Whether one side asks for a quantization that the other names and excludes."""
    values = _values(context, asking)
    return len(values) == 1 and any(
        _names(literal, value) and not literal[1]
        for literal in other
        if question_of(literal[0], vocabulary(context)) is None
        for value in values
    )


def _architectures(literals: Iterable[Literal]) -> bool:
    """Whether models are singled out by architecture."""
    return any(ARCHITECTURE.search(atom.text) for atom, _ in literals)


def _values(context: RuleContext, literals: Iterable[Literal]) -> set[str]:
    """The quantizations and the like that tests ask for."""
    found: set[str] = set()
    for atom, wanted in literals:
        question = question_of(atom, vocabulary(context))
        if question is not None and question.subject in FROM_MODEL and question.inside is wanted:
            found |= {value for value in question.values if isinstance(value, str)}
    return found


def _names(literal: Literal, value: str) -> bool:
    """Whether a test's text has a value in it as whole words: `use_mxfp8` names `mxfp8`."""
    return f" {' '.join(_WORD.findall(value.lower()))} " in (
        f" {' '.join(_WORD.findall(literal[0].text.lower()))} "
    )
