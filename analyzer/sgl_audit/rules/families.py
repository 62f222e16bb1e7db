"""Capability sets by their shape: one family, an open range, one member of a family."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sgl_audit.model.capability import BY_NAME, CAPABILITIES, Vendor
from sgl_audit.model.guard import Atom

_NVIDIA = tuple(item for item in CAPABILITIES if item.vendor is Vendor.NVIDIA)
_NEWEST = max(item.number for item in _NVIDIA)
# `major >= 10` where `major` is a parameter: the source does not say that it is the machine's.
_BOUND = re.compile(
    r"(?P<what>\b\w*(?:major|sm_?version|device_sm|capability)\w*(?:\[0\])?(?:\(\))?) >= "
    r"(?P<least>\d+)$"
)


def nvidia(names: Iterable[str]) -> frozenset[str]:
    """The NVIDIA capabilities among names."""
    return frozenset(name for name in names if BY_NAME[name].vendor is Vendor.NVIDIA)


def open_from(names: Iterable[str]) -> int | None:
    """The least number of a set that holds on everything from there on, else None."""
    held = nvidia(names)
    numbers = [item.number for item in _NVIDIA if item.name in held]
    if not numbers or max(numbers) != _NEWEST:
        return None
    least = min(numbers)
    return least if held == {item.name for item in _NVIDIA if item.number >= least} else None


def beyond(least: int, names: Iterable[str]) -> frozenset[str]:
    """Those of `names` that are newer than the generation in which a range begins."""
    return frozenset(name for name in nvidia(names) if BY_NAME[name].major > least // 10)


def bound_of(atom: Atom) -> int | None:
    """Where an open range begins that a test of the machine asks for, as a number such as 90."""
    if atom.capabilities is not None:
        wide = ">" in atom.text or "<" in atom.text
        return open_from(atom.capabilities) if wide else None
    found = _BOUND.search(atom.text)
    if found is None:
        return None
    least = int(found["least"])
    return least if least > 19 else least * 10


def siblings(names: Iterable[str]) -> frozenset[str]:
    """Capabilities of one generation with a single named one, where that one stands alone."""
    held = nvidia(names)
    if len(held) != 1:
        return frozenset()
    major = BY_NAME[next(iter(held))].major
    if major < 10:
        # Before Blackwell the minor numbers of a generation are different chips.
        return frozenset()
    return frozenset(item.name for item in _NVIDIA if item.major == major) - held
