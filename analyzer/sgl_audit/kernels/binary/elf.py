"""Sections of an ELF file that hold device code, found with pyelftools."""

from __future__ import annotations

import io
import mmap
import struct
from dataclasses import dataclass
from typing import IO, cast

from elftools.common.exceptions import ELFError
from elftools.construct.core import ConstructError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section as ElfSection

from sgl_audit.errors import SourceError
from sgl_audit.kernels.binary.bytesource import Data, Window

MAGIC = b"\x7fELF"
_MAX_SECTIONS = 100_000
_COMPRESSED = 0x800
# pyelftools trusts the file, so a damaged one surfaces as any of these.
_DAMAGED = (
    ELFError,
    ConstructError,
    struct.error,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    OverflowError,
    MemoryError,
    RecursionError,
)


@dataclass(frozen=True, slots=True)
class Section:
    """One section. `whole` is False where the file ends before it or it is compressed."""

    name: str
    window: Window
    whole: bool


def sections(data: Data, names: frozenset[str]) -> tuple[Section, ...]:
    """The sections with one of these names, in file order.

    Raises:
        SourceError: the section table cannot be read; the sentence says why, not which file.
    """
    stream = cast("IO[bytes]", data if isinstance(data, mmap.mmap) else io.BytesIO(data))
    stream.seek(0)
    try:
        elf = ELFFile(stream)
        count = elf.num_sections()
        if count == 0 or count > _MAX_SECTIONS:
            raise SourceError(f"its section table has {count} entries")
        return tuple(
            _section(data, section)
            for section in elf.iter_sections()
            if section.name in names and section["sh_type"] != "SHT_NOBITS"
        )
    except _DAMAGED as error:
        raise SourceError(f"its ELF structure is damaged ({type(error).__name__})") from error


def _section(data: Data, section: ElfSection) -> Section:
    first = min(section["sh_offset"], len(data))
    end = section["sh_offset"] + section["sh_size"]
    whole = end <= len(data) and not section["sh_flags"] & _COMPRESSED
    return Section(section.name, Window(data, first, min(end, len(data))), whole)
