"""HTML reports: one offline file each. Plain data first, then Jinja2 renders it."""

from sgl_audit_reports.html.render import (
    audit_html,
    evidence_html,
    families_html,
    history_html,
    recommendation_html,
    resolution_html,
    review_html,
)

__all__ = [
    "audit_html",
    "evidence_html",
    "families_html",
    "history_html",
    "recommendation_html",
    "resolution_html",
    "review_html",
]
