"""The judges on answers of the forms that SGLang 0.5.9, 0.5.10 and 0.5.23 give."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from sgl_audit.model.evidence import FailureClass
from sgl_audit.probe import judges, smoke, verdicts
from sgl_audit.probe.client import Answer, read_answer
from sgl_audit.probe.prompts import SUITE, Prompt, with_own

ASK = Prompt("capital", "generate", "The capital of France is", (r"\bParis\b",))
CHAT = Prompt("capital", "chat", "What is the capital of France?", (r"\bParis\b",))


def generated(
    text: str | None = " Paris, and so on.",
    *,
    ids: list[int] | None = None,
    out: list[float | None] | None = None,
    tops: list[float | None] | None = None,
    prompt: list[float | None] | None = None,
    reason: dict[str, Any] | None = None,
) -> Answer:
    """An answer of `/generate`."""
    meta: dict[str, Any] = {"finish_reason": reason or {"type": "stop", "matched": 387}}
    if out is not None:
        meta["output_token_logprobs"] = [[value, 5, None] for value in out]
        both = tops if tops is not None else out
        meta["output_top_logprobs"] = [
            [[a, 5, None], [b, 6, None]] for a, b in zip(out, both, strict=True)
        ]
        given = prompt if prompt is not None else [None, -6.5, -8.0]
        meta["input_token_logprobs"] = [[value, 7, None] for value in given]
    body = {"text": text, "output_ids": ids or [285, 11, 366], "meta_info": meta}
    return read_answer(200, json.dumps(body))


def chatted(content: str | None, **choice: Any) -> Answer:
    """An answer of `/v1/chat/completions`."""
    message = {"role": "assistant", "content": content, "reasoning_content": None}
    message |= choice.pop("message", {})
    one = {"message": message, "finish_reason": "stop", "matched_stop": 387, **choice}
    return read_answer(200, json.dumps({"choices": [one], "usage": {"completion_tokens": 24}}))


def kinds(prompt: Prompt, answer: Answer, vocabulary: int | None = 512) -> list[str]:
    return [found.kind for found in judges.judge(prompt, answer, vocabulary)]


def test_a_healthy_answer_leaves_all_silent() -> None:
    fine = generated(out=[-0.0097, -0.0073, -0.0123], tops=[-7.1, -7.2, -6.8])
    assert kinds(ASK, fine) == []
    assert kinds(CHAT, chatted("The capital of France is Paris.")) == []


@pytest.mark.parametrize("first", [None, float("nan")])
def test_a_logprob_that_is_no_number_is_nan(first: float | None) -> None:
    assert kinds(ASK, generated(out=[first, -0.1, -0.1])) == ["nan"]


def test_the_first_logprob_of_a_prompt_is_always_null() -> None:
    fine = generated(out=[-0.1, -0.2, -0.3], tops=[-7.0, -7.0, -7.0], prompt=[None, -1.0])
    assert kinds(ASK, fine) == []
    bad = generated(out=[-0.1, -0.2, -0.3], tops=[-7.0, -7.0, -7.0], prompt=[None, None, -1.0])
    assert kinds(ASK, bad) == ["nan"]


def test_null_logprobs_of_a_chat_are_nan() -> None:
    token = {"token": "!", "logprob": None, "top_logprobs": [{"logprob": None}]}
    answer = chatted("!!!!", logprobs={"content": [token] * 4})
    assert kinds(CHAT, answer) == ["nan"]


def test_uniform_logprobs_are_nan_that_was_written_over() -> None:
    uniform = -math.log(512)
    known = judges.judge(ASK, generated(out=[uniform] * 4), 512)
    assert "vocabulary (512)" in known[0].text
    assert kinds(ASK, generated(out=[uniform] * 4), None) == ["nan"]


def test_certain_and_equal_logprobs_are_not_uniform() -> None:
    certain = generated("!!!!", out=[0.0] * 4, tops=[-64.0] * 4)
    assert "nan" not in kinds(ASK, certain)
    equal = generated(" Paris", out=[-2.0] * 4, tops=[-3.0] * 4)
    assert kinds(ASK, equal) == []


@pytest.mark.parametrize(
    "answer",
    [
        generated("", reason={"type": "stop", "matched": "NaN happened"}),
        chatted(None, matched_stop="NaN happened"),
    ],
)
def test_the_server_says_that_nan_happened(answer: Answer) -> None:
    prompt = ASK if "meta_info" in answer.data else CHAT
    assert kinds(prompt, answer) == ["nan"]


def test_one_token_over_and_over() -> None:
    assert "repeat" in kinds(ASK, generated("!" * 24, ids=[0] * 24))
    assert "repeat" in kinds(CHAT, chatted("!" * 24))
    assert "repeat" in kinds(CHAT, chatted("the " * 12))
    assert "repeat" not in kinds(CHAT, chatted("Paris Paris, the city"))


def test_empty_null_and_invalid_content() -> None:
    assert kinds(CHAT, chatted(None)) == ["empty"]
    assert kinds(CHAT, chatted("  ")) == ["empty"]
    assert kinds(CHAT, chatted("Paris \x07\x00 \x01")) == ["invalid"]
    assert kinds(CHAT, chatted("Paris ��� rest")) == ["invalid"]
    # Cut off within a character.
    assert kinds(CHAT, chatted("Paris �")) == []


def test_an_answer_in_the_reasoning_is_not_empty() -> None:
    thinking = chatted(
        None, finish_reason="length", message={"reasoning_content": "The user asks about France"}
    )
    assert kinds(CHAT, thinking) == ["not reached"]


def test_wrong_and_failed_answers() -> None:
    assert kinds(CHAT, chatted("It is Rome.")) == ["wrong"]
    assert kinds(ASK, read_answer(500, "Internal Server Error")) == ["fault"]
    assert kinds(ASK, read_answer(400, "{}")) == ["refused"]
    assert kinds(ASK, read_answer(200, "{}")) == ["fault"]
    assert kinds(ASK, Answer(None, error="RemoteProtocolError: closed")) == ["died"]


def test_greedy_answers_that_differ() -> None:
    one, two = generated(" Paris, and so"), generated(" Lyon, and so")
    assert judges.agreement(one, one, "generate") is None
    found = judges.agreement(one, two, "generate")
    assert found is not None
    assert found.kind == "disagrees"


def test_sampled_prompts_come_last() -> None:
    own = (Prompt("mine", "chat", "x", own=True), Prompt("hot", "chat", "y", sampled=True))
    order = [prompt.sampled for prompt in with_own(own)]
    assert order == sorted(order)
    assert [prompt.sampled for prompt in SUITE] == sorted(prompt.sampled for prompt in SUITE)


def weighed(*answers: tuple[Prompt, Answer]) -> verdicts.Verdict:
    return verdicts.weigh([smoke.judged(prompt, answer, 512) for prompt, answer in answers])


def test_one_missed_question_is_a_note_and_most_of_them_a_failure() -> None:
    good, bad = (CHAT, chatted("Paris.")), (CHAT, chatted("It is Rome."))
    verdict = weighed(good, good, bad)
    assert verdict.failure is None
    assert len(verdict.notes) == 1
    assert weighed(good, bad, bad).failure is FailureClass.GARBAGE


def test_nan_in_one_answer_of_many_fails() -> None:
    good = (CHAT, chatted("Paris."))
    verdict = weighed(good, good, good, (ASK, generated(out=[None])))
    assert verdict.failure is FailureClass.NAN
    assert verdict.grounds[0].source == "answer"


def test_repetition_with_finite_logprobs_is_garbage_and_not_nan() -> None:
    bang = generated("!" * 24, ids=[0] * 24, out=[0.0] * 4, tops=[-64.0] * 4)
    assert weighed((ASK, bang), (CHAT, chatted("!" * 24))).failure is FailureClass.GARBAGE


def test_a_server_that_refuses_every_prompt_is_not_called_good() -> None:
    verdict = weighed((CHAT, read_answer(400, '{"error": "no chat template"}')))
    assert verdict.failure is FailureClass.UNKNOWN
    assert "no chat template" in verdict.grounds[0].text
