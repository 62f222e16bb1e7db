"""Comparing launches by their verdicts."""

from __future__ import annotations

from sgl_audit.model.verdict import ValueVerdict, Verdict

Weight = tuple[int, ...]
# What is worse counts first: one refusal outweighs any number of unknowns.
COUNTED = (
    (Verdict.REFUSED,),
    (Verdict.NO_KERNEL, Verdict.WRONG),
    (Verdict.UNKNOWN,),
)


def weight(verdicts: tuple[ValueVerdict, ...]) -> Weight:
    """How bad a launch is; smaller is better."""
    return tuple(sum(item.verdict in group for item in verdicts) for group in COUNTED)


def settled(verdicts: tuple[ValueVerdict, ...]) -> bool:
    """Whether every verdict is good, and there is any."""
    return bool(verdicts) and all(item.verdict.good for item in verdicts)


def problems(verdicts: tuple[ValueVerdict, ...]) -> list[ValueVerdict]:
    """The verdicts that are not good, the worst first."""
    bad = [item for item in verdicts if not item.verdict.good]
    groups = [verdict for group in COUNTED for verdict in group]
    return sorted(bad, key=lambda item: groups.index(item.verdict))
