"""Folders on disk as trees: checkouts, unpacked wheels and installed packages."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from sgl_audit.errors import SourceError
from sgl_audit.model.source import Distribution, SourceInfo, SourceKind
from sgl_audit.source.limits import Limits
from sgl_audit.source.locate import find_package, folder_distribution
from sgl_audit.source.names import Notes, refusal, shown
from sgl_audit.source.regular import read_regular
from sgl_audit.source.tree import IndexedTree, Member, check_totals
from sgl_audit.source.wanted import Wanted, upstream_at_version

# Compiled copies of the sources beside them; never worth a diagnostic.
_IGNORED_FOLDERS = frozenset({"__pycache__"})
# Coarser than the time stamps of any file system in use.
_CLOCK_TICK_NS = 2_000_000_000


class FolderTree(IndexedTree):
    """The package folder at `package_folder`, read file by file."""

    def __init__(
        self, info: SourceInfo, members: dict[str, Member], limits: Limits, package_folder: Path
    ) -> None:
        super().__init__(info, members, limits)
        self._folder = package_folder
        self._opened_ns = time.time_ns()

    def is_fresh(self, member: Member) -> bool:
        """Whether the file changed so lately that a further change could keep its times."""
        return max(map(int, member.stamp.split())) > self._opened_ns - _CLOCK_TICK_NS

    def _fetch(self, path: str, member: Member, limit: int) -> bytes:
        try:
            data = read_regular(self._folder / member.locator, limit)
        except OSError as error:
            raise self._unreadable(path, error.strerror or error) from error
        if len(data) > limit:
            raise self._too_large(path, limit)
        return data


def open_folder(
    folder: Path,
    wanted: Wanted,
    kind: SourceKind = SourceKind.CHECKOUT,
    label: str | None = None,
    distribution: Distribution | None = None,
) -> FolderTree:
    """Open a repository root, its `python/`, a package folder or an unpacked wheel.

    Args:
        folder: any folder from which the package can be found.
        kind: the form to report.
        label: how reports name it; the folder's own name where not given.
        distribution: metadata that is already known; read from beside the package otherwise.

    Raises:
        SourceError: the package is not there, or is too large to analyse.
    """
    notes = Notes(wanted.package, f"{wanted.package}/")
    package_folder = find_package(folder, wanted)
    name = label or package_folder_label(folder)
    members = scan(package_folder, wanted, notes)
    check_totals(members, wanted.package, name, wanted.limits)
    metadata = distribution or folder_distribution(package_folder, wanted, notes)
    info = SourceInfo(
        kind=kind,
        label=name,
        package=wanted.package,
        distribution=metadata,
        upstream=upstream_at_version(wanted, metadata.name, metadata.version),
        diagnostics=notes.diagnostics(),
    )
    return FolderTree(info, members, wanted.limits, package_folder)


def package_folder_label(folder: Path) -> str:
    """The folder's own name, without the private path above it."""
    return folder.resolve().name or str(folder)


def scan(package_folder: Path, wanted: Wanted, notes: Notes) -> dict[str, Member]:
    """Index every regular file below `package_folder` under the package's name.

    Raises:
        SourceError: more entries than the limit.
    """
    members: dict[str, Member] = {}
    for relative, entry in _walk(package_folder, wanted.limits, notes):
        path = f"{wanted.package}/{relative}"
        member = _member(package_folder, relative, entry, notes)
        if member is not None:
            members[path] = member
    return dict(sorted(members.items()))


def _walk(root: Path, limits: Limits, notes: Notes) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Every entry that is not a plain folder, with its POSIX path relative to `root`.

    Raises:
        SourceError: more entries than the limit, folders and what is left out included.
    """
    pending, left = [""], limits.entries
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(root / folder) as iterator:
                # One folder may hold millions of them, which must not be in memory first.
                entries = sorted(islice(iterator, left + 1), key=lambda entry: entry.name)
                left -= len(entries)
        except OSError as error:
            notes.skip(folder, f"the folder cannot be read ({error.strerror})", holds_code=True)
            continue
        if left < 0:
            raise SourceError(
                f"{shown(root)} holds over {limits.entries} entries, far more "
                "than any release; give the package folder or a released wheel."
            )
        for entry in entries:
            relative = f"{folder}/{entry.name}" if folder else entry.name
            reason = refusal(relative)
            if reason is not None:
                notes.skip(relative, reason)
            elif not entry.is_dir(follow_symlinks=False):
                yield relative, entry
            elif entry.name in _IGNORED_FOLDERS:
                continue
            elif relative.count("/") >= limits.depth:
                notes.skip(relative, f"it lies over {limits.depth} folders deep", holds_code=True)
            else:
                pending.append(relative)


def _member(root: Path, relative: str, entry: os.DirEntry[str], notes: Notes) -> Member | None:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        notes.skip(relative, f"it cannot be read ({error.strerror})")
        return None
    locator = relative
    if stat.S_ISLNK(status.st_mode):
        target = _link_target(root, relative, notes)
        if target is None:
            return None
        locator, status = target
    if not stat.S_ISREG(status.st_mode):
        notes.skip(relative, "it is neither a file nor a folder")
        return None
    return Member(status.st_size, f"{status.st_mtime_ns} {status.st_ctime_ns}", locator)


def _link_target(root: Path, relative: str, notes: Notes) -> tuple[str, os.stat_result] | None:
    """What a symbolic link means: another file of the same package, or nothing."""
    try:
        target = (root / relative).resolve(strict=True)
        status = target.stat()
    except (OSError, RuntimeError):
        notes.skip(relative, "it is a symbolic link that leads nowhere")
        return None
    folder = stat.S_ISDIR(status.st_mode)
    if folder or not target.is_relative_to(root):
        leads = "to a folder" if target.is_relative_to(root) else "out of the package"
        notes.skip(relative, f"it is a symbolic link {leads}", holds_code=folder)
        return None
    return target.relative_to(root).as_posix(), status
