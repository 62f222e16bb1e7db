"""Values as text that is the same in every run, whatever the order of sets and the hash seed."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sgl_audit.source.key import digest_of


def digest_of_value(value: object) -> str:
    """Sixty-four hex digits: equal for equal values of the model, in any process.

    Args:
        value: scalars, collections, dataclasses, and objects whose `repr` tells their value.
    """
    return digest_of(_Parts().of(value))


class _Parts:
    """The parts of values; one dataclass may stand in thousands of places."""

    def __init__(self) -> None:
        # The value is held too: its address may not be given to another while it counts.
        self._known: dict[int, tuple[object, str]] = {}

    def of(self, value: Any) -> Iterator[str]:
        if isinstance(value, Mapping):
            yield f"mapping {len(value)}"
            for key in sorted(value, key=repr):
                yield from self.of(key)
                yield from self.of(value[key])
        elif isinstance(value, (set, frozenset)):
            yield f"set {len(value)}"
            yield from sorted(self._short(item) for item in value)
        elif isinstance(value, (tuple, list)):
            yield f"sequence {len(value)}"
            for item in value:
                yield from self.of(item)
        elif dataclasses.is_dataclass(value):
            yield self._short(value)
        elif isinstance(value, re.Pattern):
            # The repr of a long one is cut.
            yield f"pattern {value.pattern!r} {value.flags}"
        else:
            yield f"{type(value).__name__} {value!r}"

    def _short(self, value: Any) -> str:
        if not dataclasses.is_dataclass(value) or isinstance(value, type):
            return "\1".join(self.of(value))
        known = self._known.get(id(value))
        if known is None:
            fields = [getattr(value, field.name) for field in dataclasses.fields(value)]
            known = (value, digest_of((type(value).__name__, *self.of(fields))))
            self._known[id(value)] = known
        return known[1]
