"""What the default of each model family comes to, in few words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sgl_audit.model.report import Advice, Audit, FamilyRow, Severity
from sgl_audit_reports.common.findings import touches_default
from sgl_audit_reports.common.text import unique, visible


class Standing(StrEnum):
    """What is known of a launch with nothing set."""

    NOT_SAFE = "not safe by default"
    SAFE = "safe by default"
    NO_FAULT = "no fault found"
    UNKNOWN = "unknown"


STANDINGS: tuple[Standing, ...] = tuple(Standing)


@dataclass(frozen=True, slots=True)
class AdviceBlock:
    """One set of flags and the families that it is for.

    Attributes:
        needed: whether something is known against these families without the flags.
    """

    families: tuple[str, ...]
    flags: tuple[str, ...]
    reasons: tuple[str, ...]
    safe: bool | None
    needed: bool = True

    @property
    def doubt(self) -> str:
        """What keeps the flags from being the plain answer, or ""."""
        if not self.needed:
            return "not known to be needed, but surer"
        return "" if self.safe else "not known to be enough"


@dataclass(frozen=True, slots=True)
class Standings:
    """Who stands alike: families or options with the capabilities on which they do."""

    standing: Standing
    subjects: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class CapabilityOverview:
    """The answer for one capability: who stands how, and what to pass."""

    capability: str
    standing: Standing
    subjects: tuple[tuple[Standing, tuple[str, ...]], ...]
    advice: tuple[AdviceBlock, ...]

    def of(self, standing: Standing) -> tuple[str, ...]:
        """The families or options of that standing."""
        return next((names for key, names in self.subjects if key is standing), ())


def group_of(row: FamilyRow) -> str:
    """What the first screen calls the family."""
    return visible(row.group or row.quantization or row.architecture)


def standing_of(row: FamilyRow, advice: Sequence[Advice], errors: frozenset[str]) -> Standing:
    """Three-valued and careful: accepted alone is not safe."""
    own = [item for item in advice if item.family in (row.family, row.group)]
    if row.outcome == "refused" or errors & set(row.findings):
        return Standing.NOT_SAFE
    if any(item.verdict.bad for item in row.verdicts) or any(a.safe is False for a in own):
        return Standing.NOT_SAFE
    # Flags may be proposed because nothing is known of the default; that does not make it bad.
    if not row.verdicts and any(item.flags for item in own):
        return Standing.NOT_SAFE
    if row.outcome != "ok":
        return Standing.UNKNOWN
    # What is safe with flags says nothing of the default, where that is not known to work itself.
    known = bool(row.verdicts) and all(item.verdict.good for item in row.verdicts)
    safe = any(item.safe and (known or not item.flags) for item in own)
    return Standing.SAFE if safe else Standing.NO_FAULT


def error_fingerprints(audit: Audit) -> frozenset[str]:
    """Fingerprints of the findings that make a family not safe."""
    return frozenset(
        finding.fingerprint for finding in audit.findings if finding.severity is Severity.ERROR
    )


def launch_text(row: FamilyRow, standing: Standing) -> str:
    """How the family's launch ends, so that "accepted" is never read as "works"."""
    if row.outcome == "refused":
        return "refused"
    if row.outcome != "ok":
        return "unknown"
    return {
        Standing.NOT_SAFE: "accepted, not safe",
        Standing.SAFE: "safe by default",
    }.get(standing, "accepted, no fault found")


def capability_overview(audit: Audit, capability: str) -> CapabilityOverview:
    """Everything the first screen says of one capability."""
    rows = [row for row in audit.families if row.capability == capability]
    advice = [item for item in audit.advice if item.capability == capability]
    errors = error_fingerprints(audit)
    standings = [(row, standing_of(row, advice, errors)) for row in rows]
    named = {standing: _group_names(standings, standing) for standing in STANDINGS}
    attributed = {fingerprint for row in audit.families for fingerprint in row.findings}
    named[Standing.NOT_SAFE] = unique(
        [*named[Standing.NOT_SAFE], *_loose_subjects(audit, capability, attributed)]
    )
    return CapabilityOverview(
        capability,
        _overall(named, bool(rows)),
        tuple((standing, names) for standing, names in named.items() if names),
        _advice_blocks(advice, {row.family: group_of(row) for row in rows}, _fine(standings)),
    )


