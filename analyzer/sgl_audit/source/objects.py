"""Git tree objects as an index of members."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import NamedTuple

from sgl_audit.errors import SourceError
from sgl_audit.source.names import Notes, refusal
from sgl_audit.source.plumbing import BlobReader, GitFault, ask
from sgl_audit.source.tree import Member
from sgl_audit.source.wanted import Wanted

_SYMLINK = "120000"
_LINK_BYTES = 4096


class TreeEntry(NamedTuple):
    """One line of ls-tree."""

    mode: str
    kind: str
    object_id: str
    path: str


def list_tree(directory: Path, tree: str, *paths: str, recursive: bool = False) -> list[TreeEntry]:
    """Entries of a tree object, whatever folder of the repository `directory` is.

    Raises:
        GitFault: git cannot read the tree.
    """
    flags = "-rz" if recursive else "-z"
    output = ask(
        directory, "ls-tree", flags, "--full-tree", tree, *(("--", *paths) if paths else ())
    )
    entries = []
    for record in output.split(b"\0"):
        head, tab, path = record.partition(b"\t")
        fields = head.decode("ascii", errors="replace").split()
        if tab and len(fields) == 3:
            entries.append(
                TreeEntry(fields[0], fields[1], fields[2], path.decode("utf-8", "surrogateescape"))
            )
    return entries


def index_tree(
    directory: Path, tree: str, wanted: Wanted, reader: BlobReader, notes: Notes
) -> dict[str, Member]:
    """Index every file below the package's tree object under the package's name.

    Raises:
        SourceError: more entries than the limit.
        GitFault: git cannot read the tree.
    """
    entries = list_tree(directory, tree, recursive=True)
    if len(entries) > wanted.limits.entries:
        raise SourceError(
            f"the commit holds over {wanted.limits.entries} files in {wanted.package}, far more "
            "than any release; give another ref."
        )
    files = {
        entry.path: entry.object_id
        for entry in entries
        if entry.kind == "blob" and entry.mode != _SYMLINK
    }
    members: dict[str, Member] = {}
    for entry in entries:
        object_id: str | None = entry.object_id
        reason = refusal(entry.path)
        if reason is None and entry.kind != "blob":
            reason = "it is a submodule"
        if reason is None and entry.mode == _SYMLINK:
            object_id = _link_target(entry, files, reader)
            reason = None if object_id else "it is a symbolic link to nothing in the package"
        if reason is not None or object_id is None:
            notes.skip(entry.path, reason or "it cannot be read")
            continue
        members[f"{wanted.package}/{entry.path}"] = Member(-1, object_id, object_id)
    return dict(sorted(members.items()))


def _link_target(entry: TreeEntry, files: dict[str, str], reader: BlobReader) -> str | None:
    """The object of the file in the package that a symbolic link names directly."""
    try:
        data = reader.blob(entry.object_id, _LINK_BYTES)
    except GitFault:
        return None
    target = (data or b"").decode("utf-8", errors="surrogateescape")
    return files.get(posixpath.normpath(posixpath.join(posixpath.dirname(entry.path), target)))
