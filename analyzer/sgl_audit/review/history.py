"""One option from release to release: when each value, gate set and verdict changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from sgl_audit.errors import SglAuditError, SourceError
from sgl_audit.model.history import Aspect, Entry, Event, History, Release
from sgl_audit.review.snapshots import NOWHERE, Snapshot
from sgl_audit.source.releases import Found
from sgl_audit.version import __version__

NOT_ASKED = "not asked"
# What ends a launch or changes it first, what only the code asks last.
_ORDER = (
    Aspect.LAUNCH,
    Aspect.BECOMES,
    Aspect.DEFAULT,
    Aspect.CHOICES,
    Aspect.FLAGS,
    Aspect.GATE,
)
Take = Callable[[Found], Snapshot]


class Walk:
    """Reads as few releases as show where something changed."""

    def __init__(self, found: Sequence[Found], option: str, take: Take, *, every: bool) -> None:
        self.found = found
        self.option = option
        self.take = take
        self.every = every
        self.seen: dict[int, tuple[Entry, ...]] = {}
        self.problems: dict[int, str] = {}

    def run(self) -> None:
        """Read what is at hand and both ends, then what lies between two that differ."""
        last = len(self.found) - 1
        for index, item in enumerate(self.found):
            if self.every or item.here or index in (0, last):
                self.look(index)
        if not self.seen:
            raise SourceError(f"no release could be read: {next(iter(self.problems.values()))}")
        while self._between():
            pass

    def look(self, index: int) -> None:
        """Read one release; what cannot be read is remembered with its reason."""
        if index in self.seen or index in self.problems:
            return
        try:
            self.seen[index] = self.take(self.found[index]).get(self.option, ())
        except SglAuditError as error:
            self.problems[index] = str(error)

    def _between(self) -> bool:
        """Look between two neighbours that differ; False where nothing is left to look at."""
        order = sorted(self.seen)
        for left, right in pairwise(order):
            if self.seen[left] == self.seen[right]:
                continue
            open_ones = [i for i in range(left + 1, right) if i not in self.problems]
            if open_ones:
                self.look(open_ones[len(open_ones) // 2])
                return True
        return False


def history(
    found: Sequence[Found],
    option: str,
    capabilities: tuple[str, ...],
    take: Take,
    *,
    every: bool = False,
) -> History:
    """When something about an option changed.

    Args:
        take: reads one release.
        every: read each release; otherwise those between two equal ones are taken to be equal.

    Raises:
        SourceError: no release could be read.
    """
    walk = Walk(found, option, take, every=every)
    walk.run()
    order = sorted(walk.seen)
    events: list[Event] = []
    for left, right in pairwise(order):
        exact = right == left + 1
        names = found[left].version, found[right].version
        events += _events(walk.seen[left], walk.seen[right], *names, exact)
    return History(
        option,
        capabilities,
        __version__,
        tuple(
            Release(item.version, index in walk.seen, walk.problems.get(index, ""))
            for index, item in enumerate(found)
        ),
        walk.seen[order[0]],
        tuple(events),
    )


def _events(
    old: tuple[Entry, ...], new: tuple[Entry, ...], before: str, after: str, exact: bool
) -> list[Event]:
    if bool(old) != bool(new):
        words = ("absent", "present") if new else ("present", "absent")
        return [Event(before, after, exact, Aspect.FLAGS, "", (), *words)]
    was = {(e.aspect, e.name, e.capability): e.value for e in old}
    now = {(e.aspect, e.name, e.capability): e.value for e in new}
    grouped: dict[tuple[Aspect, str, str, str], list[str]] = {}
    for key in dict.fromkeys((*was, *now)):
        aspect, name, capability = key
        # Families and gates that only one release has are no change of what both have.
        if aspect in (Aspect.BECOMES, Aspect.LAUNCH) and not (key in was and key in now):
            continue
        values = was.get(key, NOT_ASKED), now.get(key, NOT_ASKED)
        if values[0] != values[1] and set(values) != {NOT_ASKED, NOWHERE}:
            grouped.setdefault((aspect, name, *values), []).append(capability)
    found = [
        Event(before, after, exact, aspect, name, tuple(c for c in where if c), old_value, value)
        for (aspect, name, old_value, value), where in grouped.items()
    ]
    return sorted(found, key=lambda event: _ORDER.index(event.aspect))
