"""Markdown reports, fit for a pull request comment or a step summary."""

from sgl_audit_reports.markdown.audit import audit_to_markdown
from sgl_audit_reports.markdown.recommendation import recommendations_to_markdown
from sgl_audit_reports.markdown.resolution import resolution_to_markdown
from sgl_audit_reports.markdown.review import review_to_markdown

__all__ = [
    "audit_to_markdown",
    "recommendations_to_markdown",
    "resolution_to_markdown",
    "review_to_markdown",
]
