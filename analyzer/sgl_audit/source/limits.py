"""Caps that keep a hostile or mistaken SOURCE from exhausting the machine."""

from __future__ import annotations

from dataclasses import dataclass

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps in bytes and counts; the largest real distribution seen uses under a tenth of each.

    Attributes:
        entries: files and folders in one tree or archive.
        directory_bytes: the list of members at the end of an archive; in memory it is ten times
            as large.
        python_bytes: one Python file.
        other_bytes: one file of any other kind.
        python_total_bytes: all Python files of the package together.
        total_bytes: everything an archive declares, unpacked.
        member_ratio: unpacked to packed size of one archive member of `ratio_floor` or more.
        archive_ratio: the same over the whole archive.
        depth: folders below the package.
    """

    entries: int = 200_000
    directory_bytes: int = 24 * _MIB
    python_bytes: int = 4 * _MIB
    other_bytes: int = 16 * _MIB
    python_total_bytes: int = 512 * _MIB
    total_bytes: int = 8 * 1024 * _MIB
    member_ratio: int = 200
    archive_ratio: int = 100
    ratio_floor: int = _MIB
    depth: int = 64

    def for_path(self, path: str) -> int:
        """The cap in bytes on the size of the file at `path`."""
        return self.python_bytes if path.endswith(".py") else self.other_bytes


DEFAULT_LIMITS = Limits()
