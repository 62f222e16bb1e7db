"""Answers, log and process together: what is wrong with a server that came up, if anything is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sgl_audit.model.evidence import FailureClass, Ground
from sgl_audit.probe import judges, smoke, verdicts
from sgl_audit.probe.aftermath import State
from sgl_audit.probe.causes import causes
from sgl_audit.probe.classify import End, Failure, classify, known, said_by_log
from sgl_audit.probe.logs import Log

_LONGEST = 600


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known once the questions are over.

    Attributes:
        state: of the server after the last one.
        began: lines of the log before the first one was asked.
        since: the same for the last one: what killed the server stands behind them.
        wanted: how many questions there were.
        stopped: how many processes of the server are stopped.
    """

    asked: Sequence[smoke.Asked]
    log: Log
    state: State
    end: End
    began: int = 0
    since: int = 0
    wanted: int = 0
    stopped: int = 0


def weigh(seen: Seen) -> tuple[Failure | None, tuple[str, ...]]:
    """The failure, or None, and what the reader should know besides.

    In this order: NaN in an answer, which explains whatever came after it; the end of the server;
    NaN in its log; then what single answers show.
    """
    verdict = verdicts.weigh(seen.asked)
    logged = said_by_log(seen.log)
    gone = _gone(seen)
    found = _unwritable(seen)
    if verdict.failure is FailureClass.NAN:
        more = logged.grounds if logged is not None else gone.grounds[:1] if gone else ()
        found = _failure(verdict, more)
    found = found or gone or logged
    if found is None and verdict.failure is not None:
        found = _answered(seen, verdict)
    if found is None and len(seen.asked) < seen.wanted:
        found = _unfinished(seen)
    return found, verdict.notes


def _unwritable(seen: Seen) -> Failure | None:
    """NaN that the server could not write into its answer, and so answered HTTP 500."""
    faults = verdicts.having(judges.FAULT, seen.asked)
    raised = [item for item in causes(seen.log.lines) if item.start >= seen.began]
    cause = next((item for item in raised if known(item) is FailureClass.NAN), None)
    if faults is None or cause is None:
        return None
    grounds = (*faults.grounds, seen.log.ground(cause.index))
    return Failure(FailureClass.NAN, f"{faults.summary}; {cause.text}", grounds)


def ended(state: State, log: Log, end: End, since: int = 0) -> Failure:
    """The class of a server that is gone, or there and deaf."""
    if state is State.GONE:
        return classify(log, end, since)
    text = "it neither ends nor answers /health any more"
    return Failure(FailureClass.HANG, text, (Ground("process", text), *log.tail(4)))


def _gone(seen: Seen) -> Failure | None:
    last = seen.asked[-1] if seen.asked else None
    unanswered = last is not None and last.answer.status is None
    if seen.state is State.WELL:
        return None
    name = last.prompt.name if last is not None else ""
    found = ended(seen.state, seen.log, replace(seen.end, prompt=name), seen.since)
    grounds = found.grounds
    if seen.stopped:
        text = f"{seen.stopped} of its processes are stopped (state T)"
        grounds = (Ground("process", text), *grounds)
    if last is not None and unanswered:
        grounds = (*grounds, Ground("answer", f"{name}: {last.answer.error}"))
    text = found.summary
    if found.failure is FailureClass.HANG and name:
        text = f"no answer to the prompt '{name}', and {text}"
    return replace(found, summary=text, grounds=grounds)


def _answered(seen: Seen, verdict: verdicts.Verdict) -> Failure:
    """A fault in the answers of a server that lives."""
    match verdict.failure:
        case FailureClass.HANG:
            return _late(verdict)
        case FailureClass.DIED_PROMPT:
            text = f"{verdict.summary}, twice, although the server is well"
            return Failure(FailureClass.UNKNOWN, text, (*verdict.grounds, *seen.log.tail(4)))
        case FailureClass.UNKNOWN:
            # What it raised meanwhile, so far as it is not one of its own refusals.
            raised = [item for item in causes(seen.log.lines) if item.start >= seen.began]
            grounds = tuple(seen.log.ground(item.index) for item in raised[-3:])
            text = f"{verdict.summary}; {raised[-1].text}" if raised else verdict.summary
            return Failure(FailureClass.UNKNOWN, text[:_LONGEST], (*verdict.grounds, *grounds))
    return _failure(verdict, ())


def _late(verdict: verdicts.Verdict) -> Failure:
    text = f"{verdict.summary} in time, although the server is well"
    return Failure(FailureClass.SLOW, text, verdict.grounds)


def _unfinished(seen: Seen) -> Failure:
    text = f"only {len(seen.asked)} of {seen.wanted} prompts were answered within the phase's time"
    slowest = max(seen.asked, key=lambda item: item.answer.seconds)
    ground = f"{slowest.prompt.name}: {slowest.answer.seconds:.1f} s"
    return Failure(FailureClass.SLOW, text, (Ground("answer", ground),))


def _failure(verdict: verdicts.Verdict, more: Sequence[Ground]) -> Failure:
    assert verdict.failure is not None
    return Failure(verdict.failure, verdict.summary, (*verdict.grounds, *more))
