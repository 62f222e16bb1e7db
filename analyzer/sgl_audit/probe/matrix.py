"""Many combinations: which there are, in which order, and which need no run."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sgl_audit.errors import UsageError
from sgl_audit.model.evidence import Evidence, Prediction
from sgl_audit.probe.command import with_value

RUN, SKIP, DONE = "run", "skip", "done"
_MOST = 2000
# Each is predicted before anything starts, and that takes about a second.
_MOST_OUTWARD = 300


@dataclass(frozen=True, slots=True)
class Axis:
    """One option that is varied, its flag, and its values in the order given."""

    option: str
    flag: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Combination:
    """One point of the matrix.

    Attributes:
        argv: the launch with these values set.
        distance: in how many options it differs from the line that the rest is compared with.
    """

    values: tuple[tuple[str, str], ...]
    argv: tuple[str, ...]
    distance: int = 0

    @property
    def name(self) -> str:
        """How it is called in a display."""
        return " ".join(f"{option}={value}" for option, value in self.values) or "the launch"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a plan.

    Attributes:
        number: 1-based place in the whole plan.
        action: RUN, SKIP or DONE.
        why: what it was found to be, or why it is skipped.
        evidence: the finished run, where it is DONE.
    """

    number: int
    combination: Combination
    action: str
    prediction: Prediction | None
    key: str
    why: str = ""
    evidence: Evidence | None = None


def combinations(
    argv: Sequence[str], axes: Sequence[Axis], base: Mapping[str, str]
) -> tuple[Combination, ...]:
    """Every combination, those that differ least from the base line first.

    Args:
        base: for each option the value of the line that is recommended; another value of an axis
            counts as a difference.

    Raises:
        UsageError: there are too many.
    """
    count = 1
    for axis in axes:
        count *= len(axis.values)
    if count > _MOST:
        raise UsageError(f"{count} combinations are too many; vary fewer options or values")
    ordered = [_base_first(axis, base.get(axis.option)) for axis in axes]
    found = [_combine(argv, axes, values, base) for values in itertools.product(*ordered)]
    # A stable sort: within one distance the order is that of the axes.
    return tuple(sorted(found, key=lambda item: item.distance))


def outward(
    argv: Sequence[str], axes: Sequence[Axis], base: Mapping[str, str], most: int = _MOST_OUTWARD
) -> tuple[tuple[Combination, ...], int]:
    """From the launch as it is outward: each other value of each option, then of two at once, and
    so on, as far as the next step is not too much. What is not changed is not set.

    Args:
        base: for each option the value of the launch, where it is known.

    Returns:
        The combinations, and in how many options the farthest differ.
    """
    found = [Combination((), tuple(argv))]
    for distance in range(1, len(axes) + 1):
        step = list(_step(argv, axes, base, distance))
        if distance > 1 and len(found) + len(step) > most:
            return tuple(found), distance - 1
        found += step
    return tuple(found), len(axes)


def _step(
    argv: Sequence[str], axes: Sequence[Axis], base: Mapping[str, str], distance: int
) -> Iterator[Combination]:
    for chosen in itertools.combinations(axes, distance):
        others = [[v for v in axis.values if v != base.get(axis.option)] for axis in chosen]
        for values in itertools.product(*others):
            words = tuple(argv)
            for axis, value in zip(chosen, values, strict=True):
                words = with_value(words, axis.flag, value)
            pairs = zip((axis.option for axis in chosen), values, strict=True)
            yield Combination(tuple(pairs), words, distance)


def _base_first(axis: Axis, base: str | None) -> tuple[str, ...]:
    if base not in axis.values:
        return axis.values
    assert base is not None
    return (base, *(value for value in axis.values if value != base))


def _combine(
    argv: Sequence[str], axes: Sequence[Axis], values: Sequence[str], base: Mapping[str, str]
) -> Combination:
    words = tuple(argv)
    for axis, value in zip(axes, values, strict=True):
        words = with_value(words, axis.flag, value)
    first = [base.get(axis.option, axis.values[0]) for axis in axes]
    distance = sum(a != b for a, b in zip(values, first, strict=True))
    pairs = tuple((axis.option, value) for axis, value in zip(axes, values, strict=True))
    return Combination(pairs, words, distance)


def parse_shard(text: str) -> tuple[int, int]:
    """`2/8` as (2, 8).

    Raises:
        UsageError: it is no such pair, or the first is not within the second.
    """
    part, slash, whole = text.partition("/")
    if not slash or not part.isdigit() or not whole.isdigit():
        raise UsageError(f"--shard {text!r} is no I/N; write it like 2/8")
    number, count = int(part), int(whole)
    if not 1 <= number <= count:
        raise UsageError(f"--shard {text}: the first number runs from 1 to the second")
    return number, count


def shard(entries: Sequence[Entry], number: int, count: int) -> tuple[Entry, ...]:
    """Every `count`-th entry of the plan, so that each machine gets near and far ones."""
    return tuple(entries[number - 1 :: count])


def refused(prediction: Prediction) -> str:
    """Why the static side is sure that it will not come up, or ""."""
    if prediction.rejection is not None:
        found = prediction.rejection
    elif prediction.late:
        found = prediction.late[0]
    else:
        return ""
    place = f" at {found.place}" if found.place is not None else ""
    stage = "" if found.stage == "resolution" else f" ({found.stage})"
    return f"refused{stage}{place}: {found.type}: {found.message}"
