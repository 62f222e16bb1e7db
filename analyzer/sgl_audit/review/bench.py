"""What launch lines are tried on: the new tree, and what is known of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sgl_audit.evaluate.resolver import Resolver
from sgl_audit.kernels.advisories import matching
from sgl_audit.model.facts import Facts
from sgl_audit.model.kernels import Advisory, AdvisoryHit, HitState, Outcome
from sgl_audit.model.resolution import Resolution
from sgl_audit.model.review import Rename
from sgl_audit.model.source import SourceInfo
from sgl_audit.review.models import known_facts
from sgl_audit.review.pins import pins_of


@dataclass(frozen=True, slots=True, eq=False)
class Bench:
    """What lines are tried on.

    Attributes:
        old: facts of the old tree, at least its options; `new` of the new one.
        renamed: by old name.
        advisories: known faults, which no line may be led into.
    """

    resolver: Resolver
    info: SourceInfo
    old: Facts
    new: Facts
    renamed: Mapping[str, Rename]
    advisories: tuple[Advisory, ...]

    def same_word(self, before: object, after: object) -> bool:
        """Whether two values differ just as two names of one option do: `nsa` and `dsa`."""
        pairs = {different_words(item.old, item.new) for item in self.renamed.values()}
        return (before, after) in pairs

    def aliases(self, value: object) -> frozenset[str]:
        """Options for which a value is only another name of a choice, which is on its way out."""
        lists = {
            item.name
            for item in self.new.choice_lists
            for choice in item.choices
            if choice.value == value and choice.note and "deprecat" in choice.note.lower()
        }
        return frozenset(o.name for o in self.new.options if o.choice_list in lists)

    def faults(self, answer: Resolution, option: str, value: object) -> list[AdvisoryHit]:
        """Known crashes and wrong results of a value in the new tree's versions.

        Args:
            answer: the launch it is a value of, whose other values say what applies.
        """
        hits = matching(
            self.advisories,
            option=option,
            value=value,
            capability=answer.launch.capability,
            pins=pins_of(self.info),
            sglang_version=self.info.distribution.version,
            facts=known_facts(answer),
        )
        bad = (Outcome.FAILS, Outcome.WRONG)
        return [h for h in hits if h.state is not HitState.OUTSIDE and h.outcome in bad]


def different_words(old: str, new: str) -> tuple[str, str]:
    """What is left of two names without the words they begin and end with alike."""
    before, after = old.split("_"), new.split("_")
    while before and after and before[0] == after[0]:
        before, after = before[1:], after[1:]
    while before and after and before[-1] == after[-1]:
        before, after = before[:-1], after[:-1]
    return "_".join(before), "_".join(after)
