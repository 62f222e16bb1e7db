"""The overview of an audit: what the first screen of every report is made from."""

from __future__ import annotations

from dataclasses import dataclass

from sgl_audit.model.report import Audit, Coverage
from sgl_audit.model.triage import Handling
from sgl_audit_reports.common.families import CapabilityOverview, capability_overview
from sgl_audit_reports.common.findings import Numbered, numbered_of
from sgl_audit_reports.common.names import severity_counts
from sgl_audit_reports.common.options import OptionRow, option_rows


@dataclass(frozen=True, slots=True)
class Overview:
    """Plain data for the first screen."""

    capabilities: tuple[CapabilityOverview, ...]
    rows: tuple[OptionRow, ...]
    findings: tuple[Numbered, ...]
    counts: str
    understood: str

    @property
    def important_rows(self) -> tuple[OptionRow, ...]:
        """The options that a reader of the first screen needs."""
        return tuple(row for row in self.rows if row.important)


def overview_of(audit: Audit) -> Overview:
    """Condense an audit."""
    findings = numbered_of(audit)
    return Overview(
        tuple(capability_overview(audit, name) for name in audit.capabilities),
        option_rows(audit, findings),
        findings,
        counts_text(audit),
        understood_text(audit.coverage),
    )


def counts_text(audit: Audit) -> str:
    """`3 errors, 1 warning, 0 notes; 2 suppressed, 5 in the baseline`."""
    counting = audit.triage.counting(audit.findings)
    counts = severity_counts(item.severity for item in counting)
    handled = [(how, audit.triage.count(how)) for how in Handling]
    rest = ", ".join(f"{count} {how.value}" for how, count in handled if count)
    return f"{counts}; {rest}" if rest else counts


def understood_text(coverage: Coverage) -> str:
    """The honesty numbers in words."""
    return (
        f"gates understood {coverage.gates_understood} of {coverage.gates_total}, "
        f"decisions {coverage.decisions_understood} of {coverage.decisions_total}"
    )
