"""The history of an option as a JSON value."""

from __future__ import annotations

from sgl_audit.model.history import Entry, History
from sgl_audit_reports.json.encode import FORMAT_VERSION, JsonObject, dump, strings


def history_to_json(history: History) -> str:
    """The whole history."""
    value: JsonObject = {
        "format": FORMAT_VERSION,
        "tool": {"name": "sgl-audit", "version": history.tool_version},
        "option": history.option,
        "capabilities": strings(history.capabilities),
        "releases": [
            {"version": r.version, "read": r.looked, "problem": r.problem or None}
            for r in history.releases
        ],
        "first": [_entry(entry) for entry in history.first],
        "events": [
            {
                "release": event.after,
                "previous": event.before,
                "exact": event.exact,
                "aspect": event.aspect.value,
                "name": event.name,
                "capabilities": strings(event.capabilities),
                "before": event.old,
                "after": event.new,
            }
            for event in history.events
        ],
    }
    return dump(value) + "\n"


def _entry(entry: Entry) -> JsonObject:
    return {
        "aspect": entry.aspect.value,
        "name": entry.name,
        "capability": entry.capability,
        "value": entry.value,
    }
