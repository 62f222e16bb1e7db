"""The Python API: open a source, read its facts, resolve launches, audit it, compare two."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sgl_audit.errors import SglAuditError
from sgl_audit.model.capability import ALL_CAPABILITIES
from sgl_audit.model.facts import Facts
from sgl_audit.model.progress import Progress
from sgl_audit.model.report import Audit
from sgl_audit.model.resolution import Launch, Resolution
from sgl_audit.model.review import Review
from sgl_audit.model.source import Diagnostic, SourceKind, SourceTree

if TYPE_CHECKING:
    from sgl_audit.answers import AnswerStore
    from sgl_audit.audit.verdicts.knowledge import Knowledge
    from sgl_audit.model.verdict import Recommendation
    from sgl_audit.review.launches import Asked, Side

Notify = Callable[[str], None]


def _stderr(text: str) -> None:
    print(text, file=sys.stderr)


def open_source(
    spec: str | None = None,
    *,
    offline: bool = False,
    cache_dir: Path | None = None,
    notify: Notify = _stderr,
) -> SourceTree:
    """Open a SGLang source: a checkout, wheel, PyPI spec, `DIR@REF`, or what is installed.

    Raises:
        SourceError: it cannot be opened or is no SGLang tree.
        UsageError: the spec makes no sense.
    """
    from sgl_audit.source import open_source as open_tree

    return open_tree(spec, offline=offline, cache_dir=cache_dir, notify=notify)


def open_libraries(
    tree: SourceTree,
    *,
    transformers: str | None = None,
    offline: bool = False,
    fetch: bool = False,
    cache_dir: Path | None = None,
    notify: Notify = _stderr,
) -> tuple[tuple[SourceTree, ...], tuple[Diagnostic, ...]]:
    """The sources read beside the tree: the transformers release that it pins, where at hand.

    Without it model configurations are what config.json says and nothing more; the diagnostic
    says so.

    Args:
        transformers: SOURCE of the transformers to read instead, or "none".
        fetch: get the pinned release for a local tree too, not only for one from PyPI.

    Raises:
        SglAuditError: the one asked for cannot be opened; only the pinned one may be missing.
    """
    from sgl_audit.source import Wanted, open_pinned
    from sgl_audit.source import open_source as open_tree

    if transformers == "none":
        return (), (Diagnostic("transformers is not read, as asked"),)
    if transformers is not None:
        try:
            library = open_tree(
                transformers,
                offline=offline,
                cache_dir=cache_dir,
                package="transformers",
                distribution="transformers",
                notify=notify,
            )
        except SglAuditError as error:
            raise type(error)(f"--transformers: {error}") from error
        return (library,), ()
    if tree.info.kind is SourceKind.DEMO:
        # It brings along what it needs, so that a first look needs no network.
        return (), ()
    pin = tree.info.distribution.pin("transformers")
    if pin is None:
        return (), (Diagnostic("transformers is not read: the distribution pins no version"),)
    try:
        library = open_pinned(
            tree.info,
            Wanted("transformers", "transformers"),
            pin,
            lost="what a config.json leaves to the defaults of its class",
            fetch=fetch,
            offline=offline,
            cache_dir=cache_dir,
            notify=notify,
        )
    except SglAuditError as error:
        return (), (
            Diagnostic(f"transformers is not read, defaults of its classes are missing: {error}"),
        )
    return (library,), ()


def resolve(
    tree: SourceTree,
    launch: Launch,
    *,
    libraries: Iterable[SourceTree] = (),
    every: bool = False,
) -> Resolution:
    """What one launch ends up with, each value with its trace.

    Where the model is not at hand the answer is what holds for any model, and cases for kinds of
    models.

    Args:
        libraries: from `open_libraries`.
        every: give every server argument, not only those that concern backends.
    """
    from sgl_audit.evaluate.resolver import Resolver, has_model

    if not has_model(launch):
        from sgl_audit.audit.modelless import resolve_without_model

        return resolve_without_model(tree, launch, libraries=tuple(libraries), every=every)
    return Resolver(tree, libraries).resolve(launch, trace=True, every=every)


def resolve_batch(
    tree: SourceTree,
    launches: Iterable[Launch],
    *,
    libraries: Iterable[SourceTree] = (),
    jobs: int = 1,
    progress: Progress | None = None,
) -> Iterator[Resolution]:
    """Resolve many launches, in order, with worker processes where `jobs` > 1."""
    from sgl_audit.evaluate.batch import resolve_many

    yield from resolve_many(tree, tuple(libraries), tuple(launches), jobs, progress)


def facts(
    tree: SourceTree,
    *,
    capabilities: tuple[str, ...] = ALL_CAPABILITIES,
    jobs: int = 1,
    progress: Progress | None = None,
    store: AnswerStore | None = None,
) -> Facts:
    """Everything read from one tree, values evaluated, each with its place.

    Args:
        store: as for `audit`.
    """
    from sgl_audit.audit.facts import read_facts

    return read_facts(tree, capabilities=capabilities, jobs=jobs, progress=progress, store=store)


def open_knowledge(
    tree: SourceTree,
    *,
    flashinfer: str | None = None,
    advisories: Path | None = None,
    binaries: Iterable[Path] = (),
    assume: tuple[tuple[str, str], ...] = (),
    offline: bool = False,
    fetch: bool = False,
    cache_dir: Path | None = None,
    notify: Notify = _stderr,
) -> Knowledge:
    """What verdicts rest on besides the tree: FlashInfer's source, advisories, binaries.

    Args:
        flashinfer: a SOURCE of FlashInfer, or "none"; by default the release that the tree pins.
        fetch: get that release for a local tree too, not only for one from PyPI.

    Raises:
        UsageError: `advisories` is no folder, or a binary cannot be read.
    """
    from sgl_audit.audit.verdicts.opening import open_knowledge as opened

    if tree.info.kind is SourceKind.DEMO and flashinfer is None:
        flashinfer = "none"
    return opened(
        tree,
        flashinfer=flashinfer,
        advisories=advisories,
        binaries=tuple(binaries),
        assume=assume,
        offline=offline,
        fetch=fetch,
        cache_dir=cache_dir,
        notify=notify,
    )


def recommend(
    tree: SourceTree,
    launches: Iterable[Launch],
    knowledge: Knowledge,
    *,
    libraries: Iterable[SourceTree] = (),
    progress: Progress | None = None,
) -> list[Recommendation]:
    """The flags to add to each launch so that it works; each proposal is resolved first."""
    from sgl_audit.audit.verdicts.recommend import Adviser
    from sgl_audit.evaluate.resolver import Resolver

    adviser = Adviser(Resolver(tree, libraries), knowledge)
    asked = tuple(launches)
    found = []
    for launch in asked:
        found.append(adviser.recommend(launch))
        if progress is not None:
            progress(len(found), len(asked))
    return found


def audit(
    tree: SourceTree,
    *,
    capabilities: tuple[str, ...] = ALL_CAPABILITIES,
    libraries: Iterable[SourceTree] = (),
    assume: tuple[tuple[str, str], ...] = (),
    jobs: int = 1,
    progress: Progress | None = None,
    knowledge: Knowledge | None = None,
    cards: Mapping[str, str] | None = None,
    store: AnswerStore | None = None,
) -> Audit:
    """The whole audit: facts, behaviours, families, findings.

    Args:
        cards: capability -> the card whose memory and name count there ("rtx-5090").
        knowledge: from `open_knowledge`; without it verdicts rest on advisories and the tree only.
        store: where parts of the answer are kept, each for as long as its files stay the same.
    """
    from sgl_audit.audit.run import run_audit

    return run_audit(
        tree,
        capabilities=capabilities,
        libraries=tuple(libraries),
        assume=assume,
        jobs=jobs,
        progress=progress,
        knowledge=knowledge,
        cards=cards,
        store=store,
    )


def review(
    old: Side,
    new: Side,
    *,
    capabilities: tuple[str, ...],
    launches: Sequence[Asked] = (),
    trees: bool = True,
    assume: tuple[tuple[str, str], ...] = (),
    jobs: int = 1,
    progress: Progress | None = None,
    store: AnswerStore | None = None,
) -> Review:
    """What changes from one tree to another, in order of harm.

    Args:
        old: `review.launches.Side`: a tree with the libraries read beside it.
        launches: somebody's own, resolved under both.
        trees: False to compare the launches only.
        store: as for `audit`.
    """
    from sgl_audit.review.run import run_review

    return run_review(
        old,
        new,
        capabilities=capabilities,
        launches=launches,
        trees=trees,
        assume=assume,
        jobs=jobs,
        progress=progress,
        store=store,
    )
