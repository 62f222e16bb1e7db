"""Files of the tree that could not be read: said on stderr, and part of the exit code."""

from __future__ import annotations

from collections.abc import Sequence

from sgl_audit.cli.stderr import Feedback
from sgl_audit.errors import EXIT_CLEAN, EXIT_INCOMPLETE
from sgl_audit.model.source import Diagnostic

_SHOWN = 5


def unread(diagnostics: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Those that are about a file; values that stayed open are in the coverage instead."""
    return tuple(item for item in diagnostics if item.place is not None)


def tell_unread(diagnostics: Sequence[Diagnostic], feedback: Feedback) -> None:
    """Say which files are missing from the answer, and why."""
    found = unread(diagnostics)
    for item in found[:_SHOWN]:
        message = item.message.rstrip(".")
        feedback.notify(f"{item.place}: {message}; the answer lacks what this file says")
    if len(found) > _SHOWN:
        feedback.notify(f"{len(found) - _SHOWN} more files could not be read")


def completeness(diagnostics: Sequence[Diagnostic]) -> int:
    """3 where part of the tree was not read, else 0."""
    return EXIT_INCOMPLETE if unread(diagnostics) else EXIT_CLEAN
