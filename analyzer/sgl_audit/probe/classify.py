"""From how a server ended to the class of its failure, with the lines that prove it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sgl_audit.model.evidence import FailureClass, Ground, Phase
from sgl_audit.model.source import Place
from sgl_audit.probe.causes import Cause, last_cause
from sgl_audit.probe.logs import Log
from sgl_audit.probe.signatures import CHILD_GONE, HARMLESS, REPEATED, SIGNATURES, USAGE

_RESOLVING = re.compile(r"^sglang/srt/(?:server_args\.py|arg_groups/)")
_REFUSING = re.compile(r"^(?:raise|assert)\b")
_REFUSALS = ("ValueError", "AssertionError", "NotImplementedError", "RuntimeError", "Exception")
_EXIT_USAGE = 2
_KILLED = -9
_MOST_GROUNDS = 4


@dataclass(frozen=True, slots=True)
class End:
    """How a server ended, as far as it was seen.

    Attributes:
        code: exit code as Python gives it; None where it had to be ended.
        phase: where it was.
        oom_kills: how many processes this machine's kernel killed for memory meanwhile.
        prompt: the prompt it died on, or "".
    """

    code: int | None
    phase: Phase
    oom_kills: int = 0
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """The class, one sentence, and the proof.

    Attributes:
        place: where in the tree it was raised, where the log tells.
    """

    failure: FailureClass
    summary: str
    grounds: tuple[Ground, ...]
    place: Place | None = None
    cause: Cause | None = None


def classify(log: Log, end: End, since: int = 0) -> Failure:
    """The class of a failure. What fits nothing known is UNKNOWN and keeps the end of the log.

    Args:
        since: exceptions in the lines before it were survived.
    """
    cause = last_cause(log.lines, since)
    starting = end.phase is Phase.START
    if cause is not None and starting and _resolving(cause) and _refuses(cause):
        # What SGLang refuses by its own words is a refusal, whatever these words are.
        return _caused(log, cause, FailureClass.REFUSED_RESOLUTION)
    for found in (_usage(log, end), _signed(log, cause), _killed(log, end, cause)):
        if found is not None:
            return found
    if cause is not None and starting and _resolving(cause) and _on_purpose(cause):
        return _caused(log, cause, FailureClass.REFUSED_RESOLUTION)
    if cause is not None and end.phase is Phase.LOAD and _refuses(cause):
        return _caused(log, cause, FailureClass.REFUSED_LOADING)
    if end.phase is Phase.WARMUP:
        return _died(log, cause, FailureClass.DIED_WARMUP, "died on its own first prompt", end)
    if end.phase in (Phase.SMOKE, Phase.MEASURE):
        where = f"died on the prompt '{end.prompt}'" if end.prompt else "died while answering"
        return _died(log, cause, FailureClass.DIED_PROMPT, where, end)
    return _unknown(log, cause, end)


def said_by_log(log: Log, start: int = 0) -> Failure | None:
    """A failure that the log shows while the server still answers, as NaN warnings do."""
    for signature in SIGNATURES:
        if signature.anywhere and signature.failure is FailureClass.NAN:
            # A warning is what is looked for here.
            index = _first(log, signature.pattern, REPEATED, start)
            if index is not None:
                text = f"the log warns of NaN in line {index + 1}"
                return Failure(signature.failure, text, (log.ground(index),))
    return None


def _usage(log: Log, end: End) -> Failure | None:
    if end.code != _EXIT_USAGE or end.phase is not Phase.START:
        return None
    index = next((i for i, line in enumerate(log.lines) if USAGE.match(line)), None)
    if index is None:
        return None
    said = log.lines[index].partition(": error: ")[2].strip()
    return Failure(FailureClass.REFUSED_FLAG, _cut(said), (log.ground(index), _exit(end)))


def known(cause: Cause) -> FailureClass | None:
    """The class that the text of an exception proves, or None."""
    found = (item for item in SIGNATURES if item.pattern.search(cause.text))
    return next((item.failure for item in found), None)


def _signed(log: Log, cause: Cause | None) -> Failure | None:
    """A known text, in the cause first, then where it counts anywhere."""
    failure = known(cause) if cause is not None else None
    if cause is not None and failure is not None:
        return _caused(log, cause, failure)
    for signature in SIGNATURES:
        index = _first(log, signature.pattern, HARMLESS) if signature.anywhere else None
        if index is not None:
            said = _cut(log.lines[index])
            return Failure(signature.failure, said, (log.ground(index),))
    return None


def _first(log: Log, pattern: re.Pattern[str], but: re.Pattern[str], start: int = 0) -> int | None:
    """The first line that says it in earnest."""
    index = log.find(pattern, start)
    while index is not None and but.search(log.lines[index]):
        index = log.find(pattern, index + 1)
    return index


def _killed(log: Log, end: End, cause: Cause | None) -> Failure | None:
    if not end.oom_kills:
        return None
    # SGLang ends itself with SIGKILL too, and then says so.
    gone = log.find(CHILD_GONE)
    if end.code != _KILLED and gone is None:
        return None
    if cause is not None and (gone is None or cause.index < gone):
        # It ended by its own exception, and the kernel killed something else.
        return None
    grounds = [Ground("machine", f"oom_kill of /proc/vmstat rose by {end.oom_kills}"), _exit(end)]
    if gone is not None:
        grounds.append(log.ground(gone))
    text = "the kernel's OOM killer ended a process while it ran"
    return Failure(FailureClass.OOM_KILLED, text, tuple(grounds))


def _resolving(cause: Cause) -> bool:
    """Whether the exception came out of the resolution of the server arguments."""
    return any(
        _RESOLVING.match(frame.tree_path) for frame in cause.frames if frame.tree_path is not None
    )


def _refuses(cause: Cause) -> bool:
    """Whether SGLang itself raised it on purpose, rather than tripped over something."""
    frame = cause.raised_by
    own = frame is not None and frame.tree_path is not None
    return own and cause.name in _REFUSALS and _on_purpose(cause)


def _on_purpose(cause: Cause) -> bool:
    """Whether the innermost line is one that raises."""
    frame = cause.raised_by
    return frame is not None and _REFUSING.match(frame.source) is not None


def _caused(log: Log, cause: Cause, failure: FailureClass) -> Failure:
    grounds = [log.ground(cause.index)]
    grounds += _where(log, cause)
    gone = log.find(CHILD_GONE, cause.last)
    if gone is not None:
        grounds.append(log.ground(gone))
    return Failure(failure, _cut(cause.text), tuple(grounds[:_MOST_GROUNDS]), _place(cause), cause)


def _where(log: Log, cause: Cause) -> list[Ground]:
    """The innermost frame of SGLang, as the log shows it."""
    for index in range(cause.index - 1, cause.start, -1):
        if 'File "' in log.lines[index] and "/sglang/" in log.lines[index]:
            return [log.ground(index)]
    return []


def _died(log: Log, cause: Cause | None, failure: FailureClass, where: str, end: End) -> Failure:
    if cause is not None:
        found = _caused(log, cause, failure)
        return replace(found, summary=f"{where}: {found.summary}")
    return Failure(failure, where, (_exit(end), *log.tail(6)))


def _unknown(log: Log, cause: Cause | None, end: End) -> Failure:
    if cause is not None:
        found = _caused(log, cause, FailureClass.UNKNOWN)
        grounds = tuple(dict.fromkeys((*found.grounds, _exit(end), *log.tail(8))))
        text = f"ended in phase {end.phase}: {found.summary}"
        return replace(found, summary=text, grounds=grounds)
    text = f"ended with exit code {end.code} in phase {end.phase}, and nothing known says why"
    return Failure(FailureClass.UNKNOWN, text, (_exit(end), *log.tail()))


def _place(cause: Cause) -> Place | None:
    """The innermost place in SGLang's tree."""
    paths = [(frame.tree_path, frame.line) for frame in cause.frames if frame.tree_path]
    return Place(*paths[-1]) if paths else None


def _exit(end: End) -> Ground:
    if end.code is None:
        return Ground("process", "it did not end by itself")
    return Ground("process", f"exit code {end.code} in phase {end.phase}")


def _cut(text: str, size: int = 300) -> str:
    line = " ".join(text.split())
    return line if len(line) <= size else line[: size - 4] + " ..."