def standings(overviews: Sequence[CapabilityOverview]) -> tuple[Standings, ...]:
    """The answers of several capabilities, turned round: worst first, equal ones together."""
    result = []
    for standing in STANDINGS:
        where: dict[str, list[str]] = {}
        for item in overviews:
            for name in item.of(standing):
                where.setdefault(name, []).append(item.capability)
        merged: dict[tuple[str, ...], list[str]] = {}
        for name, capabilities in where.items():
            merged.setdefault(tuple(capabilities), []).append(name)
        if merged:
            pairs = tuple((tuple(names), on) for on, names in merged.items())
            result.append(Standings(standing, pairs))
    return tuple(result)


def _overall(named: dict[Standing, tuple[str, ...]], computed: bool) -> Standing:
    if named[Standing.NOT_SAFE]:
        return Standing.NOT_SAFE
    if named[Standing.UNKNOWN] or not computed:
        return Standing.UNKNOWN
    return Standing.NO_FAULT if named[Standing.NO_FAULT] else Standing.SAFE


def _group_names(
    standings: Iterable[tuple[FamilyRow, Standing]], wanted: Standing
) -> tuple[str, ...]:
    totals: dict[str, int] = {}
    counts: dict[str, int] = {}
    for row, standing in standings:
        group = group_of(row)
        totals[group] = totals.get(group, 0) + 1
        if standing is wanted:
            counts[group] = counts.get(group, 0) + 1
    return tuple(
        group if count == totals[group] else f"{group} ({count} of {totals[group]})"
        for group, count in counts.items()
    )


def _loose_subjects(audit: Audit, capability: str, attributed: set[str]) -> Iterable[str]:
    # An error that no family row claims must not vanish from the answer.
    names = {name for row in audit.families for name in (row.family, group_of(row))}
    for finding in audit.findings:
        if finding.severity is not Severity.ERROR or finding.fingerprint in attributed:
            continue
        if touches_default(audit, finding, capability):
            # A condition of the source is no name that a reader knows; the finding has it.
            when = finding.when if finding.when in names or not _is_code(finding.when) else None
            named = f"default {finding.option}" if finding.option else finding.title
            yield visible(when or named)


def _is_code(text: str | None) -> bool:
    return (
        bool(text) and re.search(r"[\[\]()=<>.]|\b(?:not|and|or|in|is)\b", text or "") is not None
    )


def _fine(ranked: Iterable[tuple[FamilyRow, Standing]]) -> frozenset[str]:
    """Families of which nothing bad is known, though flags may make them surer."""
    pairs = list(ranked)
    named = {name for row, standing in pairs for name in (row.family, row.group) if name}
    bad = {n for row, s in pairs if s is not Standing.NO_FAULT for n in (row.family, row.group)}
    return frozenset(named - bad)


def _advice_blocks(
    advice: Iterable[Advice], groups: dict[str, str], fine: frozenset[str]
) -> tuple[AdviceBlock, ...]:
    merged: dict[tuple[tuple[str, ...], bool], list[Advice]] = {}
    for item in advice:
        if item.flags or item.safe is False:
            merged.setdefault((item.flags, item.family not in fine), []).append(item)
    blocks = [
        AdviceBlock(
            unique(groups.get(item.family, visible(item.family)) for item in items),
            flags,
            unique(reason for item in items for reason in item.reasons),
            None if any(item.safe is None for item in items) else all(i.safe for i in items),
            needed,
        )
        for (flags, needed), items in merged.items()
    ]
    # Flags that are needed and enough come first, places where nothing is known to help last.
    return tuple(sorted(blocks, key=_last))


def _last(block: AdviceBlock) -> tuple[bool, bool, bool, int]:
    return (not block.flags, not block.needed, block.safe is not True, -len(block.families))
