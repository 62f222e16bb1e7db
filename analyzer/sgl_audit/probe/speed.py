"""A short measurement: tokens a second alone and beside others, and the time to the first one."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sgl_audit.model.evidence import Speed
from sgl_audit.probe.client import Answer, Client

_TOKENS = 48
_TEXT = "Write a long story about a small server that answers every question."


def measure(client: Client, concurrency: int, budget_s: float) -> tuple[Speed, ...]:
    """Tokens a second at concurrency 1 and at `concurrency`; empty where the server gives none.

    Args:
        concurrency: 0 for no measurement.
        budget_s: no new measurement begins after this time.
    """
    start = time.monotonic()
    found = []
    for wanted in dict.fromkeys((1, concurrency)) if concurrency else ():
        if time.monotonic() - start > budget_s:
            break
        speed = _at(client, wanted)
        if speed is not None:
            found.append(speed)
    return tuple(found)


def _at(client: Client, concurrency: int) -> Speed | None:
    first, _ = client.first_token("/generate", {**_body(0), "stream": True})
    start = time.monotonic()
    with ThreadPoolExecutor(concurrency) as pool:
        answers = list(pool.map(lambda n: client.post("/generate", _body(n)), range(concurrency)))
    spent = time.monotonic() - start
    tokens = sum(_tokens(answer) for answer in answers)
    if not tokens or spent <= 0:
        return None
    return Speed(concurrency, round(tokens / spent, 2), None if first is None else round(first, 4))


def _body(number: int) -> dict[str, Any]:
    # Different first words, so that no request is answered out of another one's cache.
    sampling = {"temperature": 0, "max_new_tokens": _TOKENS, "ignore_eos": True}
    return {"text": f"{number}. {_TEXT}", "sampling_params": sampling}


def _tokens(answer: Answer) -> int:
    meta = answer.data.get("meta_info") if isinstance(answer.data, dict) else None
    count = meta.get("completion_tokens") if isinstance(meta, dict) else None
    return count if isinstance(count, int) else 0
