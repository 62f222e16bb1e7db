"""Undoing what a launch or an arm of a branch wrote."""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

Container = Any
# Classes whose namespaces were written to, by the identity of the namespace: their caches of
# look-ups must be forgotten when the journal puts a namespace back.
CHANGED_CLASSES: WeakValueDictionary[int, Any] = WeakValueDictionary()


class Memo(dict):  # type: ignore[type-arg]
    """A cache of results: an entry may be dropped at any time without changing what is computed."""

    __slots__ = ()


class Overlay(dict):  # type: ignore[type-arg]
    """What was written to things that are not known; an absent entry means "as it was"."""

    __slots__ = ()


def snapshot(container: Container) -> Any:
    """A shallow copy of the contents."""
    if isinstance(container, dict):
        return dict(container)
    if isinstance(container, list):
        return list(container)
    return set(container)


def restore(container: Container, contents: Any) -> None:
    """Put contents back."""
    if isinstance(container, dict):
        dict.clear(container)
        dict.update(container, contents)
        if CHANGED_CLASSES and (owner := CHANGED_CLASSES.get(id(container))) is not None:
            owner.forget()
    elif isinstance(container, list):
        list.__setitem__(container, slice(None), contents)
    else:
        set.clear(container)
        set.update(container, contents)


class Journal:
    """First-write copies of every container written to, in nested layers.

    The outermost layer belongs to a launch, inner ones to arms of branches on unknowns.
    """

    __slots__ = ("layers", "top")

    def __init__(self) -> None:
        self.layers: list[dict[int, tuple[Container, Any] | None]] = []
        self.top: dict[int, tuple[Container, Any] | None] | None = None

    def touch(self, container: Container) -> None:
        """Note that the container is about to change."""
        top = self.top
        if top is not None and id(container) not in top:
            top[id(container)] = (container, snapshot(container))

    def fresh(self, container: Container) -> None:
        """Note that the container was made just now: there is no earlier state to go back to."""
        if self.top is not None:
            self.top[id(container)] = None

    def open(self) -> None:
        """Start a layer."""
        self.layers.append({})
        self.top = self.layers[-1]

    def undo(self) -> None:
        """Drop the innermost layer and everything written under it."""
        for entry in self._pop().values():
            if entry is not None:
                restore(*entry)

    def commit(self) -> None:
        """Keep what the innermost layer wrote; an outer layer can still undo it."""
        layer = self._pop()
        if self.top is not None:
            for key, entry in layer.items():
                self.top.setdefault(key, entry)

    def capture(self) -> dict[int, tuple[Container, Any]]:
        """Undo the innermost layer and give back what it wrote: id -> (container, contents)."""
        layer = self._pop()
        written = {}
        for key, entry in layer.items():
            if entry is None:
                continue
            container, contents = entry
            written[key] = (container, snapshot(container))
            restore(container, contents)
        return written

    def apply(self, written: dict[int, tuple[Container, Any]]) -> None:
        """Write captured contents again."""
        for container, contents in written.values():
            self.touch(container)
            restore(container, contents)

    def _pop(self) -> dict[int, tuple[Container, Any] | None]:
        layer = self.layers.pop()
        self.top = self.layers[-1] if self.layers else None
        return layer
