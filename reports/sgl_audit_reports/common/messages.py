"""A finding in a few sentences, for places that show no more than text."""

from __future__ import annotations

from sgl_audit.model.report import Audit, Finding, Severity
from sgl_audit.model.source import Place
from sgl_audit_reports.common.findings import Numbered, numbered
from sgl_audit_reports.common.names import capability_range
from sgl_audit_reports.common.text import visible


def counting_findings(audit: Audit) -> tuple[Numbered, ...]:
    """The findings that count, worst first."""
    return numbered(audit.triage.counting(audit.findings))


def headline(finding: Finding) -> str:
    """`SGA101 attention_backend=flashinfer: default refused`, on one line."""
    value = f"={finding.value}" if finding.option and finding.value is not None else ""
    subject = f" {finding.option}{value}:" if finding.option else ""
    return visible(f"{finding.rule}{subject} {finding.title}")


def holds_on(finding: Finding, audit: Audit) -> str:
    """`on sm120, when ...`."""
    where = capability_range(finding.capabilities, audit.capabilities)
    when = f", when {visible(finding.when)}" if finding.when else ""
    return f"on {where}{when}"


def remedy_line(finding: Finding) -> str:
    """`do: ...`; of an error also that nothing is known to help; else nothing."""
    if finding.remedy:
        return f"do: {visible(finding.remedy)}"
    return "no flag is known to help" if finding.severity is Severity.ERROR else ""


def path_of(place: Place, base: str) -> str:
    """The file as the repository that is looked at knows it.

    Args:
        base: path from the root of that repository to the folder that holds the package, with a
            slash at its end; empty where the analysed source is no part of it.
    """
    return f"{base}{place.file}"
