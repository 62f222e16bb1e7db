"""Terminal reports. Each function takes a value and the console to print it on."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

# A command prints one of them.
_WHERE = {
    "make_console": "console",
    "render_audit": "audit",
    "render_evidence": "evidence",
    "render_explain": "rules",
    "render_facts_summary": "facts",
    "render_families": "families",
    "render_history": "history",
    "render_joined": "evidence",
    "render_list": "evidence",
    "render_matrix": "matrix",
    "render_recommendations": "recommendation",
    "render_resolution": "resolution",
    "render_resolutions": "resolution",
    "render_review": "upgrade",
    "render_rules": "rules",
    "render_show": "show",
}


def __getattr__(name: str) -> object:
    if name in _WHERE:
        return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
