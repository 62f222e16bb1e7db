"""What the answers of a smoke test say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sgl_audit.model.evidence import FailureClass, Ground
from sgl_audit.probe import judges
from sgl_audit.probe.smoke import Asked, found_in

# One of these in any answer and nothing the server says can be relied on.
_FATAL = (judges.NAN, judges.DIED, judges.TIMED_OUT, judges.FAULT)
# One of these may be the model's doing; in most answers they are not.
_BAD = (judges.REPEAT, judges.EMPTY, judges.INVALID, judges.WRONG)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the answers say together. `failure` is None where nothing is wrong."""

    failure: FailureClass | None = None
    summary: str = ""
    grounds: tuple[Ground, ...] = ()
    notes: tuple[str, ...] = ()


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
    found = [item for item in asked if found_in(item, kind)]
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
    own = [i for i in asked if i.prompt.own and any(found_in(i, kind) for kind in _BAD)]
    if own:
        names = ", ".join(f"'{item.prompt.name}'" for item in own[:3])
        text = f"{len(own)} of your prompts got no good answer: {names}"
        return Verdict(FailureClass.GARBAGE, text, _grounds(own, _BAD))
    answered = [item for item in asked if not found_in(item, judges.REFUSED)]
    if not answered:
        return Verdict(
            FailureClass.UNKNOWN,
            "the server refused every prompt",
            _grounds(asked, (judges.REFUSED,)),
        )
    for kinds, could, says in _shares(answered):
        having = [item for item in could if any(found_in(item, kind) for kind in kinds)]
        if could and 2 * len(having) > len(could):
            text = f"{len(having)} of {len(could)} {says}"
            return Verdict(FailureClass.GARBAGE, text, _grounds(having, kinds))
    return None


def _shares(
    answered: Sequence[Asked],
) -> tuple[tuple[tuple[str, ...], Sequence[Asked], str], ...]:
    known = [i for i in answered if i.prompt.expect and not found_in(i, judges.OPEN)]
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


def _grounds(having: Sequence[Asked], kinds: Sequence[str]) -> tuple[Ground, ...]:
    return tuple(
        Ground("answer", f"{item.prompt.name} ({item.prompt.path}): {found.text}")
        for item in having[:6]
        for found in item.result.judged
        if found.kind in kinds
    )
