"""What a team has written down in its configuration file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum


class RuleSetting(StrEnum):
    """What a configuration makes of a rule."""

    ON = "on"
    OFF = "off"
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Suppression:
    """Findings that are not to count, and why. Whatever is given must fit.

    Attributes:
        origin: where it is written ("sgl-audit.toml [[suppress]] 2").
        reason: never empty.
        file: pattern for the file of the finding, as shells write them.
        arch: capabilities on which it is accepted; every one where empty.
        expires: the last day on which it holds, or None.
    """

    origin: str
    reason: str
    rule: str | None = None
    fingerprint: str | None = None
    option: str | None = None
    value: str | None = None
    file: str | None = None
    arch: tuple[str, ...] = ()
    expires: date | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """One configuration file; empty where there is none.

    Attributes:
        origin: the file as messages name it, or "".
        values: plain settings by key, as the command line would take them.
        rules: id or pattern of rules -> what becomes of them.
    """

    origin: str = ""
    values: tuple[tuple[str, str | tuple[str, ...]], ...] = ()
    rules: tuple[tuple[str, RuleSetting], ...] = ()
    suppressions: tuple[Suppression, ...] = ()

    def value(self, key: str) -> str | tuple[str, ...] | None:
        """One plain setting, or None where the file does not have it."""
        return dict(self.values).get(key)


NO_SETTINGS = Settings()
