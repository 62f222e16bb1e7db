"""One review of an upgrade: two trees, and what lies between them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sgl_audit.answers import AnswerStore
from sgl_audit.audit.families import served_families
from sgl_audit.audit.run import run_audit
from sgl_audit.evaluate.resolver import Resolver
from sgl_audit.kernels.advisories import load_advisories
from sgl_audit.model.facts import Facts
from sgl_audit.model.kernels import Advisory
from sgl_audit.model.progress import Progress
from sgl_audit.model.report import Audit, FamilyRow
from sgl_audit.model.review import Change, FamilyChange, LaunchReview, Rename, Review
from sgl_audit.review.architectures import architecture_changes, decided
from sgl_audit.review.bench import Bench
from sgl_audit.review.declared import declared_facts
from sgl_audit.review.families import changes_of, family_changes
from sgl_audit.review.findings import finding_changes
from sgl_audit.review.kernels import kernel_changes
from sgl_audit.review.kinds import ordered
from sgl_audit.review.known_faults import advisory_changes
from sgl_audit.review.launches import Asked, Side, answers, review_launches, verdict_of
from sgl_audit.review.machine import environment_changes, gate_changes
from sgl_audit.review.options import option_changes
from sgl_audit.review.pins import pin_changes
from sgl_audit.review.renames import renames
from sgl_audit.review.served import needed_flags, rows_with
from sgl_audit.review.unread import believable
from sgl_audit.review.values import value_changes
from sgl_audit.source.key import content_key
from sgl_audit.version import __version__
from sgl_audit.workers import at_work, begin_in

Assume = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """The two trees with what is made of them once."""

    old: Side
    new: Side
    capabilities: tuple[str, ...]
    assume: Assume
    jobs: int
    progress: Progress | None
    before: Resolver
    after: Resolver
    store: AnswerStore | None = None
    advisories: tuple[Advisory, ...] = field(default_factory=lambda: load_advisories(None)[0])

    def launches(
        self, asked: Sequence[Asked], old: Facts, new: Facts, found: list[Rename]
    ) -> tuple[LaunchReview, ...]:
        """The launches under both trees."""
        if not asked:
            return ()
        renamed = {item.old: item for item in found}
        info = self.new.tree.info
        bench = Bench(self.after, info, old, new, renamed, self.advisories)
        before = list(answers(self.old, self.before, asked, self.jobs, None))
        after = list(answers(self.new, self.after, asked, self.jobs, self.progress))
        return review_launches(asked, before, after, bench)


def run_review(
    old: Side,
    new: Side,
    *,
    capabilities: tuple[str, ...],
    launches: Sequence[Asked] = (),
    trees: bool = True,
    assume: Assume = (),
    jobs: int = 1,
    progress: Progress | None = None,
    store: AnswerStore | None = None,
) -> Review:
    """What changes from one tree to another.

    Args:
        launches: somebody's own, resolved under both.
        trees: False to compare the launches only, which costs much less.
        store: where parts of earlier audits are kept, to begin from.
    """
    before = Resolver(old.tree, old.libraries)
    after = Resolver(new.tree, new.libraries)
    work = Work(old, new, capabilities, assume, jobs, progress, before, after, store)
    if content_key(old.tree) == content_key(new.tree):
        return _launches_only(work, launches, same=True)
    if not trees:
        return _launches_only(work, launches, same=False)
    return _whole(work, launches)


def _launches_only(work: Work, asked: Sequence[Asked], *, same: bool) -> Review:
    old, new = work.old.tree, work.new.tree
    found: list[Rename] = []
    reviews: tuple[LaunchReview, ...] = ()
    if asked:
        declared = declared_facts(old), declared_facts(new)
        found = [] if same else renames(*declared, old, new)
        reviews = work.launches(asked, *declared, found)
    return Review(
        old.info,
        new.info,
        __version__,
        work.capabilities,
        same=same,
        trees=False,
        renames=tuple(found),
        launches=reviews,
        verdict=verdict_of(reviews),
    )


def _whole(work: Work, asked: Sequence[Asked]) -> Review:
    old, new = audits(work)
    found = renames(old.facts, new.facts, work.old.tree, work.new.tree)
    renamed = {item.old: item for item in found}
    families, changes = _families(work, old, new, renamed)
    changes += _differences(work, old, new, renamed)
    chosen = frozenset(name for row in (*old.families, *new.families) for name, _ in row.values)
    kept, uncompared = believable(changes, old.facts, new.facts)
    reviews = work.launches(asked, old.facts, new.facts, found)
    return Review(
        work.old.tree.info,
        work.new.tree.info,
        __version__,
        work.capabilities,
        changes=ordered(kept, chosen),
        families=tuple(families),
        renames=tuple(found),
        launches=reviews,
        verdict=verdict_of(reviews),
        assumptions=new.assumptions,
        uncompared=uncompared,
    )


def audits(work: Work) -> tuple[Audit, Audit]:
    """Both audits; side by side where there are processes for it."""
    if work.jobs <= 1:
        return _audit(work.old, work, 1), _audit(work.new, work, 1, work.progress)
    jobs = max(1, work.jobs // 2)
    asked = (work.old, work.capabilities, work.assume, jobs, work.store)
    with (
        tempfile.TemporaryDirectory(prefix="sgl-audit-") as folder,
        at_work(_audit_alone, [asked], begin=begin_in, given=(folder,)) as results,
    ):
        new = _audit(work.new, work, jobs, work.progress)
        return next(results), new


def _audit(side: Side, work: Work, jobs: int, progress: Progress | None = None) -> Audit:
    return run_audit(
        side.tree,
        capabilities=work.capabilities,
        libraries=side.libraries,
        assume=work.assume,
        jobs=jobs,
        progress=progress,
        store=work.store,
    )


def _audit_alone(
    asked: tuple[Side, tuple[str, ...], Assume, int, AnswerStore | None],
) -> Audit:
    side, capabilities, assume, jobs, store = asked
    return run_audit(
        side.tree,
        capabilities=capabilities,
        libraries=side.libraries,
        assume=assume,
        jobs=jobs,
        store=store,
    )


def _differences(
    work: Work, old: Audit, new: Audit, renamed: dict[str, Rename]
) -> Iterator[Change]:
    yield from option_changes(old.facts, new.facts, renamed)
    yield from value_changes(old, new, renamed)
    yield from _architectures(work, old, new, renamed)
    yield from gate_changes(old.facts, new.facts, work.capabilities)
    yield from environment_changes(old.facts, new.facts)
    yield from finding_changes(old, new)
    yield from pin_changes(old.source, new.source)
    if work.old.kernels is not None and work.new.kernels is not None:
        yield from kernel_changes(work.old.kernels, work.new.kernels, work.capabilities)
    yield from advisory_changes(
        work.advisories, old.source, new.source, new.facts, new.families, work.capabilities
    )


def _architectures(
    work: Work, old: Audit, new: Audit, renamed: dict[str, Rename]
) -> Iterator[Change]:
    before = decided(work.old.tree, old.facts, work.capabilities)
    after = decided(work.new.tree, new.facts, work.capabilities)
    resolved = frozenset(row.architecture for row in new.families)
    return architecture_changes(before, after, renamed, resolved)


def _families(
    work: Work, old: Audit, new: Audit, renamed: dict[str, Rename]
) -> tuple[list[FamilyChange], list[Change]]:
    """Families with nothing set, and with the flags that the old tree needed."""
    heirs = {item.old: item.new for item in renamed.values()}
    before = {heirs.get(option.name, option.name) for option in old.facts.options}
    options = frozenset(before & {option.name for option in new.facts.options})
    rows = family_changes(old.families, new.families, renamed, options)
    rows += _as_served(work, old, renamed, options)
    many = len({row.family for row in rows})
    return rows, list(changes_of(rows, many))


def _as_served(
    work: Work, old: Audit, renamed: dict[str, Rename], options: frozenset[str]
) -> list[FamilyChange]:
    needed = needed_flags(old)
    if not needed:
        return []
    families = served_families(work.old.tree, old.facts)
    was = rows_with(work.before, families, needed, work.assume)
    now: dict[tuple[str, ...], list[FamilyRow]] = rows_with(
        work.after, families, needed, work.assume
    )
    found: list[FamilyChange] = []
    for flags, rows in was.items():
        found += family_changes(rows, now.get(flags, ()), renamed, options, flags)
    return found
