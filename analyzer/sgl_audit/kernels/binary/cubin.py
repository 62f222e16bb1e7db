"""What the header of a CUDA ELF says about its architecture."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

HEADER_BYTES = 64
_EM_CUDA = 190
# The header layout changed with ABI version 8 (CUDA 12.8 for Blackwell, CUDA 13 for all):
# LLVM's BinaryFormat/ELF.h, checked against cubins of CUDA 12.6, 12.8 and 13.0.
_FIRST_SHIFTED_ABI = 8
_ACCELERATED_LOW = 0x800
_ACCELERATED_SHIFTED = 0x8
_TOOL_NOTE = re.compile(rb"-arch[ =]sm_(\d{2,3})([af]?)\b")


@dataclass(frozen=True, slots=True)
class CubinHeader:
    """Architecture in e_flags; `accelerated` False proves nothing from ABI 8 on.

    CUDA 13 sets the bit only where the code uses such instructions, so sm_90 and sm_90a cubins
    of the same plain kernel have equal flags.
    """

    number: int
    accelerated: bool
    abi: int

    @property
    def variant(self) -> str | None:
        """ "a", "" (plain), or None where the flags leave it open."""
        if self.accelerated:
            return "a"
        return "" if self.abi < _FIRST_SHIFTED_ABI else None


def is_cubin(head: bytes) -> bool:
    """Whether the bytes start with a 64-bit little-endian ELF header for CUDA."""
    return (
        len(head) >= HEADER_BYTES
        and head[:6] == b"\x7fELF\x02\x01"
        and struct.unpack_from("<H", head, 18)[0] == _EM_CUDA
    )


def cubin_header(head: bytes) -> CubinHeader | None:
    """Read the first 64 bytes of a cubin; None where they are not one."""
    if not is_cubin(head):
        return None
    (flags,) = struct.unpack_from("<I", head, 48)
    abi = head[8]
    if abi >= _FIRST_SHIFTED_ABI:
        return CubinHeader(flags >> 8 & 0xFF, bool(flags & _ACCELERATED_SHIFTED), abi)
    return CubinHeader(flags & 0xFF, bool(flags & _ACCELERATED_LOW), abi)


def noted_target(note: bytes) -> tuple[int, str] | None:
    """The `-arch sm_90a` that CUDA 13 keeps in the section .note.nv.tkinfo."""
    found = _TOOL_NOTE.search(note)
    return (int(found[1]), found[2].decode()) if found else None
