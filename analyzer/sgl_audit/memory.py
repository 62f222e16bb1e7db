"""Parsing and resolving make millions of objects that live or die together.

The collector need not watch them: measured, it takes half the time of an audit.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

_Item = TypeVar("_Item")

# A few circles remain per file, so that memory grows a little until a collection.
COLLECT_EVERY = 200


@contextmanager
def uncollected() -> Iterator[None]:
    """Run without automatic garbage collection, and leave it as it was."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            # The outermost of several.
            gc.unfreeze()
            gc.enable()


def tidied(items: Iterable[_Item], every: int = 2) -> Iterator[_Item]:
    """Hand items on, collecting what they leave behind after every few of them.

    What outlives a collection is seldom left behind later (parsed modules, answers). It is not
    looked through again before `uncollected` ends: that would take longer than the work itself.
    """
    for number, item in enumerate(items, 1):
        yield item
        if number % every == 0:
            gc.collect()
            gc.freeze()


def with_collections(items: Iterable[_Item]) -> Iterator[_Item]:
    """Hand items on, collecting garbage every now and then."""
    return tidied(items, COLLECT_EVERY)
