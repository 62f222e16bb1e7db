"""The smoke test: every prompt asked in order, every answer judged, and what they say together."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sgl_audit.model.evidence import FailureClass, Ground, Judgement, SmokeResult
from sgl_audit.probe import judges
from sgl_audit.probe.client import Answer, Client
from sgl_audit.probe.prompts import Prompt
from sgl_audit.probe.reading import read_reply

# One of these in any answer and nothing the server says can be relied on.
_FATAL = (judges.NAN, judges.DIED, judges.TIMED_OUT, judges.FAULT)
# One of these may be the model's doing; in most answers they are not.
_BAD = (judges.REPEAT, judges.EMPTY, judges.INVALID, judges.WRONG)


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt, the answer as it came, and the record of both."""

    prompt: Prompt
    answer: Answer
    result: SmokeResult


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the answers say together. `failure` is None where nothing is wrong."""

    failure: FailureClass | None = None
    summary: str = ""
    grounds: tuple[Ground, ...] = ()
    notes: tuple[str, ...] = ()


def ask_all(
    client: Client,
    prompts: Sequence[Prompt],
    vocabulary: int | None,
    well: Callable[[bool], bool],
    done: Callable[[tuple[Asked, ...]], None],
    seconds: float = math.inf,
) -> tuple[Asked, ...]:
    """Ask in order; after an answer that never came nothing more is asked, and nothing sampled
    after NaN: that would end the server and tell nothing new.

    A connection that ends without an answer while the server is well is asked over once: it may be
    the machine's doing, and a server that dies does not come back.

    Args:
        well: whether the server is still there; told True where a connection was cut, and it then
            takes the time to find out.
        done: is told after each answer, so that a record can be kept.
        seconds: no new question after that time.
    """
    asked: list[Asked] = []
    start = time.monotonic()
    for prompt in prompts:
        if prompt.sampled and any(_of(item, judges.NAN) for item in asked):
            break
        if time.monotonic() - start > seconds:
            break
        answer = client.post(prompt.path, prompt.body())
        lost = ""
        if answer.cut and well(True):
            lost, answer = answer.error, client.post(prompt.path, prompt.body())
        asked.append(judged(prompt, answer, vocabulary, asked, lost))
        done(tuple(asked))
        if answer.status is None or not well(False):
            break
    return tuple(asked)


def judged(
    prompt: Prompt,
    answer: Answer,
    vocabulary: int | None,
    before: Sequence[Asked] = (),
    lost: str = "",
) -> Asked:
    """One answer with all that the judges say, also beside the first run of the same prompt.

    Args:
        lost: how the connection ended on which it was asked first, or "".
    """
    found = list(judges.judge(prompt, answer, vocabulary))
    if lost:
        text = f"the connection ended without an answer ({lost}), the server was well; asked again"
        found.append(Judgement(judges.LOST, text))
    first = next((item for item in before if item.prompt.name == prompt.again), None)
    if first is not None:
        differs = judges.agreement(first.answer, answer, prompt.route)
        found += [differs] if differs else []
    reply = read_reply(prompt.route, answer) if answer.status == 200 else None
    result = SmokeResult(
        name=prompt.name,
        route=prompt.route,
        prompt=prompt.text[:2000],
        sampled=prompt.sampled,
        status=answer.status,
        seconds=round(answer.seconds, 3),
        text=None if reply is None or reply.text is None else reply.text[:2000],
        error=answer.error,
        judged=tuple(found),
    )
    return Asked(prompt, answer, result)


def weigh(asked: Sequence[Asked]) -> Verdict:
    """One verdict over all answers.

    NaN anywhere fails. Text that repeats, is empty, invalid or wrong fails where it is so in more
    than half of the answers that could show it, or in a prompt that the user gave: a small model
    may well miss one question, and one that is not broken does not miss most.
    """
    fatal = _fatal(asked)
    if fatal is not None:
        return fatal
    bad = _many(asked)
    if bad is not None:
        return bad
    return Verdict(notes=tuple(_notes(asked)))


def _fatal(asked: Sequence[Asked]) -> Verdict | None:
    return next((found for kind in _FATAL if (found := having(kind, asked)) is not None), None)


def having(kind: str, asked: Sequence[Asked]) -> Verdict | None:
    """The verdict that rests on the answers with one fatal fault, or None where none has it."""
    found = [item for item in asked if _of(item, kind)]
    if not found:
        return None
    return Verdict(_CLASS[kind], _summary(kind, found, asked), _grounds(found, (kind,)))


_CLASS = {
    judges.NAN: FailureClass.NAN,
    judges.DIED: FailureClass.DIED_PROMPT,
    judges.TIMED_OUT: FailureClass.HANG,
    judges.FAULT: FailureClass.UNKNOWN,
}
_SAYS = {
    judges.NAN: "NaN in",
    judges.DIED: "the connection ended without an answer to",
    judges.TIMED_OUT: "no answer to",
    judges.FAULT: "the server failed on",
}


def _summary(kind: str, having: Sequence[Asked], asked: Sequence[Asked]) -> str:
    names = ", ".join(f"'{item.prompt.name}'" for item in having[:3])
    more = f" and {len(having) - 3} more" if len(having) > 3 else ""
    return f"{_SAYS[kind]} {len(having)} of {len(asked)} prompts: {names}{more}"


def _many(asked: Sequence[Asked]) -> Verdict | None:
    own = [i for i in asked if i.prompt.own and any(_of(i, kind) for kind in _BAD)]
    if own:
        names = ", ".join(f"'{item.prompt.name}'" for item in own[:3])
        text = f"{len(own)} of your prompts got no good answer: {names}"
        return Verdict(FailureClass.GARBAGE, text, _grounds(own, _BAD))
    answered = [item for item in asked if not _of(item, judges.REFUSED)]
    if not answered:
        return Verdict(
            FailureClass.UNKNOWN,
            "the server refused every prompt",
            _grounds(asked, (judges.REFUSED,)),
        )
    for kinds, could, says in _shares(answered):
        having = [item for item in could if any(_of(item, kind) for kind in kinds)]
        if could and 2 * len(having) > len(could):
            text = f"{len(having)} of {len(could)} {says}"
            return Verdict(FailureClass.GARBAGE, text, _grounds(having, kinds))
    return None


def _shares(
    answered: Sequence[Asked],
) -> tuple[tuple[tuple[str, ...], Sequence[Asked], str], ...]:
    known = [i for i in answered if i.prompt.expect and not _of(i, judges.OPEN)]
    second = [item for item in answered if item.prompt.again]
    broken = (judges.REPEAT, judges.EMPTY, judges.INVALID)
    return (
        ((judges.REPEAT,), answered, "answers are one token over and over, with finite logprobs"),
        ((judges.EMPTY,), answered, "answers are empty"),
        ((judges.INVALID,), answered, "answers are no text"),
        (broken, answered, "answers are broken"),
        ((judges.WRONG, judges.REPEAT, judges.EMPTY), known, "known answers are wrong"),
        ((judges.DISAGREES,), second, "greedy prompts are answered differently when asked again"),
    )


def _notes(asked: Sequence[Asked]) -> list[str]:
    return [
        f"{item.prompt.name}: {found.text}"
        for item in asked
        for found in item.result.judged
        if found.kind != judges.OPEN
    ] + [
        f"{item.prompt.name}: {found.text}; the answer is not judged"
        for item in asked
        for found in item.result.judged
        if found.kind == judges.OPEN
    ]


def _of(item: Asked, kind: str) -> list[Judgement]:
    return [found for found in item.result.judged if found.kind == kind]


def _grounds(having: Sequence[Asked], kinds: Sequence[str]) -> tuple[Ground, ...]:
    return tuple(
        Ground("answer", f"{item.prompt.name} ({item.prompt.path}): {found.text}")
        for item in having[:6]
        for found in item.result.judged
        if found.kind in kinds
    )
