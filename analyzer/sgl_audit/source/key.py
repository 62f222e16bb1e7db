"""A short name for the content of a tree, for caches."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from sgl_audit.errors import SourceError
from sgl_audit.model.source import SourceTree
from sgl_audit.source.folder import FolderTree
from sgl_audit.source.tree import IndexedTree


def content_key(tree: SourceTree) -> str:
    """Sixty-four hex digits that change whenever the tree's files, version or pins do.

    Cheap: for wheels from the sizes and checksums in the central directory, for git from object
    ids, for folders from paths, sizes and times (and content where a file changed so shortly
    before the tree was opened that its times could stay the same through another change). The
    same content in another form of source has another key.
    """
    info = tree.info
    return digest_of((type(tree).__name__, info.package, repr(info.distribution), *_stamps(tree)))


def digest_of(parts: Iterable[str]) -> str:
    """Sixty-four hex digits of some texts in order; where one ends and the next begins counts."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", errors="surrogateescape")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


def _stamps(tree: SourceTree) -> Iterator[str]:
    if not isinstance(tree, IndexedTree):
        for path in tree.files():
            yield f"{path} {content_of(tree, path)}"
        return
    for path, member in tree.members.items():
        if isinstance(tree, FolderTree) and tree.is_fresh(member):
            yield f"{path} {member.size} {content_of(tree, path)}"
        else:
            yield f"{path} {member.size} {member.stamp}"


def content_of(tree: SourceTree, path: str) -> str:
    """The digest of one file's bytes, or why there are none."""
    try:
        return hashlib.sha256(tree.read(path)).hexdigest()
    except (KeyError, SourceError) as error:
        return absence(error)


def absence(error: KeyError | SourceError) -> str:
    """What stands for the digest of a file that was not read."""
    return "no such file" if isinstance(error, KeyError) else f"unreadable: {error}"
