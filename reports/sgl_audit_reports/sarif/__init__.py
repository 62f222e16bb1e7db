"""SARIF 2.1.0, which code scanning services and editors read."""

from sgl_audit_reports.sarif.log import audit_to_sarif
from sgl_audit_reports.sarif.review import review_to_sarif

__all__ = ["audit_to_sarif", "review_to_sarif"]
