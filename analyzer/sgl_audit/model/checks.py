"""A team's launches, each with the file and line in which it is written."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sgl_audit.model.resolution import Outcome, Refusal, Resolution
from sgl_audit.model.source import Diagnostic, SourceInfo


class Standing(StrEnum):
    """How a launch ends on one capability, at once or once loading starts."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class LaunchCheck:
    """One launch of one file on one capability.

    Attributes:
        file: the path as it was given.
        line: of the command in the file, or None where the form has no lines.
    """

    file: str
    line: int | None
    name: str
    resolution: Resolution

    @property
    def capability(self) -> str:
        """Where it is to run."""
        return self.resolution.launch.capability

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """What certainly refuses it."""
        first = self.resolution.rejection
        return (*((first,) if first is not None else ()), *(self.resolution.late or ()))

    @property
    def standing(self) -> Standing:
        """Refused where anything certainly refuses it; accepted only if all of it is known."""
        if self.resolution.outcome is Outcome.REJECTED or self.refusals:
            return Standing.REFUSED
        if self.resolution.outcome is Outcome.UNKNOWN or self.resolution.late is None:
            return Standing.UNKNOWN
        return Standing.ACCEPTED

    @property
    def reason(self) -> str:
        """Why it is unknown, in a sentence."""
        if self.resolution.reason:
            return self.resolution.reason
        return "what is met once loading starts is unknown"


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Every launch of some files.

    Attributes:
        notices: files in which no server is started.
    """

    source: SourceInfo
    tool_version: str
    checks: tuple[LaunchCheck, ...]
    notices: tuple[Diagnostic, ...] = ()
