"""Libraries of a wheel, one at a time in memory, within limits."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sgl_audit.errors import SourceError

_LIBRARY = re.compile(r"\.(so(\.\d+)*|cubin|fatbin|pyd|dll)$", re.IGNORECASE)
_RATIO_FLOOR_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """What a wheel may cost to read.

    Attributes:
        entries: files in the archive.
        member_bytes: uncompressed size of one library.
        total_bytes: uncompressed size of all libraries.
        ratio: uncompressed over compressed size of one library above 1 MiB.
    """

    entries: int = 100_000
    member_bytes: int = 3 << 30
    total_bytes: int = 12 << 30
    ratio: int = 500


def wheel_libraries(path: Path, limits: Limits) -> Iterator[tuple[str, bytes | str]]:
    """Yield (name, bytes) per library, or (name, why it was not read), in archive order.

    Raises:
        SourceError: the file is no readable zip archive or has too many entries.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if len(members) > limits.entries:
                raise SourceError(
                    f"--binary {path}: the archive lists {len(members)} files, more than the "
                    f"{limits.entries} that are read."
                )
            total = 0
            for member in members:
                if _LIBRARY.search(member.filename) and not member.is_dir():
                    total += member.file_size
                    yield member.filename, _read(archive, member, total, limits)
    except zipfile.BadZipFile as error:
        raise SourceError(
            f"--binary {path}: it is no readable wheel ({error}). Download it again."
        ) from error


def _read(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, total: int, limits: Limits
) -> bytes | str:
    size = member.file_size
    if size > limits.member_bytes or total > limits.total_bytes:
        return f"its {size} bytes are over the size limit"
    if size > _RATIO_FLOOR_BYTES and size > limits.ratio * max(member.compress_size, 1):
        return f"its {size} bytes come from {member.compress_size}, over the compression limit"
    try:
        with archive.open(member) as stream:
            data = stream.read(size + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        return f"the archive member is damaged or encrypted ({error})"
    return data if len(data) == size else "its size is not what the archive lists"
