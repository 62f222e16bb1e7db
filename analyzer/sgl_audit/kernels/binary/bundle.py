"""ROCm: the targets that a clang offload bundle names. Code objects are not read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sgl_audit.kernels.binary.bytesource import Window
from sgl_audit.model.kernels import DeviceImage, FatBinary, ImageKind

# Layout: "ClangOffloadBundler" in the documentation of clang: magic, count u64, then per entry
# offset u64, size u64, id length u64 and the id ("hipv4-amdgcn-amd-amdhsa--gfx942:xnack-").
_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
# A compressed bundle: magic, version u16 (1 to 3), method u16 (zlib 0, zstd 1).
_BUNDLE = re.compile(re.escape(_MAGIC) + rb"|CCOB[\x01-\x03]\x00[\x00\x01]\x00", re.DOTALL)
_MAX_ENTRIES = 1000
_MAX_ID_BYTES = 512


def read_bundles(window: Window, section: str) -> tuple[FatBinary, ...]:
    """Every bundle of a `.hip_fatbin` section, with one image per device target."""
    found: list[FatBinary] = []
    for match in _BUNDLE.finditer(window.data, window.start, window.end):
        if match[0] == _MAGIC:
            images = tuple(_targets(window, match.start()))
        else:
            images = (_unknown("the offload bundle is compressed, so its targets are unread"),)
        found.append(FatBinary(section, match.start(), images))
    if not found:
        reason = f"{section} holds no offload bundle that could be read"
        found.append(FatBinary(section, window.start, (_unknown(reason),)))
    return tuple(found)


def _targets(window: Window, offset: int) -> Iterator[DeviceImage]:
    position = offset + len(_MAGIC)
    count = window.unpack("Q", position)
    if count is None or count[0] > _MAX_ENTRIES:
        yield _unknown("the bundle states no plausible number of entries")
        return
    position += 8
    for _ in range(count[0]):
        entry = window.unpack("QQQ", position)
        if entry is None or entry[2] > _MAX_ID_BYTES or position + 24 + entry[2] > window.end:
            yield _unknown("the bundle is cut off")
            return
        name = window.take(position + 24, entry[2]).decode("ascii", "replace")
        position += 24 + entry[2]
        if name.startswith("hip"):
            yield DeviceImage(ImageKind.HIP, target=_target(name), basis="offload bundle id")


def _target(name: str) -> str:
    """`hipv4-amdgcn-amd-amdhsa--gfx942:xnack-` -> `gfx942:xnack-`."""
    start = name.find("gfx")
    return name[start:] if start >= 0 else name


def _unknown(reason: str) -> DeviceImage:
    return DeviceImage(ImageKind.UNKNOWN, None, None, reason=reason)
