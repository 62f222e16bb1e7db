"""The configuration of a team: its defaults, rules, suppressions and baseline."""

from sgl_audit.settings.baseline import Entry, baseline_text, read_baseline
from sgl_audit.settings.reading import find_settings, read_settings
from sgl_audit.settings.triaging import triaged

__all__ = [
    "Entry",
    "baseline_text",
    "find_settings",
    "read_baseline",
    "read_settings",
    "triaged",
]
