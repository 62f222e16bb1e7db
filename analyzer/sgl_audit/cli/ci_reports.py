"""Audits in the forms that CI systems read."""

from __future__ import annotations

from sgl_audit.cli.joining import Runs
from sgl_audit.cli.repository import base_in_repository
from sgl_audit.model.report import Audit


def ci_report(
    audit: Audit, form: str, source: str | None, fail_on: str, runs: Runs | None = None
) -> str:
    """The audit as SARIF, GitHub annotations, JUnit XML or CSV.

    Args:
        source: the words that named the analysed source: paths become those of the repository
            around the current folder where the source is a part of it.
        fail_on: the severity from which a finding is a failure, or "never".
        runs: runs of the actual server, where the form has room for them within.
    """
    if form == "csv":
        from sgl_audit_reports.ci import matrix_to_csv

        return matrix_to_csv(audit, runs)
    base = base_in_repository(source, audit.source)
    if form == "github":
        from sgl_audit_reports.ci import audit_to_annotations

        return audit_to_annotations(audit, base)
    if form == "junit":
        from sgl_audit_reports.ci import audit_to_junit

        return audit_to_junit(audit, fail_on, base, runs or ())
    from sgl_audit.rules import all_rules
    from sgl_audit_reports.sarif import audit_to_sarif

    return audit_to_sarif(audit, all_rules(), base)
