"""The table of options: default, what it becomes, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sgl_audit.model.report import Audit, OptionBehaviour, Severity
from sgl_audit_reports.common.findings import Numbered, severity_rank
from sgl_audit_reports.common.text import default_text, unique, value_text, visible

# How a case says that source text computes its value.
_COMPUTED = "(computed: "


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
    """One option over the capabilities asked.

    Attributes:
        choosable: whether a launch can choose it: a field without a flag is the tree's own.
    """

    option: str
    default: str
    cells: tuple[OptionCell, ...]
    choosable: bool = True

    @property
    def important(self) -> bool:
        """Whether a reader of the first screen needs it."""
        if any(cell.numbers for cell in self.cells):
            return True
        differs = any(cell.differs for cell in self.cells)
        return self.choosable and (differs or len({cell.becomes for cell in self.cells}) > 1)


def option_rows(audit: Audit, findings: tuple[Numbered, ...]) -> tuple[OptionRow, ...]:
    """Every option of the audit, the worst first."""
    flagless = {option.name for option in audit.facts.options if not option.flags}
    by_option: dict[str, dict[str, OptionBehaviour]] = {}
    for behaviour in audit.behaviours:
        by_option.setdefault(behaviour.option, {})[behaviour.capability] = behaviour
    rows = [
        OptionRow(
            option,
            default_text(next(iter(found.values())).default),
            tuple(_cell(found.get(name), name, option, findings) for name in audit.capabilities),
            option not in flagless,
        )
        for option, found in by_option.items()
    ]
    return tuple(sorted(rows, key=_rank))


def _rank(row: OptionRow) -> tuple[int, int, bool, bool, str]:
    numbers = [number for cell in row.cells for number in cell.numbers]
    severities = [severity_rank(cell.severity) for cell in row.cells if cell.severity is not None]
    worst = (min(severities, default=9), min(numbers, default=9999))
    return (*worst, not row.important, not row.choosable, row.option)


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
    values = _named(value_text(case.value) for case in behaviour.becomes)
    if values == (default_text(behaviour.default),):
        return f"{values[0]}, nobody decides" if behaviour.undecided else "same"
    return " or ".join(values) if len(values) < 4 else f"{values[0]} or {len(values) - 1} others"


def _named(values: Iterable[str]) -> tuple[str, ...]:
    """Values by name, and last, once, that some expression of the tree computes one."""
    found = unique(values)
    names = tuple(value for value in found if not value.startswith(_COMPUTED))
    return names if len(names) == len(found) else (*names, "a computed value")


def _verdict(behaviour: OptionBehaviour | None, own: list[Numbered], becomes: str) -> str:
    if own:
        return own[0].finding.severity.value
    if behaviour is None or becomes == "unknown":
        return "unknown"
    if behaviour.undecided:
        return "left to run time"
    return "no fault found"
