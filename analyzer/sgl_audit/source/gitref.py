"""`DIR@REF`: the package as a commit of a local repository holds it."""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import ClassVar

from sgl_audit.errors import SourceError, UsageError
from sgl_audit.model.source import Distribution, SourceInfo, SourceKind
from sgl_audit.source.limits import Limits
from sgl_audit.source.locate import PARENTS
from sgl_audit.source.metadata import METADATA_BYTES
from sgl_audit.source.names import Notes, shown
from sgl_audit.source.objects import TreeEntry, index_tree, list_tree
from sgl_audit.source.plumbing import BlobReader, GitFault, ask
from sgl_audit.source.project import project_distribution
from sgl_audit.source.tree import IndexedTree, Member, check_totals
from sgl_audit.source.wanted import Wanted, upstream_at_commit

_OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_VERSION_TAG = re.compile(r"v(\d[\w.]*)")


class GitTree(IndexedTree):
    """Blobs of one commit, read through git on demand."""

    _transient: ClassVar[tuple[str, ...]] = (*IndexedTree._transient, "_reader", "_process")

    def __init__(
        self, info: SourceInfo, members: dict[str, Member], limits: Limits, directory: Path
    ) -> None:
        super().__init__(info, members, limits)
        self._directory = directory

    def _open_transients(self) -> None:
        super()._open_transients()
        self._reader: BlobReader | None = None
        self._process = 0

    def _fetch(self, path: str, member: Member, limit: int) -> bytes:
        if self._reader is None or self._process != os.getpid():
            self._reader = BlobReader(self._directory)
            self._process = os.getpid()
        try:
            data = self._reader.blob(member.locator, limit)
        except GitFault as error:
            raise self._unreadable(path, error) from error
        if data is None:
            raise self._too_large(path, limit)
        return data


def split_git_spec(text: str) -> tuple[Path, str] | None:
    """Folder and ref of `DIR@REF`, or None where no part before an `@` is a folder.

    Both may hold an `@` themselves (`/home/a@b/sglang`, `HEAD@{1}`): the longest folder counts.
    """
    for position in range(len(text) - 1, 0, -1):
        if text[position] == "@" and Path(text[:position]).is_dir():
            return Path(text[:position]), text[position + 1 :]
    return None


def open_git(directory: Path, ref: str, wanted: Wanted) -> GitTree:
    """Open the package as it is at `ref` in the repository that holds `directory`.

    Raises:
        UsageError: the ref is empty, starts with `-` or holds control characters.
        SourceError: no repository, no such commit, or no such package in it.
    """
    if not ref or ref.startswith("-") or not ref.isprintable():
        raise UsageError(
            f"'{shown(ref)}' after the @ is no git ref; write {shown(directory)}@TAG, @BRANCH or "
            "@COMMIT, such as @v0.5.9."
        )
    directory = directory.resolve()
    label = f"{directory.name or directory}@{ref}"
    commit = _commit(directory, ref)
    notes = Notes(wanted.package)
    try:
        members, distribution = _contents(directory, commit, wanted, label, notes)
        distribution = _with_tag_version(directory, ref, commit, distribution)
    except GitFault as error:
        raise SourceError(
            f"git cannot read {shown(label)} ({shown(error)}); check the repository with git fsck."
        ) from error
    info = SourceInfo(
        kind=SourceKind.GIT,
        label=label,
        package=wanted.package,
        distribution=distribution,
        commit=commit,
        upstream=upstream_at_commit(wanted, commit),
        diagnostics=notes.diagnostics(),
    )
    return GitTree(info, members, wanted.limits, directory)


def _contents(
    directory: Path, commit: str, wanted: Wanted, label: str, notes: Notes
) -> tuple[dict[str, Member], Distribution]:
    reader = BlobReader(directory)
    folder, entry = _package_entry(directory, commit, wanted, label)
    members = index_tree(directory, entry.object_id, wanted, reader, notes)
    check_totals(members, wanted.package, label, wanted.limits)
    if not wanted.is_held_by(members):
        raise SourceError(
            f"{shown(folder)} in {shown(label)} is not a {wanted.package} source tree, because it "
            f"lacks {wanted.marker}; give another ref or folder."
        )
    return members, _distribution(reader, commit, posixpath.dirname(folder), wanted, notes)


def _commit(directory: Path, ref: str) -> str:
    try:
        ask(directory, "rev-parse", "--git-dir")
    except GitFault as error:
        raise SourceError(
            f"{shown(directory)} is no git repository that git will read ({shown(error)}); give "
            "the folder without @REF, or a clone."
        ) from error
    try:
        output = ask(directory, "rev-parse", "--verify", "--end-of-options", f"{ref}^{{commit}}")
    except GitFault as error:
        raise SourceError(
            f"{shown(ref)} names no commit in {shown(directory)}; see git tag and git branch, and "
            "fetch the ref where the clone does not have it."
        ) from error
    commit = output.decode("ascii", errors="replace").strip()
    if not _OBJECT_ID.fullmatch(commit):
        raise SourceError(
            f"git gave no single commit for {shown(ref)} in {shown(directory)}; give a tag, a "
            "branch or a commit id."
        )
    return commit


def _package_entry(
    directory: Path, commit: str, wanted: Wanted, label: str
) -> tuple[str, TreeEntry]:
    """Path and tree object of the package folder, nearest to the folder that was given."""
    prefix = os.fsdecode(ask(directory, "rev-parse", "--show-prefix")).strip("\n").rstrip("/")
    paths = [
        posixpath.join(base, parent, wanted.package)
        for base in _with_parents(prefix)
        for parent in PARENTS
    ]
    # One at a time: asked for two nested paths, ls-tree shows only the inner one.
    for path in paths:
        for entry in list_tree(directory, commit, path):
            if entry.kind == "tree" and entry.path == path:
                return path, entry
    raise SourceError(
        f"{shown(label)} holds no {wanted.package} package (looked for {', '.join(paths[-3:])}); "
        "give a clone of the repository that has it."
    )


def _with_parents(path: str) -> list[str]:
    parts = path.split("/") if path else []
    return ["/".join(parts[:count]) for count in range(len(parts), -1, -1)]


def _distribution(
    reader: BlobReader, commit: str, parent: str, wanted: Wanted, notes: Notes
) -> Distribution:
    def fetch(path: str) -> bytes | None:
        full = posixpath.normpath(posixpath.join(parent, path))
        if full.startswith(".."):
            return None
        try:
            return reader.blob(f"{commit}:{full}", METADATA_BYTES)
        except GitFault:
            return None

    return project_distribution(fetch, wanted, notes)


def _with_tag_version(
    directory: Path, ref: str, commit: str, distribution: Distribution
) -> Distribution:
    """Take the version from a `vX.Y.Z` tag, as the project's own build does where it is dynamic."""
    match = _VERSION_TAG.fullmatch(ref.removeprefix("refs/tags/"))
    if distribution.version is not None or match is None:
        return distribution
    tag = f"refs/tags/v{match[1]}^{{commit}}"
    try:
        tagged = ask(directory, "rev-parse", "--verify", "--end-of-options", tag)
    except GitFault:
        return distribution
    if tagged.decode("ascii", errors="replace").strip() != commit:
        return distribution
    return Distribution(distribution.name, match[1], distribution.requires)
