"""What an audit calls safe, and whether another audit calls more safe."""

from __future__ import annotations

from sgl_audit import api
from sgl_audit.model.report import Audit, ChoiceState
from sgl_audit.model.source import SourceTree
from sgl_audit.model.verdict import Verdict
from sgl_audit_reports.common.families import Standing, error_fingerprints, standing_of

# A claim and how good it is; what nobody claims is as good as unknown.
Claims = dict[tuple[str, ...], int]
_FAMILY = {Standing.NOT_SAFE: -1, Standing.UNKNOWN: 0, Standing.NO_FAULT: 1, Standing.SAFE: 2}
_REFUSED = (ChoiceState.REFUSED, ChoiceState.UNREACHABLE)


def audited(tree: SourceTree, *capabilities: str) -> Audit:
    """The audit, without the network and without other libraries."""
    return api.audit(tree, capabilities=capabilities)


def claims(audit: Audit) -> Claims:
    """How each family, choice and option stands."""
    found: Claims = {}
    errors = error_fingerprints(audit)
    for row in audit.families:
        advice = [item for item in audit.advice if item.capability == row.capability]
        standing = _FAMILY[standing_of(row, advice, errors)]
        found["family", row.family, row.capability] = standing
    for cell in audit.cells:
        key = ("choice", cell.option, str(cell.choice), cell.capability)
        if cell.verdict is Verdict.WORKS and cell.state not in _REFUSED:
            found[key] = 2
    return found


def gained(before: Claims, after: Claims) -> list[str]:
    """What is claimed to be better than it was, or good where nothing was claimed at all.

    From "not safe" to "unknown" is no gain: less was read, and less is said.
    """
    return [
        f"{' '.join(key)}: {before.get(key, 0)} -> {value}"
        for key, value in sorted(after.items())
        if value > 0 and value > before.get(key, 0)
    ]
