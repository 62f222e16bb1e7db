"""The first bytes of an LZ4 block: enough to read a PTX target line or an ELF header."""

from __future__ import annotations

_MIN_MATCH = 4


def lz4_prefix(block: bytes, limit: int) -> bytes:
    """Decode up to `limit` bytes of a raw LZ4 block (no frame).

    Fact: the LZ4 block format document of the lz4 project.

    Returns:
        What could be decoded; fewer bytes where the block ends or is damaged.
    """
    out = bytearray()
    position = 0
    while position < len(block) and len(out) < limit:
        token = block[position]
        literals, position = _length(block, position + 1, token >> 4)
        out += block[position : position + literals]
        position += literals
        if position + 2 > len(block) or len(out) >= limit:
            break
        distance = block[position] | block[position + 1] << 8
        match, position = _length(block, position + 2, token & 15)
        if not 0 < distance <= len(out):
            break
        _repeat(out, distance, min(match + _MIN_MATCH, limit - len(out)))
    return bytes(out[:limit])


def _length(block: bytes, position: int, nibble: int) -> tuple[int, int]:
    """A nibble of 15 continues in following bytes until one is not 255."""
    length = nibble
    while nibble == 15 and position < len(block):
        extra = block[position]
        position += 1
        length += extra
        if extra != 255:
            break
    return length, position


def _repeat(out: bytearray, distance: int, count: int) -> None:
    pattern = bytes(out[-distance:])
    out += (pattern * (count // distance + 1))[:count]
