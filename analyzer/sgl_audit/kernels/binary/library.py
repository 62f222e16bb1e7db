"""One library in memory: ELF with fat binaries, a bare cubin, or a bare fat binary."""

from __future__ import annotations

from sgl_audit.errors import SourceError
from sgl_audit.kernels.binary import elf
from sgl_audit.kernels.binary.bundle import read_bundles
from sgl_audit.kernels.binary.bytesource import Data, Window
from sgl_audit.kernels.binary.cubin import HEADER_BYTES, cubin_header, is_cubin, noted_target
from sgl_audit.kernels.binary.fatbin import MAGIC as FATBIN_MAGIC
from sgl_audit.kernels.binary.fatbin import read_fatbins
from sgl_audit.model.kernels import DeviceImage, FatBinary, ImageKind, SharedObject

_CUDA = ".nv_fatbin"
_RELOCATABLE = "__nv_relfatbin"
_REGISTERED = ".nvFatBinSegment"
_HIP = ".hip_fatbin"
_NOTE = ".note.nv.tkinfo"
_NOTE_BYTES = 65536
_NAMES = frozenset({_CUDA, _RELOCATABLE, _REGISTERED, _HIP})


def read_library(name: str, data: Data) -> SharedObject | None:
    """Read one file; None where it is a sound ELF file without device code.

    Raises:
        SourceError: it is no ELF, cubin or fat binary, or its structure is damaged.
    """
    head = data[:HEADER_BYTES]
    if head.startswith(FATBIN_MAGIC):
        return SharedObject(name, len(data), read_fatbins(Window(data, 0, len(data)), ""))
    if is_cubin(head):
        return SharedObject(name, len(data), (FatBinary("", 0, (_bare_cubin(data, head),)),))
    if not head.startswith(elf.MAGIC):
        raise SourceError("it is no ELF shared object, cubin or CUDA fat binary")
    found = elf.sections(data, _NAMES)
    fatbins = tuple(fatbin for section in found for fatbin in _fatbins(section))
    if not fatbins and any(s.name == _REGISTERED and s.window.end > s.window.start for s in found):
        fatbins = (_unread(_REGISTERED, "it registers fat binaries in a section not known here"),)
    return SharedObject(name, len(data), fatbins) if fatbins else None


def _fatbins(section: elf.Section) -> tuple[FatBinary, ...]:
    if section.name == _REGISTERED:
        return ()
    if section.name == _HIP:
        fatbins = read_bundles(section.window, section.name)
    else:
        fatbins = read_fatbins(section.window, section.name, section.name == _RELOCATABLE)
    if not section.whole:
        fatbins += (_unread(section.name, f"section {section.name} is cut off or compressed"),)
    return fatbins


def _bare_cubin(data: Data, head: bytes) -> DeviceImage:
    """A cubin outside a container: the tool note, where there is one, names the variant."""
    header = cubin_header(head)
    if header is None:
        return DeviceImage(ImageKind.UNKNOWN, None, None, reason="its ELF header is cut off")
    noted = None
    for section in elf.sections(data, frozenset({_NOTE})):
        noted = noted_target(section.window.take(section.window.start, _NOTE_BYTES)) or noted
    if noted and noted[0] == header.number:
        return DeviceImage(ImageKind.CUBIN, *noted, basis="cubin e_flags, tool note")
    reason = "" if header.variant is not None else "the cubin does not say whether it is exact"
    return DeviceImage(
        ImageKind.CUBIN, header.number, header.variant, basis="cubin e_flags", reason=reason
    )


def _unread(section: str, reason: str) -> FatBinary:
    return FatBinary(section, 0, (DeviceImage(ImageKind.UNKNOWN, None, None, reason=reason),))
