"""JSON reports. Every object carries `format`; docs/json.md describes them, `schema/` checks them.

Format 1: first version.
"""

from sgl_audit_reports.json.audit import audit_to_json
from sgl_audit_reports.json.encode import FORMAT_VERSION, dump
from sgl_audit_reports.json.facts import facts_to_json
from sgl_audit_reports.json.history import history_to_json
from sgl_audit_reports.json.resolution import resolution_to_json
from sgl_audit_reports.json.review import review_to_json
from sgl_audit_reports.json.schema import schema
from sgl_audit_reports.json.verdicts import recommendation_to_json

__all__ = [
    "FORMAT_VERSION",
    "audit_to_json",
    "dump",
    "facts_to_json",
    "history_to_json",
    "recommendation_to_json",
    "resolution_to_json",
    "review_to_json",
    "schema",
]
