"""Each prediction beside what the run showed: confirmed, contradicted, or not exercised."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sgl_audit.model.evidence import (
    Agreement,
    Compared,
    FailureClass,
    Observation,
    ObservedValue,
    Phase,
    PredictedRefusal,
    PredictedValue,
    Prediction,
)
from sgl_audit.model.source import Place
from sgl_audit.probe.classify import Failure

NOT_REPORTED = "not reported"
_CAUSES_OF_REFUSAL = (
    FailureClass.REFUSED_FLAG,
    FailureClass.REFUSED_RESOLUTION,
    FailureClass.REFUSED_LOADING,
    FailureClass.NO_KERNEL,
    FailureClass.MISSING_PACKAGE,
    FailureClass.NO_MODEL,
    FailureClass.NO_DEVICE,
)
_BEFORE_LOADING = (Phase.CHECK, Phase.START)


def compare(
    prediction: Prediction | None,
    observation: Observation | None,
    failure: Failure | None,
    phase: Phase,
    asked: Mapping[str, str],
) -> tuple[Compared, ...]:
    """Every prediction of a run.

    Args:
        failure: how the run failed, or None.
        phase: how far it came.
        asked: options that the launch sets, with the values asked for.
    """
    found: list[Compared] = []
    if prediction is not None:
        found.append(_outcome(prediction, failure, phase))
        found += _late(prediction, failure, phase)
    values = {v.name: v for v in observation.values} if observation is not None else {}
    found += _asked(asked, values)
    if prediction is not None and prediction.outcome == "ok":
        found += _values(prediction.values, values)
    return tuple(found)


def matches(refusal: PredictedRefusal, failure: Failure) -> bool:
    """Whether a run failed by a predicted refusal: the same place, or the same words."""
    if refusal.place is not None and failure.place is not None and _same(refusal, failure.place):
        return True
    mine, theirs = _words(refusal.message), _words(failure.summary)
    return bool(mine) and (mine in theirs or theirs.removeprefix(f"{refusal.type} ") in mine)


def _same(refusal: PredictedRefusal, place: Place) -> bool:
    # A raise over several lines is reported at one of them.
    assert refusal.place is not None
    return refusal.place.file == place.file and abs(refusal.place.line - place.line) <= 3


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text))[:120].rstrip()


def _outcome(prediction: Prediction, failure: Failure | None, phase: Phase) -> Compared:
    predicted, place = prediction.outcome, None
    if prediction.rejection is not None:
        refusal = prediction.rejection
        predicted, place = f"refused: {refusal.type}: {refusal.message}", refusal.place
    elif prediction.reason:
        predicted = f"{prediction.outcome}: {prediction.reason}"
    early = phase in _BEFORE_LOADING
    observed = "accepted" if not early else _of(failure)
    state, why = _judge_outcome(prediction, failure, early)
    if place is None and failure is not None and early:
        place = failure.place
    return Compared("resolution", _cut(predicted), _cut(observed), state, why, place)


def _judge_outcome(
    prediction: Prediction, failure: Failure | None, early: bool
) -> tuple[Agreement, str]:
    if prediction.outcome == "unknown":
        return Agreement.NOT_EXERCISED, "nothing was predicted"
    if prediction.rejection is None:
        if not early:
            return Agreement.CONFIRMED, ""
        if failure is not None and failure.failure in _CAUSES_OF_REFUSAL:
            return Agreement.CONTRADICTED, "it was refused"
        return Agreement.NOT_EXERCISED, "it did not come to the end of the resolution"
    if not early:
        return Agreement.CONTRADICTED, "it was accepted"
    if failure is None:
        return Agreement.NOT_EXERCISED, "it was not started"
    if matches(prediction.rejection, failure):
        return Agreement.CONFIRMED, ""
    if failure.failure in _CAUSES_OF_REFUSAL:
        return Agreement.CONTRADICTED, "it was refused for another reason"
    return Agreement.NOT_EXERCISED, "it ended before the refusal could be met"


def _late(prediction: Prediction, failure: Failure | None, phase: Phase) -> Iterator[Compared]:
    """Refusals predicted for the time once loading starts."""
    early = phase in _BEFORE_LOADING
    for refusal in prediction.late or ():
        predicted = f"refused once loading starts: {refusal.type}: {refusal.message}"
        if early:
            state, why, observed = Agreement.NOT_EXERCISED, "it did not come so far", _of(failure)
        elif failure is not None and matches(refusal, failure):
            state, why, observed = Agreement.CONFIRMED, "", _of(failure)
        elif failure is not None and phase is Phase.LOAD:
            why = "it failed while loading, for another reason"
            state, observed = Agreement.NOT_EXERCISED, _of(failure)
        else:
            state, why, observed = Agreement.CONTRADICTED, "it was not refused", "loaded"
        yield Compared(
            f"loading ({refusal.stage})", _cut(predicted), _cut(observed), state, why, refusal.place
        )


def _asked(asked: Mapping[str, str], values: Mapping[str, ObservedValue]) -> Iterator[Compared]:
    """Values asked for by flag that the server silently replaced."""
    for name, value in sorted(asked.items()):
        got = values.get(name)
        if got is None or not got.reported or got.value is None or value == "auto":
            continue
        if not isinstance(got.value, (str, int)) or _text(got.value) == value:
            continue
        yield Compared(
            f"{name} (asked for)",
            value,
            _text(got.value),
            Agreement.CONTRADICTED,
            f"asked for {value} and got {_text(got.value)}, as {got.source} says",
        )


def _values(
    predicted: Sequence[PredictedValue], values: Mapping[str, ObservedValue]
) -> Iterator[Compared]:
    for value in predicted:
        got = values.get(value.name)
        if value.layer == "option" and got is None:
            # The server gives every argument or none; one it lacks is no prediction of its answer.
            continue
        if not value.decided:
            said = NOT_REPORTED if got is None or not got.reported else _text(got.value)
            state, why = Agreement.NOT_EXERCISED, "nothing was predicted"
            yield Compared(value.name, value.text or "unknown", said, state, why)
        elif value.layer != "option":
            yield _run_time(value, got)
        elif got is not None:
            yield _one(value, got)


def _one(value: PredictedValue, got: ObservedValue) -> Compared:
    predicted = _text(value.value)
    if _equal(value.value, got.value):
        why = "" if got.reported else "what it became is not reported"
        return Compared(value.name, predicted, _text(got.value), Agreement.CONFIRMED, why)
    if got.differs and _equal(value.value, got.resolved):
        why = f"so the resolution left it; the scheduler then has {_text(got.value)}"
        return Compared(value.name, predicted, _text(got.resolved), Agreement.CONFIRMED, why)
    if not got.reported:
        why = f"{got.source} says auto, which is not what it became"
        return Compared(value.name, predicted, NOT_REPORTED, Agreement.NOT_EXERCISED, why)
    why = f"{got.source} says otherwise"
    return Compared(value.name, predicted, _text(got.value), Agreement.CONTRADICTED, why)


def _run_time(value: PredictedValue, got: ObservedValue | None) -> Compared:
    """What the run-time initialisers hold is in no endpoint; a concrete option of that name is."""
    if got is not None and got.reported and _equal(value.value, got.value):
        return Compared(
            f"{value.name} (run time)", _text(value.value), _text(got.value), Agreement.CONFIRMED
        )
    return Compared(
        f"{value.name} (run time)",
        _text(value.value),
        NOT_REPORTED,
        Agreement.NOT_EXERCISED,
        "no endpoint or log line tells it",
    )


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, float) and isinstance(other, (int, float)):
        return abs(one - other) <= 1e-6 * max(1.0, abs(one))
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return list(one) == list(other)
    return bool(one == other)


def _of(failure: Failure | None) -> str:
    return "accepted" if failure is None else f"{failure.failure}: {failure.summary}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


def _cut(text: str, size: int = 300) -> str:
    line = " ".join(text.split())
    return line if len(line) <= size else line[: size - 4] + " ..."
