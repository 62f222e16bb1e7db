"""Options that go on under another name, told by what the code does with them.

Similar spelling alone never makes a rename: either the old flag itself now belongs to the new
option, or both have the same choices and stand in like code, or they are described in the same
words with the same type and default.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from sgl_audit.model.facts import Facts, Option
from sgl_audit.model.review import Confidence, Rename
from sgl_audit.model.source import SourceTree
from sgl_audit.review.uses import likeness, uses_of, vectors

_FEW_CHOICES = 3
_SAME_CHOICES = 0.5
_LIKE_CODE = 0.2
_VERY_LIKE_CODE = 0.5
_SAME_WORDS = 0.95
_LIKE_WORDS = 0.6


@dataclass(frozen=True, slots=True)
class Likeness:
    """What speaks for one option being another: shares from 0 to 1, None where there is none."""

    code: float
    choices: float | None
    decided: float | None
    words: float
    same_default: bool

    @property
    def enough(self) -> bool:
        """Whether the code, not the spelling, makes them one option."""
        chosen = self.choices is not None and self.choices >= _SAME_CHOICES
        return (
            (chosen and self.code >= _LIKE_CODE)
            or (self.code >= _VERY_LIKE_CODE and self.words >= _LIKE_WORDS)
            or (self.words >= _SAME_WORDS and self.same_default)
        )

    @property
    def total(self) -> float:
        """For choosing among several."""
        return self.code + (self.choices or 0.0) + (self.decided or 0.0) + self.words

    def said(self) -> str:
        """What it rests on, for the reader."""
        parts = [f"{self.code:.0%} of the weighted words around its uses are the same"]
        if self.choices is not None:
            parts.append(f"{self.choices:.0%} of all choices are common")
        if self.words >= _SAME_WORDS:
            parts.append("it is described in the same words")
        return ", ".join(parts)


def renames(old: Facts, new: Facts, old_tree: SourceTree, new_tree: SourceTree) -> list[Rename]:
    """Options of the old tree that the new one has under another name, sorted by old name."""
    before = {option.name: option for option in old.options}
    after = {option.name: option for option in new.options}
    gone = [option for name, option in before.items() if name not in after and option.flags]
    found = list(_by_flag(gone, after))
    known = {item.old for item in found}
    taken = {item.new for item in found}
    left = [option for option in gone if option.name not in known]
    fresh = [option for name, option in after.items() if name not in before and name not in taken]
    found += _by_code(left, fresh, old, new, old_tree, new_tree)
    return sorted(found, key=lambda item: item.old)


def _by_flag(gone: list[Option], after: dict[str, Option]) -> Iterator[Rename]:
    owner = {flag.name: option.name for option in after.values() for flag in option.flags}
    for option in gone:
        kept = [flag.name for flag in option.flags if flag.name in owner]
        owners = {owner[flag] for flag in kept}
        if len(owners) == 1:
            evidence = f"{kept[0]} sets it in both versions"
            yield Rename(option.name, owners.pop(), Confidence.CERTAIN, evidence)


def _by_code(
    gone: list[Option],
    fresh: list[Option],
    old: Facts,
    new: Facts,
    old_tree: SourceTree,
    new_tree: SourceTree,
) -> Iterator[Rename]:
    before, after = vectors(
        (
            uses_of(old_tree, {option.name for option in gone}),
            uses_of(new_tree, {option.name for option in fresh}),
        )
    )
    decided_before, decided_after = _decided(old), _decided(new)
    scored = []
    for was in gone:
        for now in fresh:
            if was.type != now.type:
                continue
            alike = Likeness(
                likeness(before[was.name], after[now.name]),
                _shared_choices(was, now),
                _shared(decided_before.get(was.name), decided_after.get(now.name)),
                _same_words(was.help, now.help),
                was.default == now.default and was.default_known and now.default_known,
            )
            if alike.enough:
                scored.append((alike.total, was.name, now.name, alike))
    taken: set[str] = set()
    for _, was_name, now_name, alike in sorted(scored, key=lambda s: (-s[0], s[1], s[2])):
        if was_name not in taken and now_name not in taken:
            taken |= {was_name, now_name}
            yield Rename(was_name, now_name, Confidence.LIKELY, alike.said())


def _same_words(old: str | None, new: str | None) -> float:
    """How alike two descriptions are; 0 where they are too little alike to count."""
    matcher = SequenceMatcher(None, old or "", new or "")
    if not old or not new or matcher.real_quick_ratio() < _LIKE_WORDS:
        return 0.0
    return matcher.ratio() if matcher.quick_ratio() >= _LIKE_WORDS else 0.0


def _decided(facts: Facts) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for decision in facts.decisions:
        found.setdefault(decision.option, set()).add(decision.value)
    return found


def _shared_choices(was: Option, now: Option) -> float | None:
    if not was.choices or not now.choices or len(was.choices) < _FEW_CHOICES:
        return None
    return _shared({str(c) for c in was.choices}, {str(c) for c in now.choices})


def _shared(old: set[str] | None, new: set[str] | None) -> float | None:
    if not old or not new:
        return None
    return len(old & new) / len(old | new)
