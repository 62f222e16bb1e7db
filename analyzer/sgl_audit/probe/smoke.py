"""The smoke test: every prompt asked in order, and every answer judged."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sgl_audit.model.evidence import Judgement, SmokeResult
from sgl_audit.probe import judges
from sgl_audit.probe.client import Answer, Client
from sgl_audit.probe.prompts import Prompt
from sgl_audit.probe.reading import read_reply


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt, the answer as it came, and the record of both."""

    prompt: Prompt
    answer: Answer
    result: SmokeResult


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
        if prompt.sampled and any(found_in(item, judges.NAN) for item in asked):
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


def found_in(item: Asked, kind: str) -> list[Judgement]:
    """What the judges found of one kind."""
    return [found for found in item.result.judged if found.kind == kind]
