"""A short measurement: tokens a second alone and beside others, and the time to the first one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from threading import Thread
from typing import Any

from sgl_audit.model.evidence import Speed
from sgl_audit.probe.client import Answer, Client

_TOKENS = 48
_TEXT = "Write a long story about a small server that answers every question."


def measure(
    client: Client, concurrency: int, budget_s: float
) -> tuple[tuple[Speed, ...], tuple[str, ...]]:
    """Tokens a second at concurrency 1 and at `concurrency`, and what went wrong meanwhile.

    Args:
        concurrency: 0 for no measurement.
        budget_s: no new measurement begins after this time.
    """
    start = time.monotonic()
    found: list[Speed] = []
    wrong: list[str] = []
    for wanted in dict.fromkeys((1, concurrency)) if concurrency else ():
        if time.monotonic() - start > budget_s:
            wrong.append(f"concurrency {wanted} was not measured: {budget_s:.0f} s were over")
            break
        speed, fault = _at(client, wanted)
        if speed is not None:
            found.append(speed)
        if fault:
            wrong.append(f"concurrency {wanted}: {fault}")
    return tuple(found), tuple(wrong)


def too_slow(found: Sequence[Speed], floor: float | None) -> str:
    """Why it counts as slow, or ""."""
    alone = next((item.tokens_per_second for item in found if item.concurrency == 1), None)
    if floor is None or alone is None or alone >= floor:
        return ""
    return f"{alone} tokens/s alone, below the {floor} that were asked for"


def _at(client: Client, concurrency: int) -> tuple[Speed | None, str]:
    first, _ = client.first_token("/generate", {**_body(0), "stream": True})
    start = time.monotonic()
    answers = _together(client, concurrency)
    spent = time.monotonic() - start
    bad = [answer for answer in answers if not _tokens(answer)]
    fault = f"{len(bad)} of {concurrency} requests gave no tokens ({_said(bad[0])})" if bad else ""
    tokens = sum(_tokens(answer) for answer in answers)
    if not tokens or spent <= 0 or bad:
        return None, fault
    rate = round(tokens / spent, 2)
    return Speed(concurrency, rate, None if first is None else round(first, 4)), ""


def _together(client: Client, concurrency: int) -> list[Answer]:
    """All at once. Threads of a pool would have to be waited for when the user interrupts."""
    answers = [Answer(None, error="no answer")] * concurrency

    def ask(number: int) -> None:
        answers[number] = client.post("/generate", _body(number))

    threads = [Thread(target=ask, args=(n,), daemon=True) for n in range(concurrency)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def _said(answer: Answer) -> str:
    return answer.error if answer.status is None else f"HTTP {answer.status}"


def _body(number: int) -> dict[str, Any]:
    # Different first words, so that no request is answered out of another one's cache.
    sampling = {"temperature": 0, "max_new_tokens": _TOKENS, "ignore_eos": True}
    return {"text": f"{number}. {_TEXT}", "sampling_params": sampling}


def _tokens(answer: Answer) -> int:
    meta = answer.data.get("meta_info") if isinstance(answer.data, dict) else None
    count = meta.get("completion_tokens") if isinstance(meta, dict) else None
    return count if isinstance(count, int) else 0
