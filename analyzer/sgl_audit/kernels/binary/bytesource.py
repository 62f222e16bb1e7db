"""Bounded little-endian reads from bytes or a memory map, without copying the file."""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass

Data = bytes | mmap.mmap


@dataclass(frozen=True, slots=True)
class Window:
    """A range of a file that parsers must not leave; offsets are absolute, `end` exclusive."""

    data: Data
    start: int
    end: int

    def unpack(self, layout: str, offset: int) -> tuple[int, ...] | None:
        """Read integers of a little-endian `struct` layout, or None where they do not fit."""
        size = struct.calcsize("<" + layout)
        if offset < self.start or offset + size > self.end:
            return None
        return struct.unpack_from("<" + layout, self.data, offset)

    def take(self, offset: int, size: int) -> bytes:
        """At most `size` bytes at `offset`, fewer where the window ends."""
        return self.data[max(offset, self.start) : max(0, min(offset + size, self.end))]

    def find(self, needle: bytes, offset: int) -> int:
        """Absolute offset of the next `needle`, or the end of the window."""
        found = self.data.find(needle, offset, self.end)
        return self.end if found < 0 else found

    def is_blank(self, first: int, last: int) -> bool:
        """Whether a range holds only the zero bytes that linkers pad with."""
        return not self.data[first:last].strip(b"\0")
