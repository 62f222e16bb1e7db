"""What must not be compared, because one of the trees was not read there."""

from __future__ import annotations

from collections.abc import Iterable

from sgl_audit.model.facts import Facts
from sgl_audit.model.review import Change, ChangeSubject
from sgl_audit.model.source import Diagnostic

_DECLARATIONS = (
    ChangeSubject.OPTION,
    ChangeSubject.FLAG,
    ChangeSubject.CHOICE,
    ChangeSubject.DEFAULT,
    ChangeSubject.VALUE,
)


def unread_files(facts: Facts) -> frozenset[str]:
    """Files of the tree that could not be read or parsed."""
    return frozenset(item.place.file for item in facts.diagnostics if item.place is not None)


def _declares(files: frozenset[str]) -> bool:
    """Whether the server's arguments may be declared in one of the files."""
    return any("/server_args" in file or "/arg_groups/" in file for file in files)


def believable(
    changes: Iterable[Change], old: Facts, new: Facts
) -> tuple[list[Change], tuple[Diagnostic, ...]]:
    """Changes without those that may only mean that a file was not read, and what was left out."""
    lost_old, lost_new = unread_files(old), unread_files(new)
    options = _declares(lost_old) or _declares(lost_new) or not old.options or not new.options
    kept = [
        change
        for change in changes
        if not (options and change.subject in _DECLARATIONS)
        and not _one_sided(change, lost_old, lost_new)
    ]
    return kept, tuple(_said(lost_old, lost_new, options))


def _one_sided(change: Change, lost_old: frozenset[str], lost_new: frozenset[str]) -> bool:
    """Whether what seems to be gone or new may lie in a file that was not read."""
    if change.old_place is not None and change.new_place is None:
        return change.old_place.file in lost_new
    if change.new_place is not None and change.old_place is None:
        return change.new_place.file in lost_old
    return False


def _said(
    lost_old: frozenset[str], lost_new: frozenset[str], options: bool
) -> Iterable[Diagnostic]:
    for version, files in (("old", lost_old), ("new", lost_new)):
        for file in sorted(files):
            yield Diagnostic(
                f"{file} of the {version} version could not be read; what it holds is not compared"
            )
    if options:
        yield Diagnostic(
            "options, flags and choices are not compared: the server's arguments of one version "
            "could not be read"
        )
