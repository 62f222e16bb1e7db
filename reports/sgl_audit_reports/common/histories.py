"""A history in words: what changed at which release."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sgl_audit.model.history import Aspect, Event, History, Release
from sgl_audit_reports.common.text import clipped, listed, visible

_NAMES = 4
_CHOICES = 8
WORDS = {
    Aspect.DEFAULT: "declared default",
    Aspect.CHOICES: "choices",
    Aspect.FLAGS: "flags",
    Aspect.GATE: "gate",
    Aspect.BECOMES: "becomes",
    Aspect.LAUNCH: "launch",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a timeline."""

    release: str
    aspect: Aspect
    what: str
    old: str
    new: str


def rows_of(history: History) -> list[Row]:
    """Events in order; families that change alike at one release share a line."""
    grouped: dict[tuple[object, ...], list[Event]] = {}
    for event in history.events:
        alike = event.aspect in (Aspect.BECOMES, Aspect.LAUNCH)
        name = "" if alike else event.name
        key = (event.after, event.aspect, name, event.old, event.new, event.capabilities)
        grouped.setdefault(key, []).append(event)
    return [_row(events, history) for events in grouped.values()]


def _row(events: list[Event], history: History) -> Row:
    first = events[0]
    release = first.after if first.exact else f"{first.after} (or after {first.before})"
    where = f" on {', '.join(first.capabilities)}" if len(history.capabilities) > 1 else ""
    names = listed([visible(event.name) for event in events if event.name], _NAMES)
    what = f"{WORDS[first.aspect]} {names}".strip() + (where if first.capabilities else "")
    old, new = first.old, first.new
    if first.aspect is Aspect.CHOICES:
        old, new = _choices(first)
    return Row(release, first.aspect, what, visible(clipped(old, 120)), visible(clipped(new, 120)))


def _choices(event: Event) -> tuple[str, str]:
    """What is gone, and what is new: whole lists hide the difference."""
    old, new = (value.split(", ") for value in (event.old, event.new))
    gone = [item for item in old if item not in new]
    fresh = [item for item in new if item not in old]
    if not gone and not fresh:
        return event.old, event.new
    minus = f"without {listed(gone, _CHOICES)}" if gone else ""
    plus = f"with {listed(fresh, _CHOICES)}" if fresh else ""
    return minus or "-", plus or "-"


def start_of(history: History) -> list[str]:
    """What the first release that was read holds."""
    plain = [f"{WORDS[e.aspect]}: {e.value}" for e in history.first if not e.name and e.value]
    values: dict[str, list[str]] = {}
    for entry in history.first:
        if entry.aspect is Aspect.BECOMES:
            values.setdefault(entry.value, []).append(entry.name)
    plain += [f"becomes {value}: {listed(_once(n), _NAMES)}" for value, n in values.items()]
    return [visible(clipped(text, 200)) for text in plain]


def _once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def first_release(history: History) -> str:
    """The first release that was read."""
    return next((r.version for r in history.releases if r.looked), "")


def skipped(releases: Iterable[Release]) -> list[str]:
    """Releases that were not read, because both neighbours are equal."""
    return [visible(r.version) for r in releases if not r.looked and not r.problem]


def problems(releases: Iterable[Release]) -> list[str]:
    """Releases that could not be read."""
    return [visible(f"{r.version}: {r.problem}") for r in releases if r.problem]
