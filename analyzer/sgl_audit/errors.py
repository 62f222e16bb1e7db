"""The errors a user can meet: one sentence each, with the exit code it ends in."""

from __future__ import annotations

EXIT_CLEAN = 0
EXIT_FINDINGS = 1
EXIT_USAGE = 2
EXIT_INCOMPLETE = 3


class SglAuditError(Exception):
    """Base of every error that is shown to the user as one sentence.

    Attributes:
        exit_code: the process exit code that this error leads to.
    """

    exit_code = EXIT_USAGE


class UsageError(SglAuditError):
    """The arguments or an input file are wrong; the sentence says what, where and what to do."""


class SourceError(SglAuditError):
    """A SOURCE cannot be opened or is not what it should be."""


class IncompleteError(SglAuditError):
    """The analysis started and could not be completed."""

    exit_code = EXIT_INCOMPLETE
