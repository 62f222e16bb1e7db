"""The table of options: default, what it becomes, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass

from sgl_audit.model.report import Audit, OptionBehaviour, Severity
from sgl_audit_reports.common.findings import Numbered, severity_rank
from sgl_audit_reports.common.text import default_text, unique, value_text, visible


@dataclass(frozen=True, slots=True)
class OptionCell:
    """One option on one capability.

    Attributes:
        becomes: "same", a value, several values, or "unknown".
        verdict: what is known of it, in a word or two.
        title: the worst finding's title, or "".
        numbers: footnotes.
        severity: the worst finding's, or None.
    """

    capability: str
    becomes: str
    verdict: str
    title: str
    numbers: tuple[int, ...]
    severity: Severity | None
    differs: bool


@dataclass(frozen=True, slots=True)
class OptionRow:
    """One option over the capabilities asked."""

    option: str
    default: str
    cells: tuple[OptionCell, ...]

    @property
    def important(self) -> bool:
        """Whether a reader of the first screen needs it."""
        return any(cell.differs or cell.numbers for cell in self.cells) or (
            len({cell.becomes for cell in self.cells}) > 1
        )


def option_rows(audit: Audit, findings: tuple[Numbered, ...]) -> tuple[OptionRow, ...]:
    """Every option of the audit, the worst first."""
    by_option: dict[str, dict[str, OptionBehaviour]] = {}
    for behaviour in audit.behaviours:
        by_option.setdefault(behaviour.option, {})[behaviour.capability] = behaviour
    rows = [
        OptionRow(
            option,
            default_text(next(iter(found.values())).default),
            tuple(_cell(found.get(name), name, option, findings) for name in audit.capabilities),
        )
        for option, found in by_option.items()
    ]
    return tuple(sorted(rows, key=_rank))


def _rank(row: OptionRow) -> tuple[int, int, bool, str]:
    numbers = [number for cell in row.cells for number in cell.numbers]
    severities = [severity_rank(cell.severity) for cell in row.cells if cell.severity is not None]
    return (min(severities, default=9), min(numbers, default=9999), not row.important, row.option)


def _cell(
    behaviour: OptionBehaviour | None,
    capability: str,
    option: str,
    findings: tuple[Numbered, ...],
) -> OptionCell:
    own = [
        item
        for item in findings
        if item.finding.option == option and capability in item.finding.capabilities
    ]
    becomes = _becomes(behaviour)
    return OptionCell(
        capability,
        becomes,
        _verdict(behaviour, own, becomes),
        visible(own[0].finding.title) if own else "",
        tuple(item.number for item in own),
        own[0].finding.severity if own else None,
        becomes != "same" or (behaviour is not None and behaviour.undecided),
    )


def _becomes(behaviour: OptionBehaviour | None) -> str:
    if behaviour is None or not behaviour.becomes:
        return "unknown"
    values = unique(value_text(case.value) for case in behaviour.becomes)
    if values == (default_text(behaviour.default),):
        return f"{values[0]}, nobody decides" if behaviour.undecided else "same"
    return " or ".join(values) if len(values) < 4 else f"{values[0]} or {len(values) - 1} others"


def _verdict(behaviour: OptionBehaviour | None, own: list[Numbered], becomes: str) -> str:
    if own:
        return own[0].finding.severity.value
    if behaviour is None or becomes == "unknown":
        return "unknown"
    if behaviour.undecided:
        return "left to run time"
    return "no fault found"
