"""Parts of the JSON audit, for the commands that show one part of it."""

from __future__ import annotations

from sgl_audit.model.report import Audit

_ALWAYS = ("format", "tool", "source", "capabilities", "assumptions")


def part_of_audit(audit: Audit, *keys: str) -> str:
    """The audit's JSON with only these keys beside what says what it is of."""
    from sgl_audit_reports.json import dump
    from sgl_audit_reports.json.audit import audit_object

    whole = audit_object(audit)
    return dump({key: whole[key] for key in (*_ALWAYS, *keys) if key in whole}) + "\n"
