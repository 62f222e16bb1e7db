"""Advisories into whose range of versions an upgrade leads, or out of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sgl_audit.kernels.advisories import matching
from sgl_audit.model.facts import Facts
from sgl_audit.model.kernels import Advisory, AdvisoryHit, HitState, Outcome
from sgl_audit.model.report import FamilyRow
from sgl_audit.model.review import Change, ChangeKind, ChangeSubject
from sgl_audit.model.source import SourceInfo
from sgl_audit.review.pins import pins_of

_BAD = (Outcome.WRONG, Outcome.FAILS, Outcome.SLOW)


def advisory_changes(
    advisories: Iterable[Advisory],
    old: SourceInfo,
    new: SourceInfo,
    facts: Facts,
    families: Iterable[FamilyRow],
    capabilities: tuple[str, ...],
) -> Iterator[Change]:
    """Known faults into whose range of versions the upgrade leads, or out of it.

    Args:
        facts: of the new tree; advisories about options that it lacks are left out.
        families: of the new tree with nothing set: what they become is what is met.
    """
    options = {option.name: option for option in facts.options}
    rows = tuple(families)
    for advisory in advisories:
        entries = [e for e in advisory.values if e.option in options]
        for option, value in dict.fromkeys((e.option, e.value) for e in entries):
            where: dict[str, list[tuple[str, AdvisoryHit]]] = {"enters": [], "leaves": []}
            for capability in capabilities:
                step = _step(advisory, option, value, capability, old, new)
                if step is not None:
                    where[step[0]].append((capability, step[1]))
            if where["enters"]:
                yield _enters(advisory, option, value, where["enters"], rows, new)
            if where["leaves"]:
                yield _leaves(advisory, option, value, where["leaves"])


def _step(
    advisory: Advisory,
    option: str,
    value: str,
    capability: str,
    old: SourceInfo,
    new: SourceInfo,
) -> tuple[str, AdvisoryHit] | None:
    if advisory.outcome(capability) not in _BAD:
        return None
    was, now = (_hit(advisory, option, value, capability, info) for info in (old, new))
    if was is None or now is None or not (_certain(was) and _certain(now)):
        return None
    outside = HitState.OUTSIDE
    if was.state is outside and now.state is not outside:
        return "enters", now
    if was.state is not outside and now.state is outside:
        return "leaves", was
    return None


def _hit(
    advisory: Advisory, option: str, value: str, capability: str, info: SourceInfo
) -> AdvisoryHit | None:
    hits = matching(
        (advisory,),
        option=option,
        value=value,
        capability=capability,
        pins=pins_of(info),
        sglang_version=info.distribution.version,
        facts={},
    )
    return hits[0] if hits else None


def _certain(hit: AdvisoryHit) -> bool:
    """Whether the versions are known; that a model must be of some kind is no doubt about them."""
    return hit.state is not HitState.MAY_APPLY or "library version unknown" not in hit.reason


def _enters(
    advisory: Advisory,
    option: str,
    value: str,
    hits: list[tuple[str, AdvisoryHit]],
    rows: tuple[FamilyRow, ...],
    new: SourceInfo,
) -> Change:
    where = tuple(capability for capability, _ in hits)
    states = {
        row: _state_for(advisory, option, value, row, new)
        for row in rows
        if row.capability in where and (option, value) in row.values
    }
    met = [row for row, state in states.items() if state is not HitState.OUTSIDE]
    sure = any(state is HitState.APPLIES for state in states.values())
    hit = hits[0][1]
    grave = hit.outcome in (Outcome.WRONG, Outcome.FAILS)
    kind = ChangeKind.INFORMATIONAL
    if met or (grave and hit.state is HitState.APPLIES):
        kind = ChangeKind.BREAKING if grave and sure else ChangeKind.BEHAVIOUR
    return Change(
        kind,
        ChangeSubject.ADVISORY,
        advisory.id,
        f"comes into the range of a known fault: {advisory.title} "
        f"({option} = {value}; {hit.reason})",
        after=hit.outcome.value,
        option=option,
        capabilities=where,
        families=tuple(dict.fromkeys(row.family for row in met)),
        groups=tuple(dict.fromkeys(row.group for row in met if row.group)),
        backend=True,
        weight=3,
    )


def _state_for(
    advisory: Advisory, option: str, value: str, row: FamilyRow, info: SourceInfo
) -> HitState:
    """Whether an advisory applies to a model family with nothing set."""
    facts: dict[str, str | None] = dict(row.values)
    facts |= {"quantization": row.quantization, "architecture": row.architecture}
    hits = matching(
        (advisory,),
        option=option,
        value=value,
        capability=row.capability,
        pins=pins_of(info),
        sglang_version=info.distribution.version,
        facts=facts,
    )
    return hits[0].state if hits else HitState.OUTSIDE


def _leaves(
    advisory: Advisory, option: str, value: str, hits: list[tuple[str, AdvisoryHit]]
) -> Change:
    hit = hits[0][1]
    return Change(
        ChangeKind.ADDITIVE,
        ChangeSubject.ADVISORY,
        advisory.id,
        f"leaves the range of a known fault: {advisory.title} "
        f"({option} = {value}; before, {hit.reason})",
        before=hit.outcome.value,
        option=option,
        capabilities=tuple(capability for capability, _ in hits),
        backend=True,
    )
