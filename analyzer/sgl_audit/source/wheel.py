"""Wheel files as trees: read with zipfile, member by member, never extracted."""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from pathlib import Path
from typing import ClassVar

from sgl_audit.errors import SourceError
from sgl_audit.model.source import Distribution, SourceInfo, SourceKind
from sgl_audit.source.limits import Limits
from sgl_audit.source.locate import is_info_folder
from sgl_audit.source.metadata import METADATA_BYTES, parse_metadata
from sgl_audit.source.names import Notes, refusal, shown
from sgl_audit.source.tree import IndexedTree, Member, check_totals
from sgl_audit.source.wanted import Wanted, upstream_at_version

# The records at the end of an archive, and how far from its end they can begin.
_END_OF_DIRECTORY = b"PK\x05\x06"
_END_OF_LARGE_DIRECTORY = b"PK\x06\x06"
_TAIL_BYTES = 65_535 + 22 + 20 + 56
# What zipfile raises on archives that are damaged, encrypted or made to mislead.
_FAULTS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
)


class WheelTree(IndexedTree):
    """The members of one wheel file, decompressed on demand."""

    _transient: ClassVar[tuple[str, ...]] = (*IndexedTree._transient, "_archive", "_process")

    def __init__(
        self, info: SourceInfo, members: dict[str, Member], limits: Limits, path: Path
    ) -> None:
        super().__init__(info, members, limits)
        self._path = path
        self._identity = _identity(path)

    def _open_transients(self) -> None:
        super()._open_transients()
        self._archive: zipfile.ZipFile | None = None
        self._process = 0

    def _fetch(self, path: str, member: Member, limit: int) -> bytes:
        try:
            with self._opened().open(member.locator) as file:
                data = file.read(limit + 1)
        except (KeyError, *_FAULTS) as error:
            raise self._unreadable(path, error) from error
        if len(data) > limit:
            raise self._too_large(path, limit)
        return data

    def _opened(self) -> zipfile.ZipFile:
        # A forked worker shares the file position with its parent, so it needs its own handle.
        if self._archive is None or self._process != os.getpid():
            if _identity(self._path) != self._identity:
                raise OSError("the wheel file changed since it was opened")
            self._archive = zipfile.ZipFile(self._path)
            self._process = os.getpid()
        return self._archive


def open_wheel(
    path: Path, wanted: Wanted, kind: SourceKind = SourceKind.WHEEL, label: str | None = None
) -> WheelTree:
    """Open a wheel file; only its central directory and metadata are read.

    Raises:
        SourceError: not a readable wheel, a zip bomb, or a wheel of something else.
    """
    notes = Notes(wanted.package)
    name = label or path.name
    path = path.resolve()
    try:
        _check_directory(path, name, wanted.limits)
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            _check_archive(entries, path, name, wanted.limits)
            members = _index(entries, wanted.limits, notes)
            distribution = _distribution(archive, members, wanted, notes)
    except _FAULTS as error:
        raise SourceError(
            f"{shown(name)} is not a readable wheel ({shown(error)}); download it again."
        ) from error
    check_totals(members, wanted.package, name, wanted.limits)
    if not wanted.is_held_by(members):
        raise SourceError(
            f"{shown(name)} is not a {wanted.package} wheel, because it lacks "
            f"{wanted.package}/{wanted.marker}; give a wheel of {wanted.distribution}."
        )
    info = SourceInfo(
        kind=kind,
        label=name,
        package=wanted.package,
        distribution=distribution,
        upstream=upstream_at_version(wanted, distribution.name, distribution.version),
        diagnostics=notes.diagnostics(),
    )
    return WheelTree(info, members, wanted.limits, path)


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _check_directory(path: Path, name: str, limits: Limits) -> None:
    """Refuse an archive with more members than any release before they are all in memory."""
    with path.open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - _TAIL_BYTES))
        tail = file.read()
    at = tail.rfind(_END_OF_DIRECTORY)
    if at < 0 or len(tail) < at + 22:
        return
    size: int = struct.unpack_from("<L", tail, at + 12)[0]
    # Only archives beyond 4 GiB or 65,535 members have the larger form of this record.
    large = tail.rfind(_END_OF_LARGE_DIRECTORY, 0, at)
    if large >= 0 and len(tail) >= large + 48:
        size = max(size if size != 0xFFFFFFFF else 0, struct.unpack_from("<Q", tail, large + 40)[0])
    if size > limits.directory_bytes:
        raise SourceError(
            f"{shown(name)} lists its members in over {limits.directory_bytes} bytes, far more "
            "than any release; it is refused as a zip bomb, so download the wheel again from a "
            "place you trust."
        )


def _check_archive(entries: list[zipfile.ZipInfo], path: Path, name: str, limits: Limits) -> None:
    total = sum(entry.file_size for entry in entries)
    if len(entries) > limits.entries:
        excess = f"{limits.entries} entries"
    elif total > limits.total_bytes:
        excess = f"{limits.total_bytes} bytes unpacked"
    elif total > limits.ratio_floor and total > limits.archive_ratio * path.stat().st_size:
        excess = f"{limits.archive_ratio} times its own size unpacked"
    else:
        return
    raise SourceError(
        f"{shown(name)} would be over {excess}, far more than any release; it is refused as a "
        "zip bomb, so download the wheel again from a place you trust."
    )


def _index(entries: list[zipfile.ZipInfo], limits: Limits, notes: Notes) -> dict[str, Member]:
    members: dict[str, Member] = {}
    for entry in entries:
        if entry.is_dir():
            continue
        reason = refusal(entry.filename) or _entry_refusal(entry, limits)
        if reason is None and entry.filename in members:
            # As every installer does, the last one counts.
            notes.add(f"{shown(entry.filename)} is in the wheel twice; the last one is read.")
        if reason is not None:
            notes.skip(entry.filename, reason)
            continue
        stamp = f"{entry.CRC:08x}"
        members[entry.filename] = Member(entry.file_size, stamp, entry.filename)
    return dict(sorted(members.items()))


def _entry_refusal(entry: zipfile.ZipInfo, limits: Limits) -> str | None:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        return "it is not a regular file"
    packed = max(entry.compress_size, 1)
    if entry.file_size > limits.ratio_floor and entry.file_size > limits.member_ratio * packed:
        return f"it would unpack to over {limits.member_ratio} times its size"
    return None


def _distribution(
    archive: zipfile.ZipFile, members: dict[str, Member], wanted: Wanted, notes: Notes
) -> Distribution:
    infos = [
        path for path in members if path.endswith(".dist-info/METADATA") and path.count("/") == 1
    ]
    own = [path for path in infos if is_info_folder(path.split("/")[0], wanted.normal_name)]
    for path in own or infos:
        if members[path].size <= METADATA_BYTES:
            with archive.open(path) as file:
                data = file.read(METADATA_BYTES)
            return parse_metadata(data, wanted.distribution, notes)
    notes.add("the wheel holds no METADATA, so its version and pins are not known.")
    return Distribution(name=wanted.normal_name, version=None)
