"""What CI systems read: annotations, JUnit XML, and the matrix as CSV."""

from sgl_audit_reports.ci.annotations import audit_to_annotations
from sgl_audit_reports.ci.junit import audit_to_junit
from sgl_audit_reports.ci.review import review_to_annotations
from sgl_audit_reports.ci.table import matrix_to_csv

__all__ = ["audit_to_annotations", "audit_to_junit", "matrix_to_csv", "review_to_annotations"]
