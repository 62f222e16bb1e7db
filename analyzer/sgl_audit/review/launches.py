"""Somebody's launches under both trees, and the answer for all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sgl_audit.audit.modelless import resolve_without_model
from sgl_audit.evaluate.batch import resolve_many
from sgl_audit.evaluate.resolver import Resolver, has_model
from sgl_audit.model.kernels import HitState
from sgl_audit.model.progress import Progress
from sgl_audit.model.resolution import Launch, Outcome, Resolution
from sgl_audit.model.review import LaunchReview, LaunchVerdict, UpgradeVerdict
from sgl_audit.model.source import SourceTree
from sgl_audit.review.bench import Bench
from sgl_audit.review.edits import edited
from sgl_audit.review.ends import compare, end_of

# Up to so many launches each is traced, and lines are looked for; more are a survey.
CLOSELY = 60
NOT_LOADED = "what happens once loading starts is not known"


@dataclass(frozen=True, slots=True)
class Asked:
    """One launch as it was given. `program` is what stands before its arguments."""

    launch: Launch
    program: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One tree with what is read beside it. `kernels` is the kernel library that it pins."""

    tree: SourceTree
    libraries: tuple[SourceTree, ...] = ()
    kernels: SourceTree | None = None


def answers(
    side: Side,
    resolver: Resolver,
    asked: Sequence[Asked],
    jobs: int,
    progress: Progress | None,
) -> Iterator[Resolution]:
    """The launches under one tree, in order."""
    launches = tuple(item.launch for item in asked)
    if len(launches) > CLOSELY:
        many = resolve_many(side.tree, side.libraries, launches, jobs, progress)
        for launch, answer in zip(launches, many, strict=True):
            yield answer if has_model(launch) else _without_model(answer)
        return
    for done, launch in enumerate(launches, 1):
        if has_model(launch):
            yield resolver.resolve(launch, trace=True)
        else:
            yield resolve_without_model(side.tree, launch, libraries=side.libraries)
        if progress is not None:
            progress(done, len(launches))


def _without_model(answer: Resolution) -> Resolution:
    """What is left of an answer about a model that is not here: refusals by the parser alone."""
    refusal = answer.rejection
    if refusal is not None and refusal.type == "SystemExit":
        return answer
    return Resolution(
        answer.launch,
        Outcome.UNKNOWN,
        reason="the model is not at hand: give model_config",
        assumptions=answer.assumptions,
    )


def review_launches(
    asked: Sequence[Asked],
    old: Iterable[Resolution],
    new: Iterable[Resolution],
    bench: Bench,
) -> tuple[LaunchReview, ...]:
    """What the upgrade does to each launch."""
    names = {item.old: item.new for item in bench.renamed.values()}
    closely = len(asked) <= CLOSELY
    found = []
    for item, before, after in zip(asked, old, new, strict=True):
        compared = compare(before, after, names)
        review = LaunchReview(
            item.launch,
            compared.verdict,
            end_of(before),
            end_of(after),
            compared.changes,
            compared.gone,
            compared.added,
            compared.unknown,
            program=item.program,
            notes=(*item.notes, *_notes(after)),
        )
        review = _faults(review, after, bench)
        mend = compared.verdict in (LaunchVerdict.REFUSED, LaunchVerdict.CHANGES)
        if closely and mend and has_model(item.launch):
            review = replace(review, edit=edited(item.launch, before, after, bench))
        found.append(review)
    return tuple(found)


def _notes(after: Resolution) -> tuple[str, ...]:
    if after.rejection is None and after.late is None and not after.reason:
        return (f"{NOT_LOADED} under the new version", *after.notes)
    return after.notes


def _faults(review: LaunchReview, after: Resolution, bench: Bench) -> LaunchReview:
    """The review with known crashes and wrong results of values that only the new tree has."""
    sure: dict[str, str] = {}
    doubtful: dict[str, str] = {}
    for change in review.changes:
        for hit in bench.faults(after, change.name, change.after):
            said = sure if hit.state is HitState.APPLIES else doubtful
            text = f"{change.name} = {change.after}: {hit.advisory.title}"
            said.setdefault(hit.advisory.id, text)
    more = tuple(f"may meet a known fault: {text}" for text in doubtful.values())
    return replace(review, warnings=tuple(sure.values()), notes=(*review.notes, *more))


def verdict_of(launches: Sequence[LaunchReview]) -> UpgradeVerdict | None:
    """The answer for all launches; None where there are none."""
    if not launches:
        return None
    verdicts = {item.verdict for item in launches}
    if any(item.verdict is LaunchVerdict.REFUSED and item.edit is None for item in launches):
        return UpgradeVerdict.NOT_SAFE
    if LaunchVerdict.UNKNOWN in verdicts:
        return UpgradeVerdict.UNKNOWN
    if any(_differs(item) for item in launches):
        return UpgradeVerdict.DIFFERENT
    if any(item.edit is not None for item in launches):
        return UpgradeVerdict.WITH_FLAGS
    return UpgradeVerdict.SAFE


def _differs(review: LaunchReview) -> bool:
    if review.verdict not in (LaunchVerdict.CHANGES, LaunchVerdict.REFUSED):
        return False
    left = review.changes if review.edit is None else review.edit.left
    return any(not change.settled for change in left)
