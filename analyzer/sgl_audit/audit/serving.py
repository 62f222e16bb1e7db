"""What the families that people serve end up with in one audit, judged where few machines are
asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from sgl_audit.answers import AnswerStore, Trace, tree_key
from sgl_audit.audit.extent import JUDGED, LAUNCH_BUDGET
from sgl_audit.audit.families import Family, family_row, started_families
from sgl_audit.audit.verdicts.families import JudgedFamily, started_judging
from sgl_audit.audit.verdicts.knowledge import Knowledge
from sgl_audit.model.progress import Progress
from sgl_audit.model.report import Advice, FamilyRow
from sgl_audit.model.resolution import Resolution
from sgl_audit.model.source import SourceTree

# Quantizations worth a launch where there are too many families, the first ones first.
_WANTED = ("NVFP4", "MXFP4", "FP8", "modelopt FP8", None)


@dataclass(frozen=True, slots=True, eq=False)
class Asking:
    """What an audit asks of families: where, with what beside the tree, and how it is worked out.

    Attributes:
        cards: capability -> the card whose memory and name count there.
    """

    tree: SourceTree
    capabilities: tuple[str, ...]
    libraries: tuple[SourceTree, ...]
    assume: tuple[tuple[str, str], ...]
    knowledge: Knowledge
    cards: Mapping[str, str]
    jobs: int
    store: AnswerStore | None

    @property
    def judges(self) -> bool:
        """Whether families are followed and judged, which is much work."""
        return len(self.capabilities) <= JUDGED

    def parts(self, families: tuple[Family, ...]) -> tuple[object, ...]:
        """All that answers depend on besides the tree."""
        beside = tuple(tree_key(library) for library in self.libraries)
        known = self.knowledge.parts if self.judges else ()
        return (
            families, self.capabilities, self.assume, sorted(self.cards.items()), beside, known
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Answered:
    """The answers of all families, each on every capability."""

    resolutions: tuple[Resolution, ...]
    rows: tuple[FamilyRow, ...]
    advice: tuple[Advice, ...] = ()


Finish = Callable[[Progress | None], Answered]


def chosen_families(families: tuple[Family, ...], capabilities: int) -> tuple[Family, ...]:
    """Families within the budget, every shape before the next quantization of one."""
    keep = max(4, LAUNCH_BUDGET // max(capabilities, 1))
    if len(families) <= keep:
        return families
    ordered = sorted(
        families,
        key=lambda f: _WANTED.index(f.quantization) if f.quantization in _WANTED else len(_WANTED),
    )
    chosen = set(ordered[:keep])
    return tuple(family for family in families if family in chosen)


@contextmanager
def started(asking: Asking, families: tuple[Family, ...]) -> Iterator[Finish]:
    """Families that are worked on meanwhile, where there are processes for it."""
    if asking.judges:
        with _kept_or_begun(asking, "judged families", families, _judging) as finish:
            yield lambda progress: _judged(finish(progress))
    else:
        with _kept_or_begun(asking, "resolved families", families, _resolving) as finish:
            yield lambda progress: _resolved(finish(progress))


_Row = TypeVar("_Row")
Rows = Callable[[Progress | None], list[_Row]]
Begin = Callable[[Asking, SourceTree, tuple[Family, ...]], AbstractContextManager[Rows[_Row]]]


@contextmanager
def _kept_or_begun(
    asking: Asking, kind: str, families: tuple[Family, ...], begin: Begin[_Row]
) -> Iterator[Rows[_Row]]:
    parts = asking.parts(families)
    trace: Trace[list[_Row]] = Trace(asking.store, kind, parts, asking.tree, list)
    found = trace.found
    if found is not None:
        yield lambda progress: found
        return
    with begin(asking, trace.tree, families) as finish:
        yield lambda progress: trace.keep(finish(progress))


def _judging(
    asking: Asking, tree: SourceTree, families: tuple[Family, ...]
) -> AbstractContextManager[Rows[JudgedFamily]]:
    return started_judging(
        tree,
        families,
        asking.capabilities,
        replace(asking.knowledge, tree=tree),
        libraries=asking.libraries,
        assume=asking.assume,
        cards=asking.cards,
        jobs=asking.jobs,
    )


def _resolving(
    asking: Asking, tree: SourceTree, families: tuple[Family, ...]
) -> AbstractContextManager[Rows[tuple[Family, Resolution]]]:
    return started_families(
        tree,
        families,
        asking.capabilities,
        libraries=asking.libraries,
        assume=asking.assume,
        cards=asking.cards,
        jobs=asking.jobs,
    )


def _judged(found: list[JudgedFamily]) -> Answered:
    rows = (
        replace(family_row(item.family, item.resolution), verdicts=item.verdicts) for item in found
    )
    advice = tuple(item.advice for item in found)
    return Answered(tuple(item.resolution for item in found), tuple(rows), advice)


def _resolved(found: list[tuple[Family, Resolution]]) -> Answered:
    rows = tuple(family_row(family, answer) for family, answer in found)
    return Answered(tuple(answer for _, answer in found), rows)
