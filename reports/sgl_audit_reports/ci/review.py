"""The review of an upgrade as workflow commands of GitHub."""

from __future__ import annotations

from sgl_audit.model.review import Change, ChangeKind, Review
from sgl_audit_reports.ci.commands import command
from sgl_audit_reports.common.messages import path_of
from sgl_audit_reports.common.text import plural

_COMMAND = {ChangeKind.BREAKING: "error", ChangeKind.BEHAVIOUR: "warning"}


def review_to_annotations(review: Review, base: str = "") -> str:
    """A command for each change that breaks or behaves differently, in order of harm."""
    changes = [item for item in review.changes if item.kind in _COMMAND]
    lines = [_change(item, base) for item in changes]
    counts = ", ".join(
        f"{sum(item.kind is kind for item in changes)} {kind.value}" for kind in _COMMAND
    )
    return "\n".join([*lines, f"sgl-audit: {plural(len(changes), 'change')}: {counts}"]) + "\n"


def _change(change: Change, base: str) -> str:
    properties = {}
    if change.new_place is not None:
        properties["file"] = path_of(change.new_place, base)
        properties["line"] = str(change.new_place.line)
    properties["title"] = f"{change.kind.value}: {change.subject.value} {change.name}"
    where = f"on {', '.join(change.capabilities)}" if change.capabilities else ""
    do = f"do: {change.remedy}" if change.remedy else ""
    return command(_COMMAND[change.kind], properties, change.text, where, do)
