"""The question of `sgl-audit diff`, asked and answered."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sgl_audit import api
from sgl_audit.cli.choosing import (
    ArchValues,
    Opening,
    chosen,
    chosen_or_local,
    known_name,
    names_of,
    open_beside,
    open_tree,
)
from sgl_audit.cli.launching import Assumptions
from sgl_audit.cli.remembering import of_launches, of_trees, once, store_of
from sgl_audit.cli.stderr import Feedback
from sgl_audit.cli.team import read_team
from sgl_audit.errors import EXIT_CLEAN, EXIT_FINDINGS, EXIT_INCOMPLETE, UsageError
from sgl_audit.model.review import ChangeKind, LaunchVerdict, Review
from sgl_audit.model.source import SourceTree
from sgl_audit.review.launches import Asked, Side
from sgl_audit.source import open_source

_PACKAGE, _DISTRIBUTION = "flashinfer", "flashinfer-python"
_HARM = (ChangeKind.BREAKING, ChangeKind.BEHAVIOUR)


@dataclass(frozen=True, slots=True)
class Question:
    """What is compared.

    Attributes:
        launches: files with somebody's launches.
        trees: False to compare the launches only.
        kernels: whether to compare what the pinned FlashInfer releases require, too.
    """

    old: str
    new: str
    archs: ArchValues
    launches: tuple[Path, ...]
    trees: bool
    assume: Assumptions
    jobs: int
    kernels: bool = False


def make_review(question: Question, opening: Opening, feedback: Feedback) -> Review:
    """Open both sources and compare them.

    Raises:
        UsageError: there is nothing to compare.
    """
    if not question.trees and not question.launches:
        raise UsageError("--launches-only needs --launches FILE with the launches to compare")
    with tempfile.TemporaryDirectory(prefix="sgl-audit-") as folder:
        pairs = chosen(question.archs)
        if question.trees and not pairs:
            pairs = chosen_or_local((), feedback)
        asked: tuple[Asked, ...] = ()
        for number, file in enumerate(question.launches):
            models = Path(folder) / str(number)
            models.mkdir()
            asked += read_team(file, pairs, question.assume, models)
        old, new = (
            _side(spec, opening, feedback, kernels=question.kernels)
            for spec in (question.old, question.new)
        )
        names = names_of(pairs) or tuple(dict.fromkeys(item.launch.capability for item in asked))
        about = of_launches([item.launch for item in asked])
        return once(
            "review",
            about
            and (
                *about,
                [(item.program, item.notes) for item in asked],
                *_read(old),
                *_read(new),
                names,
                question.trees,
                question.assume,
            ),
            opening.cache_dir,
            Review,
            lambda: api.review(
                old,
                new,
                capabilities=names,
                launches=asked,
                trees=question.trees,
                assume=question.assume,
                jobs=question.jobs,
                progress=feedback.progress("comparing"),
                store=store_of(opening.cache_dir),
            ),
        )


def _read(side: Side) -> tuple[object, ...]:
    return (*of_trees(side.tree, *side.libraries, side.kernels), len(side.libraries))


def _side(spec: str, opening: Opening, feedback: Feedback, *, kernels: bool) -> Side:
    tree = open_tree(spec, opening, feedback)
    libraries, missing = open_beside(tree, opening, feedback)
    for gap in missing:
        feedback.notify(f"{tree.info.label}: {gap.message}")
    return Side(tree, libraries, _flashinfer(tree, opening, feedback) if kernels else None)


def _flashinfer(tree: SourceTree, opening: Opening, feedback: Feedback) -> SourceTree | None:
    version = tree.info.distribution.pin(_DISTRIBUTION, _PACKAGE)
    if version is None:
        feedback.notify(f"{tree.info.label} pins no FlashInfer: kernels are not compared")
        return None
    return open_source(
        f"{_DISTRIBUTION}=={version}",
        offline=opening.offline,
        cache_dir=opening.cache_dir,
        package=_PACKAGE,
        distribution=_DISTRIBUTION,
        notify=feedback.notify,
    )


def only(review: Review, options: Sequence[str]) -> Review:
    """The review of some options.

    Raises:
        UsageError: nothing that changed has that name.
    """
    known = {change.option for change in review.changes if change.option}
    known |= {name for row in review.families for name, _, _ in row.values}
    names = {known_name(name, known, "option that changed") for name in options}
    return replace(
        review,
        changes=tuple(change for change in review.changes if change.option in names),
        families=tuple(
            replace(row, values=tuple(value for value in row.values if value[0] in names))
            for row in review.families
        ),
    )


def exit_code(review: Review, fail_on: str) -> int:
    """1 where a change is at least as bad as `fail_on`, 3 where part could not be compared.

    With launches given they decide: what the trees change is harm only where a launch meets it.
    """
    if fail_on in tuple(ChangeKind):
        bad = _HARM[: _HARM.index(ChangeKind(fail_on)) + 1]
        if _harm(review) & set(bad):
            return EXIT_FINDINGS
    unknown = any(item.verdict is LaunchVerdict.UNKNOWN for item in review.launches)
    return EXIT_INCOMPLETE if review.uncompared or unknown else EXIT_CLEAN


def _harm(review: Review) -> set[ChangeKind]:
    if not review.launches:
        return {change.kind for change in review.changes}
    kinds = set()
    for item in review.launches:
        if item.verdict is LaunchVerdict.REFUSED:
            kinds.add(ChangeKind.BREAKING)
        if item.verdict is LaunchVerdict.CHANGES:
            kinds.add(ChangeKind.BEHAVIOUR)
    return kinds
