"""Terminal reports. Each function takes a value and the console to print it on."""

from sgl_audit_reports.terminal.audit import render_audit
from sgl_audit_reports.terminal.console import make_console
from sgl_audit_reports.terminal.evidence import render_evidence, render_joined, render_list
from sgl_audit_reports.terminal.facts import render_facts_summary
from sgl_audit_reports.terminal.families import render_families
from sgl_audit_reports.terminal.history import render_history
from sgl_audit_reports.terminal.matrix import render_matrix
from sgl_audit_reports.terminal.recommendation import render_recommendations
from sgl_audit_reports.terminal.resolution import render_resolution, render_resolutions
from sgl_audit_reports.terminal.rules import render_explain, render_rules
from sgl_audit_reports.terminal.show import render_show
from sgl_audit_reports.terminal.upgrade import render_review

__all__ = [
    "make_console",
    "render_audit",
    "render_evidence",
    "render_explain",
    "render_facts_summary",
    "render_families",
    "render_history",
    "render_joined",
    "render_list",
    "render_matrix",
    "render_recommendations",
    "render_resolution",
    "render_resolutions",
    "render_review",
    "render_rules",
    "render_show",
]
