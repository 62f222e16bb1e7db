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
            gc.enable()


def tidied(items: Iterable[_Item], every: int = 2) -> Iterator[_Item]:
    """Hand items on, collecting what each leaves behind.

    What is there after the first item stays until the end and is not looked through again.
    """
    frozen = False
    try:
        for number, item in enumerate(items, 1):
            yield item
            if not frozen or number % every == 0:
                gc.collect()
            if not frozen:
                gc.freeze()
                frozen = True
    finally:
        if frozen:
            gc.unfreeze()


def with_collections(items: Iterable[_Item]) -> Iterator[_Item]:
    """Hand items on, collecting garbage every now and then."""
    for number, item in enumerate(items, 1):
        yield item
        if number % COLLECT_EVERY == 0:
            gc.collect()
