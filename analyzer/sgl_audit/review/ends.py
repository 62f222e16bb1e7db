"""Two resolutions of one launch compared, value by value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sgl_audit.model.resolution import Outcome, Refusal, Resolution, ResolvedValue
from sgl_audit.model.review import (
    LaunchEnd,
    LaunchVerdict,
    LoneValue,
    OpenValue,
    ValueChange,
)

GROUPS = ("options", "runtime")
Renamed = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Compared:
    """What differs between two resolutions of one launch."""

    verdict: LaunchVerdict
    changes: tuple[ValueChange, ...]
    gone: tuple[LoneValue, ...]
    added: tuple[LoneValue, ...]
    unknown: tuple[OpenValue, ...]


def compare(old: Resolution, new: Resolution, renamed: Renamed) -> Compared:
    """Compare two resolutions of one launch.

    Values are compared only where both launches got so far; a launch that is refused at start
    has none.

    Args:
        renamed: old option name -> new option name.
    """
    pairs = list(_pairs(old, new, renamed)) if started(old) and started(new) else []
    changes = tuple(_changes(pairs))
    unknown = tuple(_unknown(pairs))
    return Compared(
        verdict_of(old, new, changes, unknown),
        changes,
        tuple(_gone(pairs)),
        tuple(_added(pairs)),
        unknown,
    )


def end_of(resolution: Resolution) -> LaunchEnd:
    """How a launch ended."""
    late = resolution.late if resolution.outcome is Outcome.OK else None
    return LaunchEnd(resolution.outcome, resolution.rejection, late, resolution.reason or "")


def refusal_of(end: LaunchEnd) -> Refusal | None:
    """The first refusal that is certain, at start or once loading starts."""
    if end.refusal is not None:
        return end.refusal
    return end.late[0] if end.late else None


def started(resolution: Resolution) -> bool:
    """Whether the launch got past the resolution of its arguments."""
    return resolution.outcome is not Outcome.REJECTED


def verdict_of(
    old: Resolution,
    new: Resolution,
    changes: tuple[ValueChange, ...],
    unknown: tuple[OpenValue, ...],
) -> LaunchVerdict:
    """What the upgrade does to the launch, worst statement that is certain first."""
    before, after = end_of(old), end_of(new)
    refused_before, refused_after = refusal_of(before), refusal_of(after)
    if refused_after is not None:
        if refused_before is not None:
            return LaunchVerdict.BOTH_REFUSED
        return LaunchVerdict.REFUSED if old.outcome is Outcome.OK else LaunchVerdict.UNKNOWN
    if new.outcome is Outcome.UNKNOWN or old.outcome is Outcome.UNKNOWN:
        return LaunchVerdict.UNKNOWN
    if refused_before is not None:
        return LaunchVerdict.WORKS if new.late is not None else LaunchVerdict.UNKNOWN
    if changes:
        return LaunchVerdict.CHANGES
    # Where loading was not followed, a refusal there may wait.
    open_ended = bool(unknown) or new.late is None
    return LaunchVerdict.UNKNOWN if open_ended else LaunchVerdict.SAME


@dataclass(frozen=True, slots=True)
class Pair:
    """One name under both trees; a side that lacks it is None."""

    group: str
    old_name: str
    new_name: str
    old: ResolvedValue | None
    new: ResolvedValue | None


def _pairs(old: Resolution, new: Resolution, renamed: Renamed) -> Iterator[Pair]:
    for group in GROUPS:
        before = {value.name: value for value in getattr(old, group)}
        after = {value.name: value for value in getattr(new, group)}
        taken: set[str] = set()
        for name, value in before.items():
            other = name if name in after else renamed.get(name, name)
            taken.add(other)
            yield Pair(group, name, other, value, after.get(other))
        for name, value in after.items():
            if name not in taken:
                yield Pair(group, name, name, None, value)


def _changes(pairs: list[Pair]) -> Iterator[ValueChange]:
    equal = {pair.new_name for pair in pairs if pair.group == "runtime" and _equal(pair)}
    for pair in pairs:
        old, new = pair.old, pair.new
        if old is None or new is None or not (old.decided and new.decided):
            continue
        if old.value != new.value:
            last = new.steps[-1] if new.steps else None
            other = pair.old_name if pair.old_name != pair.new_name else ""
            yield ValueChange(
                pair.group,
                pair.new_name,
                old.value,
                new.value,
                other,
                last.what if last is not None else "",
                last.place if last is not None else None,
                pair.group == "options" and pair.new_name in equal,
            )


def _equal(pair: Pair) -> bool:
    old, new = pair.old, pair.new
    if old is None or new is None or not (old.decided and new.decided):
        return False
    return old.value == new.value


def _unknown(pairs: list[Pair]) -> Iterator[OpenValue]:
    for pair in pairs:
        old, new = pair.old, pair.new
        if old is None or new is None or (old.decided and new.decided):
            continue
        if not old.decided and not new.decided and old.cases == new.cases and old.cases:
            continue
        side = "old" if not old.decided else "new"
        reason = (old.reason if not old.decided else new.reason) or "it has several cases"
        yield OpenValue(pair.group, pair.new_name, f"{side} version: {reason}")


def _gone(pairs: list[Pair]) -> Iterator[LoneValue]:
    for pair in pairs:
        renamed = pair.old_name != pair.new_name
        if pair.old is not None and (pair.new is None or renamed) and pair.old.decided:
            other = pair.new_name if renamed and pair.new is not None else ""
            yield LoneValue(pair.group, pair.old_name, pair.old.value, other)


def _added(pairs: list[Pair]) -> Iterator[LoneValue]:
    for pair in pairs:
        renamed = pair.old_name != pair.new_name
        if pair.new is not None and (pair.old is None or renamed) and pair.new.decided:
            other = pair.old_name if renamed and pair.old is not None else ""
            yield LoneValue(pair.group, pair.new_name, pair.new.value, other)
