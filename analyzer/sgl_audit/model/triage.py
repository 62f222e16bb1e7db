"""Findings that a team has dealt with: suppressed with a reason, or known from a baseline."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from sgl_audit.model.source import Diagnostic

if TYPE_CHECKING:
    # An audit holds its triage, so this way round it can only be a name.
    from sgl_audit.model.report import Finding


class Handling(StrEnum):
    """Why a finding does not count against the exit code."""

    SUPPRESSED = "suppressed"
    KNOWN = "in the baseline"
    OFF = "rule off"


@dataclass(frozen=True, slots=True)
class Handled:
    """One finding that does not count, and the reason given for it."""

    finding: Finding
    handling: Handling
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Triage:
    """What became of the findings. It hides them from lists and exit codes, never from verdicts.

    Attributes:
        handled: findings that do not count.
        notices: suppressions that match nothing or have expired, and what else went stale.
        compared: whether a baseline was given.
    """

    handled: tuple[Handled, ...] = ()
    notices: tuple[Diagnostic, ...] = ()
    compared: bool = False

    def of(self, finding: Finding) -> Handled | None:
        """How the finding was handled, or None where it counts."""
        return next((item for item in self.handled if item.finding == finding), None)

    def counting(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """The findings that nothing was said of, in order."""
        done = {item.finding for item in self.handled}
        return tuple(finding for finding in findings if finding not in done)

    def count(self, handling: Handling) -> int:
        """How many findings were handled in that way."""
        return sum(1 for item in self.handled if item.handling is handling)


UNTRIAGED = Triage()


def keys_of(findings: Iterable[Finding]) -> tuple[str, ...]:
    """A name for each finding: its fingerprint, numbered where one file holds twins.

    The order given decides which twin is which, so give them in a stable order.
    """
    seen: dict[str, int] = {}
    names = []
    for finding in findings:
        count = seen[finding.fingerprint] = seen.get(finding.fingerprint, 0) + 1
        names.append(finding.fingerprint if count == 1 else f"{finding.fingerprint}:{count}")
    return tuple(names)
