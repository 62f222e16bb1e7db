"""One entry of a fat binary: 64 bytes or more of header, then the payload."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sgl_audit.kernels.binary.bytesource import Window
from sgl_audit.kernels.binary.cubin import HEADER_BYTES, cubin_header
from sgl_audit.kernels.binary.lz4 import lz4_prefix
from sgl_audit.model.kernels import DeviceImage, ImageKind

# Layout read off binaries built with CUDA 13.0 and wheels of CUDA 12.4, 12.6 and 12.8:
# kind u16, version u16, header size u32, payload size u64 (padded), compressed size u32,
# option offset u32, minor u16, major u16, architecture u32, name offset u32, name size u32,
# flags u64. What follows differs by toolkit (64 to 120 bytes in all) and is not needed.
_LAYOUT = "HHIQIIHHIIIQ"
_SMALLEST_HEADER = 48
_KINDS = {1: ImageKind.PTX, 2: ImageKind.CUBIN, 8: ImageKind.LTO}
_FLAG_EXACT = 1 << 20
_FLAG_FAMILY = 1 << 21
_FLAG_LZ4 = 0x2000
_FLAG_ZSTD = 0x8000
_PTX_PREFIX_BYTES = 8192
_PTX_TARGET = re.compile(rb"^[ \t]*\.target[ \t]+sm_(\d{2,3})([af]?)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Header:
    kind: int
    size: int
    payload: int
    compressed: int
    number: int
    flags: int


def read_entry(window: Window, offset: int) -> tuple[DeviceImage, int | None]:
    """Read the entry at an absolute offset.

    Returns:
        The image, and the offset of the next entry or None where that cannot be told.
    """
    fields = window.unpack(_LAYOUT, offset)
    if fields is None:
        return _unknown(f"the entry header at offset {offset:#x} is cut off"), None
    header = _Header(fields[0], fields[2], fields[3], fields[4], fields[8], fields[11])
    end = offset + header.size + header.payload
    if header.size < _SMALLEST_HEADER or end > window.end:
        return _unknown(f"the entry at offset {offset:#x} states sizes that do not fit"), None
    payload = Window(window.data, offset + header.size, end)
    return _image(header, payload), end


def _image(header: _Header, payload: Window) -> DeviceImage:
    kind = _KINDS.get(header.kind)
    exact, family = bool(header.flags & _FLAG_EXACT), bool(header.flags & _FLAG_FAMILY)
    if kind is None:
        return _unknown(f"image kind {header.kind:#x} is not known", header.number)
    if not 10 <= header.number <= 999:
        return _unknown(f"architecture number {header.number} is not plausible")
    if exact and family:
        return _unknown("flags name both a family and an exact target", header.number)
    image = DeviceImage(
        kind, header.number, "a" if exact else "f" if family else "", basis="fatbin header"
    )
    if kind is ImageKind.PTX:
        return _checked_by_text(image, _prefix(header, payload, _PTX_PREFIX_BYTES))
    if kind is ImageKind.CUBIN:
        return _checked_by_elf(image, _prefix(header, payload, HEADER_BYTES))
    return image


def _prefix(header: _Header, payload: Window, limit: int) -> bytes:
    """The first uncompressed bytes; none for zstd, which only toolkits use that set the bits.

    Zstandard came with nvcc's compression modes; wheels built before those (ABI 7 cubins) have
    the exact-target bit already, so there the header alone is enough.
    """
    if header.flags & _FLAG_ZSTD:
        return b""
    if header.flags & _FLAG_LZ4:
        size = header.compressed or header.payload
        return lz4_prefix(payload.take(payload.start, min(size, 4 * limit)), limit)
    return payload.take(payload.start, limit)


def _checked_by_text(image: DeviceImage, text: bytes) -> DeviceImage:
    found = _PTX_TARGET.search(text)
    if found is None:
        return image
    number, variant = int(found[1]), found[2].decode()
    if number != image.number or (image.variant and variant != image.variant):
        return _unknown(
            f"the fatbin header says {image.label}, the PTX text says sm_{number}{variant}",
            image.number,
        )
    return DeviceImage(image.kind, number, variant, basis="fatbin header, PTX .target")


def _checked_by_elf(image: DeviceImage, head: bytes) -> DeviceImage:
    header = cubin_header(head)
    if header is None:
        return image
    if header.number != image.number:
        return _unknown(
            f"the fatbin header says {image.label}, the cubin's e_flags say sm_{header.number}",
            image.number,
        )
    variant = image.variant or ("a" if header.accelerated else "")
    return DeviceImage(image.kind, image.number, variant, basis="fatbin header, cubin e_flags")


def _unknown(reason: str, number: int | None = None) -> DeviceImage:
    return DeviceImage(ImageKind.UNKNOWN, number, None, reason=reason)
