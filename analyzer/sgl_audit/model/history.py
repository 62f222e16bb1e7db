"""How one option went from release to release."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Aspect(StrEnum):
    """What of an option is followed."""

    DEFAULT = "default"
    CHOICES = "choices"
    FLAGS = "flags"
    GATE = "gate"
    BECOMES = "becomes"
    LAUNCH = "launch"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that a release holds.

    Attributes:
        name: a gate, a family, or "" for what the option itself has.
        capability: of BECOMES and LAUNCH entries, else "".
    """

    aspect: Aspect
    name: str
    capability: str
    value: str


@dataclass(frozen=True, slots=True)
class Release:
    """One release on the way.

    Attributes:
        looked: whether it was read; else its neighbours on both sides are equal.
        problem: why it could not be read, or "".
    """

    version: str
    looked: bool
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """A difference between two releases that were read one after the other.

    Attributes:
        after: the release that has it; `before` is the last one read that does not.
        exact: whether no release lies between the two.
    """

    before: str
    after: str
    exact: bool
    aspect: Aspect
    name: str
    capabilities: tuple[str, ...]
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class History:
    """The whole answer."""

    option: str
    capabilities: tuple[str, ...]
    tool_version: str
    releases: tuple[Release, ...]
    first: tuple[Entry, ...]
    events: tuple[Event, ...]
