"""The question of `sgl-audit history`, asked and answered."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import nullcontext

from sgl_audit.cli.choosing import (
    ArchValues,
    Opening,
    chosen_or_local,
    known_name,
    names_of,
    open_beside,
    open_tree,
)
from sgl_audit.cli.remembering import is_anew
from sgl_audit.cli.stderr import Feedback
from sgl_audit.errors import SglAuditError
from sgl_audit.model.history import History
from sgl_audit.review.history import history
from sgl_audit.review.launches import Side
from sgl_audit.review.snapshots import Snapshot, snapshot
from sgl_audit.source.releases import Found, releases_between
from sgl_audit.workers import begin_in, pool_of


def follow(
    text: str,
    option: str,
    archs: ArchValues,
    opening: Opening,
    every: bool,
    jobs: int,
    feedback: Feedback,
) -> History:
    """Follow one option over the releases of a range.

    Raises:
        UsageError: the range makes no sense, or no release has such an option.
        SourceError: no release can be read.
    """
    capabilities = names_of(chosen_or_local(archs, feedback))
    found = releases_between(
        text, offline=opening.offline, cache_dir=opening.cache_dir, notify=feedback.notify
    )
    reader = Reading(capabilities, opening, feedback)
    ends = [found[0], found[-1]]
    at_hand = [item for item in found if item.here or every or item in ends]
    with (
        tempfile.TemporaryDirectory(prefix="sgl-audit-") as folder,
        pool_of(jobs, begin_in, (folder,)) if jobs > 1 else nullcontext() as pool,
    ):
        reader.start(at_hand, pool)
        name = _known(option, reader, ends)
        return history(found, name, capabilities, reader.take, every=every)


def _known(option: str, reader: Reading, ends: Sequence[Found]) -> str:
    """The option as the newer or the older end names it."""
    names: set[str] = set()
    for end in reversed(ends):
        try:
            names |= reader.take(end).keys()
        except SglAuditError as error:
            reader.feedback.notify(str(error))
    return known_name(option, names, "backend option") if names else option


class Reading:
    """Reads releases, in worker processes where there are any, each once."""

    def __init__(self, capabilities: tuple[str, ...], opening: Opening, feedback: Feedback) -> None:
        self.opening = opening
        self.feedback = feedback
        self._waiting: dict[str, Future[Snapshot]] = {}
        self._done: dict[str, Snapshot] = {}
        self._progress = feedback.progress("reading releases")
        self._all = 0
        self._how = (capabilities, opening.cache_dir, is_anew())

    def start(self, found: Sequence[Found], pool: ProcessPoolExecutor | None) -> None:
        """Begin to read releases that will be needed."""
        self._all = len(found)
        for item in found if pool is not None else ():
            side = self._open(item)
            if side is not None and pool is not None:
                self._waiting[item.spec] = pool.submit(snapshot, side, *self._how)

    def _open(self, item: Found) -> Side | None:
        try:
            return self._side(item)
        except SglAuditError:
            # Said when it is its turn.
            return None

    def _side(self, item: Found) -> Side:
        tree = open_tree(item.spec, self.opening, self.feedback)
        libraries, missing = open_beside(tree, self.opening, self.feedback)
        for gap in missing:
            self.feedback.notify(f"{item.version}: {gap.message}")
        return Side(tree, libraries)

    def take(self, item: Found) -> Snapshot:
        """What one release holds."""
        if item.spec not in self._done:
            waiting = self._waiting.get(item.spec)
            if waiting is not None:
                made = waiting.result()
            else:
                made = snapshot(self._side(item), *self._how)
            self._done[item.spec] = made
            self._progress(len(self._done), max(self._all, len(self._done)))
        return self._done[item.spec]
