"""Iterators that the program holds as values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.values import Undecidable, Value

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine


class Stream:
    """An iterator, with the arm of a branch in which it was made.

    What one arm takes from it cannot be put back for the other, so only the arm that made it may
    take from it.
    """

    __slots__ = ("arm", "machine", "source")

    def __init__(self, machine: Machine, source: Iterator[Value]) -> None:
        self.machine = machine
        self.source: Any = source
        self.arm = machine.arm

    def __iter__(self) -> Any:
        return self.taken()

    def __next__(self) -> Value:
        return next(self.taken())

    def taken(self) -> Any:
        """The iterator itself.

        Raises:
            Undecidable: it was made on another way through the code.
        """
        if self.arm != self.machine.arm:
            raise Undecidable("an iterator is used up under a condition that is not known")
        return self.source
