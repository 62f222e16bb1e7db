"""The judges over what actual servers of three releases answered, in every order of the answers.

tests/probe/answers/captures.json holds one answer to each of some requests for each model and
release, reduced to what is judged. The vocabulary has 512 tokens. What the models do:
sane knows some answers; nan has no logit that is a number; latenan the same from one word on;
repeat gives one token with finite logits; the flags and variables make the server write over NaN.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from sgl_audit.model.evidence import FailureClass
from sgl_audit.probe import smoke, verdicts
from sgl_audit.probe.client import Answer, read_answer
from sgl_audit.probe.prompts import Prompt

CAPTURES: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "answers" / "captures.json").read_text("utf-8")
)
VOCABULARY = 512
RUNS = 20
# The others were cut off before they could come to the answer, or may say anything.
LONG_ENOUGH = ("generate", "generate_nan_word", "chat")
NAN, GARBAGE = FailureClass.NAN, FailureClass.GARBAGE


def prompt_of(row: dict[str, Any]) -> Prompt:
    name = row["name"]
    expect = (r"\bParis\b",) if name in LONG_ENOUGH else ()
    own, sampled = name == "generate_nan_word", "sampl" in name
    return Prompt(name, row["route"], name, expect, sampled, own=own)


def answer_of(row: dict[str, Any]) -> Answer:
    if row["status"] is None:
        return Answer(None, error=row["error"])
    return read_answer(row["status"], json.dumps(row["data"]) if "data" in row else row["body"])


def verdict(rows: list[dict[str, Any]], vocabulary: int | None = VOCABULARY) -> verdicts.Verdict:
    return verdicts.weigh([smoke.judged(prompt_of(r), answer_of(r), vocabulary) for r in rows])


def model_of(case: str) -> str:
    return case.split()[1]


@pytest.mark.parametrize("case", CAPTURES)
@pytest.mark.parametrize("known", [True, False], ids=["vocabulary known", "unknown"])
def test_the_verdict_is_the_same_in_every_order(case: str, known: bool) -> None:
    vocabulary = VOCABULARY if known else None
    rows = list(CAPTURES[case])
    found = set()
    for run in range(RUNS):
        random.Random(run).shuffle(rows)
        found.add(verdict(rows, vocabulary).failure)
    match model_of(case):
        case "sane":
            assert found == {None}
        case "nan" | "nan_oov" | "nan_flag" | "nan_sanitize_env":
            assert found == {NAN}
        case "repeat":
            assert found == {GARBAGE}
        case "latenan" | "latenan_flag":
            # Asked without logprobs, so that NaN cannot be told from garbage; healthy it is not.
            assert found <= {NAN, GARBAGE}
        case "moe":
            # Weights made by chance: all it shows is that no NaN is seen where none is.
            assert NAN not in found
        case other:
            raise AssertionError(f"nothing is known of {other}")


@pytest.mark.parametrize("case", [case for case in CAPTURES if model_of(case) == "sane"])
def test_no_single_answer_of_a_sane_model_is_bad(case: str) -> None:
    for row in CAPTURES[case]:
        assert not smoke.judged(prompt_of(row), answer_of(row), VOCABULARY).result.judged


@pytest.mark.parametrize("case", [case for case in CAPTURES if model_of(case) == "nan"])
def test_no_single_answer_of_nan_is_good(case: str) -> None:
    for row in CAPTURES[case]:
        assert smoke.judged(prompt_of(row), answer_of(row), VOCABULARY).result.judged, row
