"""Fat binary containers, as they lie one after another in a section."""

from __future__ import annotations

from collections.abc import Iterator

from sgl_audit.kernels.binary.bytesource import Window
from sgl_audit.kernels.binary.entry import read_entry
from sgl_audit.model.kernels import DeviceImage, FatBinary, ImageKind

MAGIC = b"\x50\xed\x55\xba"
_HEADER_BYTES = 16
_VERSION = 1
MAX_CONTAINERS = 200_000
MAX_IMAGES_PER_CONTAINER = 10_000


def read_fatbins(window: Window, section: str, relocatable: bool = False) -> tuple[FatBinary, ...]:
    """Read every container of a section; what is not understood becomes an unknown image."""
    found: list[FatBinary] = []
    position = window.start
    while position < window.end:
        if len(found) == MAX_CONTAINERS:
            images: tuple[DeviceImage, ...] = (_unknown(f"more than {MAX_CONTAINERS} containers"),)
            found.append(FatBinary(section, position, images, relocatable))
            break
        if window.take(position, 4) == MAGIC:
            images, after = _container(window, position)
            found.append(FatBinary(section, position, images, relocatable))
        else:
            after = window.find(MAGIC, position)
            if not window.is_blank(position, after):
                reason = f"{after - position} bytes at offset {position:#x} are no fat binary"
                found.append(FatBinary(section, position, (_unknown(reason),), relocatable))
        position = after
    return tuple(found)


def _container(window: Window, offset: int) -> tuple[tuple[DeviceImage, ...], int]:
    """Images of the container at `offset`, and where to look next."""
    header = window.unpack("IHHQ", offset)
    if header is None:
        return (_unknown(f"the container header at offset {offset:#x} is cut off"),), window.end
    _, version, header_size, size = header
    first = offset + header_size
    if version != _VERSION or header_size < _HEADER_BYTES:
        reason = f"container version {version} with a {header_size}-byte header is not known"
        return (_unknown(reason),), window.find(MAGIC, offset + len(MAGIC))
    if first + size > window.end:
        reason = f"the container at offset {offset:#x} is longer than its section"
        whole = tuple(_entries(Window(window.data, offset, window.end), first))
        return (*whole, _unknown(reason)), window.end
    inside = Window(window.data, offset, first + size)
    return tuple(_entries(inside, first)), inside.end


def _entries(window: Window, first: int) -> Iterator[DeviceImage]:
    position: int | None = first
    count = 0
    while position is not None and position < window.end:
        if count == MAX_IMAGES_PER_CONTAINER:
            yield _unknown(f"more than {MAX_IMAGES_PER_CONTAINER} images in one container")
            return
        image, position = read_entry(window, position)
        count += 1
        yield image


def _unknown(reason: str) -> DeviceImage:
    return DeviceImage(ImageKind.UNKNOWN, None, None, reason=reason)
