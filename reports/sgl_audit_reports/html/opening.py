"""What the first screen of a page says: who stands how, and what to copy."""

from __future__ import annotations

from sgl_audit.model.report import Audit
from sgl_audit_reports.common.families import AdviceBlock, Standing, standings
from sgl_audit_reports.common.names import capability_label, capability_range
from sgl_audit_reports.common.overview import Overview
from sgl_audit_reports.common.text import clipped, listed, unique, visible
from sgl_audit_reports.html.data import AdviceItem, Badge, StandingItem
from sgl_audit_reports.html.parts import STANDING_BADGE

_NAMES = 8
_NAME = 44


def verdict_badge(overview: Overview) -> Badge:
    """The answer in one badge: the worst of all capabilities."""
    found = {item.standing for item in overview.capabilities}
    worst = (Standing.NOT_SAFE, Standing.UNKNOWN, Standing.NO_FAULT, Standing.SAFE)
    standing = next((item for item in worst if item in found), Standing.UNKNOWN)
    return STANDING_BADGE[standing]


def standing_items(audit: Audit, overview: Overview) -> tuple[StandingItem, ...]:
    """Who stands how, the worst first."""
    many = len(audit.capabilities) > 1
    items = []
    for item in standings(overview.capabilities):
        parts = tuple(
            listed([clipped(name, _NAME) for name in names], _NAMES)
            + (f" on {capability_range(on, audit.capabilities)}" if many else "")
            for names, on in item.subjects
        )
        long = any(
            len(names) > _NAMES or len(max(names, key=len)) > _NAME for names, _ in item.subjects
        )
        everything = tuple(name for names, _ in item.subjects for name in names) if long else ()
        items.append(StandingItem(STANDING_BADGE[item.standing], parts, unique(everything)))
    silent = [item.capability for item in overview.capabilities if not item.subjects]
    if silent:
        where = capability_range(silent, audit.capabilities)
        said = f"no error touches a default on {where}; model families were not computed"
        items.append(StandingItem(STANDING_BADGE[Standing.UNKNOWN], (said,), ()))
    return tuple(items)


def advice_items(overview: Overview) -> tuple[AdviceItem, ...]:
    """The lines of flags to copy, each with who needs it and why."""
    blocks: dict[AdviceBlock, list[str]] = {}
    for item in overview.capabilities:
        for block in item.advice:
            blocks.setdefault(block, []).append(capability_label(item.capability))
    return tuple(
        AdviceItem(
            listed(block.families, 12),
            listed(names) if len(overview.capabilities) > 1 else "",
            " ".join(visible(flag) for flag in block.flags),
            tuple(visible(reason) for reason in block.reasons),
            _note(block),
        )
        for block, names in blocks.items()
    )


def _note(block: AdviceBlock) -> str:
    if not block.flags:
        return "No flags are known to help."
    return f"{block.doubt[0].upper()}{block.doubt[1:]}." if block.doubt else ""
