"""One form for what the three endpoints answer.

Facts about the forms: answers of SGLang 0.5.9, 0.5.10 and 0.5.23. `/generate` has `text` and
`meta_info`; the OpenAI routes have `choices[0]`. A logprob that is not a number comes as null, and
the first logprob of a prompt is always null.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sgl_audit.probe.client import Answer
from sgl_audit.probe.prompts import CHAT, GENERATE


@dataclass(frozen=True, slots=True)
class Token:
    """One token of the answer with its logprob (None for null) and those of the best ones."""

    logprob: float | None
    top: tuple[float | None, ...] = ()
    id: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """The content of an answer.

    Attributes:
        text: the answer, None where the server sent null.
        thinking: text that the server put aside as reasoning.
        finish: why it ended ("stop", "length" ...).
        matched: what it ended at, as text.
        ids: token ids, where the endpoint gives them.
        tokens: tokens with logprobs, where these were asked for.
        prompt: logprobs of the prompt without its first token.
    """

    text: str | None
    thinking: str = ""
    finish: str = ""
    matched: str = ""
    ids: tuple[int, ...] = ()
    count: int | None = None
    tokens: tuple[Token, ...] = ()
    prompt: tuple[Token, ...] = ()


def read_reply(route: str, answer: Answer) -> Reply | None:
    """The reply in an answer, or None where it has another form."""
    data = answer.data
    if isinstance(data, list) and len(data) == 1:
        data = data[0]
    if not isinstance(data, dict):
        return None
    return _generated(data) if route == GENERATE else _chosen(route, data)


def _generated(data: dict[str, Any]) -> Reply | None:
    meta = data.get("meta_info")
    if "text" not in data or not isinstance(meta, dict):
        return None
    reason = meta.get("finish_reason")
    reason = reason if isinstance(reason, dict) else {"type": reason}
    ids = data.get("output_ids")
    return Reply(
        text=_text(data["text"]),
        finish=str(reason.get("type") or ""),
        matched=_matched(reason.get("matched")),
        ids=tuple(i for i in ids if isinstance(i, int)) if isinstance(ids, list) else (),
        count=_count(meta.get("completion_tokens")),
        tokens=tuple(_tokens(meta, "output")),
        prompt=tuple(_tokens(meta, "input"))[1:],
    )


def _tokens(meta: dict[str, Any], side: str) -> Iterator[Token]:
    chosen = meta.get(f"{side}_token_logprobs")
    best = meta.get(f"{side}_top_logprobs")
    for index, item in enumerate(chosen if isinstance(chosen, list) else []):
        if not isinstance(item, list) or not item:
            continue
        top = best[index] if isinstance(best, list) and index < len(best) else None
        values = tuple(_number(one[0]) for one in (top or []) if isinstance(one, list) and one)
        number = item[1] if len(item) > 1 and isinstance(item[1], int) else None
        yield Token(_number(item[0]), values, number)


def _chosen(route: str, data: dict[str, Any]) -> Reply | None:
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None
    choice = choices[0]
    usage = data.get("usage")
    message = choice.get("message") if route == CHAT else choice
    if not isinstance(message, dict):
        return None
    return Reply(
        text=_text(message.get("content" if route == CHAT else "text")),
        thinking=_text(message.get("reasoning_content")) or "",
        finish=str(choice.get("finish_reason") or ""),
        matched=_matched(choice.get("matched_stop")),
        count=_count(usage.get("completion_tokens")) if isinstance(usage, dict) else None,
        tokens=tuple(_chat_tokens(choice.get("logprobs"))),
    )


def _chat_tokens(logprobs: Any) -> Iterator[Token]:
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    for item in content if isinstance(content, list) else []:
        if isinstance(item, dict) and "logprob" in item:
            top = item.get("top_logprobs")
            values = tuple(
                _number(one.get("logprob"))
                for one in (top if isinstance(top, list) else [])
                if isinstance(one, dict)
            )
            yield Token(_number(item["logprob"]), values)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _matched(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> float | None:
    ok = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if ok else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
