"""Where SGLang's own resolver and ours differ, and how that is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sgl_audit.cli.output import Target
from sgl_audit.errors import EXIT_CLEAN, EXIT_FINDINGS, EXIT_INCOMPLETE
from sgl_audit.model.resolution import Launch, Outcome, Resolution
from sgl_audit.probe.verifying import Real

_OUTCOME = "the outcome"


@dataclass(frozen=True, slots=True)
class Difference:
    """One answer that is not the same. `what` is a field, "outcome" or "refusal"."""

    what: str
    ours: str
    real: str


@dataclass(frozen=True, slots=True)
class Verified:
    """One launch, compared.

    Attributes:
        same: how many values agree.
        unknown: fields of which we said nothing certain.
        failed: why SGLang's resolver gave no answer, or "".
    """

    launch: Launch
    outcome: str
    same: int
    differences: tuple[Difference, ...]
    unknown: tuple[str, ...]
    failed: str = ""

    @property
    def missing(self) -> bool:
        """Whether one of the two sides gave no answer at all."""
        return bool(self.failed) or self.unknown == (_OUTCOME,)

    @property
    def agrees(self) -> bool:
        """Whether both sides answered, and nothing differs."""
        return not self.differences and not self.missing


@dataclass(frozen=True, slots=True)
class Verification:
    """All launches, and what the comparison rests on."""

    sglang: str
    launches: tuple[Verified, ...]
    notes: tuple[str, ...]


def compare(launch: Launch, ours: Resolution, real: Real) -> Verified:
    """One launch: outcome and place of a refusal, else every value that both sides know."""
    if real.outcome == "failed":
        return Verified(launch, real.outcome, 0, (), (), real.message)
    if ours.outcome is Outcome.UNKNOWN:
        return Verified(launch, real.outcome, 0, (), (_OUTCOME,))
    mine = "ok" if ours.outcome is Outcome.OK else "rejected"
    if mine != real.outcome:
        difference = Difference("outcome", _ours(ours), _real(real))
        return Verified(launch, real.outcome, 0, (difference,), ())
    if mine == "rejected":
        return _compare_refusals(launch, ours, real)
    differences, unknown, same = [], [], 0
    for value in ours.options:
        if value.name not in real.options:
            continue
        if not value.decided:
            unknown.append(value.name)
        elif _equal(value.value, real.options[value.name]):
            same += 1
        else:
            told = (str(value.value), str(real.options[value.name]))
            differences.append(Difference(value.name, *told))
    return Verified(launch, "ok", same, tuple(differences), tuple(unknown))


def _compare_refusals(launch: Launch, ours: Resolution, real: Real) -> Verified:
    refusal = ours.rejection
    assert refusal is not None
    place = (refusal.place.file, refusal.place.line) if refusal.place is not None else (None, None)
    theirs = (None, None) if real.type == "SystemExit" else (real.file, real.line)
    if refusal.type == real.type and place == theirs:
        return Verified(launch, "rejected", 1, (), ())
    difference = Difference("refusal", _ours(ours), _real(real))
    return Verified(launch, "rejected", 0, (difference,), ())


def _equal(ours: Any, real: Any) -> bool:
    if isinstance(ours, float) and isinstance(real, (int, float)) and not isinstance(real, bool):
        return abs(ours - real) <= 1e-9 * max(1.0, abs(ours))
    if isinstance(ours, (list, tuple)) and isinstance(real, (list, tuple)):
        return len(ours) == len(real) and all(map(_equal, ours, real))
    return type(ours) is type(real) and bool(ours == real)


def _ours(ours: Resolution) -> str:
    if ours.rejection is None:
        return ours.outcome.value
    place = f" at {ours.rejection.place}" if ours.rejection.place is not None else ""
    return f"{ours.rejection.type}{place}: {ours.rejection.message}"


def _real(real: Real) -> str:
    if real.outcome != "rejected":
        return real.outcome
    place = f" at {real.file}:{real.line}" if real.file else ""
    return f"{real.type}{place}: {real.message}"


def exit_code(verified: Verification) -> int:
    """1 where anything differs, 3 where an answer is missing, else 0."""
    if any(item.differences for item in verified.launches):
        return EXIT_FINDINGS
    missing = any(item.missing for item in verified.launches)
    return EXIT_INCOMPLETE if missing else EXIT_CLEAN


def render(verified: Verification, target: Target) -> str:
    """The comparison in the form of the target."""
    if target.form == "json":
        return json.dumps(_data(verified), indent=2, default=str) + "\n"
    return "\n".join(_lines(verified)) + "\n"


def _data(verified: Verification) -> dict[str, object]:
    return {
        "format": 1,
        "sglang": verified.sglang,
        "notes": list(verified.notes),
        "launches": [
            {
                "id": item.launch.id,
                "arch": item.launch.capability,
                "outcome": item.outcome,
                "same": item.same,
                "unknown": list(item.unknown),
                "failed": item.failed or None,
                "differences": [
                    {"what": d.what, "resolve": d.ours, "sglang": d.real} for d in item.differences
                ],
            }
            for item in verified.launches
        ],
    }


def _lines(verified: Verification) -> Iterator[str]:
    agreeing = sum(item.agrees for item in verified.launches)
    for item in verified.launches:
        name = f"{item.launch.id} on {item.launch.capability}"
        if item.failed:
            yield f"{name}: SGLang's resolver gave no answer: {item.failed}"
        for difference in item.differences:
            yield f"{name}: {difference.what} differs"
            yield f"    resolve says  {difference.ours}"
            yield f"    sglang says   {difference.real}"
        if item.unknown:
            yield f"{name}: not told by resolve: {', '.join(item.unknown)}"
    values = sum(item.same for item in verified.launches)
    yield (
        f"sglang {verified.sglang}: {agreeing} of {len(verified.launches)} launches agree, "
        f"{values} values are the same"
    )
    for note in verified.notes:
        yield f"note: {note}"
