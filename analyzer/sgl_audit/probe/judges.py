"""What one answer shows. Each judge looks for one fault; a healthy answer leaves all silent."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator

from sgl_audit.model.evidence import Judgement
from sgl_audit.probe.client import TIMEOUT, Answer
from sgl_audit.probe.prompts import Prompt
from sgl_audit.probe.reading import Reply, Token, read_reply

# Kinds, worst first.
NAN, DIED, TIMED_OUT, FAULT, REFUSED = "nan", "died", "timeout", "fault", "refused"
REPEAT, EMPTY, INVALID, WRONG, OPEN = "repeat", "empty", "invalid", "wrong", "not reached"
DISAGREES = "disagrees"
# No fault of the answer: the connection before it was cut.
LOST = "lost"

_LEAST_REPEATED = 8
_LEAST_UNIFORM = 3
_SAME = 1e-4
_NEAR = 2e-3
_NOT_A_NUMBER = re.compile(r"\bnan\b", re.IGNORECASE)
_THINKS = re.compile(r"^\s*<(?:think|thought|reasoning|\|channel\|)", re.IGNORECASE)
_PART = re.compile(r"\w+|[^\w\s]")


def judge(prompt: Prompt, answer: Answer, vocabulary: int | None = None) -> tuple[Judgement, ...]:
    """Everything that is wrong with one answer.

    Args:
        vocabulary: size of the model's vocabulary, where it is known.
    """
    if answer.status is None:
        kind = TIMED_OUT if answer.error == TIMEOUT else DIED
        return (Judgement(kind, answer.error),)
    if answer.status >= 500:
        return (Judgement(FAULT, f"HTTP {answer.status}: {_short(answer.body)}"),)
    if answer.status >= 400:
        return (Judgement(REFUSED, f"HTTP {answer.status}: {_short(answer.body)}"),)
    reply = read_reply(prompt.route, answer)
    if reply is None:
        return (Judgement(FAULT, f"no answer of this endpoint: {_short(answer.body)}"),)
    nan = tuple(_nan(reply, vocabulary))
    # With NaN the text is what the sampler made of it; judging it too says nothing more.
    return nan or tuple(item for look in _JUDGES for item in look(prompt, reply))


def agreement(first: Answer, second: Answer, route: str) -> Judgement | None:
    """Whether two greedy runs of one prompt begin alike; later differences can be rounding."""
    one, two = read_reply(route, first), read_reply(route, second)
    if one is None or two is None:
        return None
    a, b = _said(one)[:16], _said(two)[:16]
    if a == b:
        return None
    return Judgement(DISAGREES, f"greedy answers begin {a!r} and {b!r}")


def _nan(reply: Reply, vocabulary: int | None) -> Iterator[Judgement]:
    if _NOT_A_NUMBER.search(reply.matched):
        yield Judgement(NAN, f"the answer ends at {reply.matched!r}")
    for what, tokens in (("answer", reply.tokens), ("prompt", reply.prompt)):
        bad = sum(not _finite(token) for token in tokens)
        if bad:
            yield Judgement(NAN, f"{bad} of {len(tokens)} logprobs of the {what} are no number")
    uniform = _uniform(reply.tokens, vocabulary)
    if uniform:
        yield Judgement(NAN, uniform)


def _finite(token: Token) -> bool:
    return token.logprob is not None and math.isfinite(token.logprob)


def _uniform(tokens: tuple[Token, ...], vocabulary: int | None) -> str:
    """Logits that all became one number: each token has the probability 1/vocabulary."""
    values = [token.logprob for token in tokens if token.logprob is not None]
    if len(values) < _LEAST_UNIFORM or max(values) - min(values) > _SAME or values[0] > -1:
        return ""
    if vocabulary and abs(values[0] + math.log(vocabulary)) < _NEAR:
        return f"every logprob is {values[0]:.4f}, which is -ln of the vocabulary ({vocabulary})"
    flat = all(
        len(token.top) > 1 and all(v is not None and abs(v - values[0]) < _SAME for v in token.top)
        for token in tokens
    )
    if flat:
        return f"every logprob is {values[0]:.4f}, of the best tokens too: all are equally likely"
    return ""


def _repeat(prompt: Prompt, reply: Reply) -> Iterator[Judgement]:
    """One token over and over. By ids where they are given, else by the parts of the text."""
    if len(reply.ids) >= _LEAST_REPEATED and len(set(reply.ids)) == 1:
        yield Judgement(
            REPEAT, f"token {reply.ids[0]} {len(reply.ids)} times: {_short(_said(reply))}"
        )
        return
    text = _said(reply).strip()
    parts = _PART.findall(text)
    same = len(parts) >= _LEAST_REPEATED and len(set(parts)) == 1
    if same or (len(text) >= 2 * _LEAST_REPEATED and len(set(text)) == 1):
        yield Judgement(REPEAT, f"the answer is {_short(text)}")


def _empty(prompt: Prompt, reply: Reply) -> Iterator[Judgement]:
    if reply.text is None and not reply.thinking:
        yield Judgement(EMPTY, "the content is null")
    elif not _said(reply).strip():
        yield Judgement(EMPTY, f"the content is empty after {reply.count or 'no'} tokens")


def _invalid(prompt: Prompt, reply: Reply) -> Iterator[Judgement]:
    # A cut-off answer may end inside a character, which is no fault.
    text = _said(reply).rstrip("�")
    bad = [c for c in text if c == "�" or (unicodedata.category(c) in _BAD and c not in "\n\r\t")]
    if bad:
        yield Judgement(INVALID, f"{len(bad)} characters are no text: {_short(_said(reply))}")


_BAD = ("Cc", "Cn", "Co", "Cs")


def _wrong(prompt: Prompt, reply: Reply) -> Iterator[Judgement]:
    if not prompt.expect or not _said(reply).strip():
        return
    text = reply.text or ""
    if any(re.search(pattern, text) for pattern in prompt.expect):
        return
    wanted = " or ".join(prompt.expect)
    thinking = bool(reply.thinking) or _THINKS.match(text) is not None
    if reply.finish == "length" and thinking:
        yield Judgement(OPEN, f"still thinking after {reply.count or prompt.max_tokens} tokens")
        return
    yield Judgement(WRONG, f"expected {wanted}, got {_short(_said(reply))}")


_JUDGES: tuple[Callable[[Prompt, Reply], Iterator[Judgement]], ...] = (
    _repeat,
    _empty,
    _invalid,
    _wrong,
)


def _said(reply: Reply) -> str:
    return reply.text or reply.thinking


def _short(text: str, size: int = 120) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return repr(line if len(line) <= size else line[: size - 4] + " ...")
