"""The judges over many runs of the smoke test against the actual servers of two releases.

What the servers answered was kept by tests/server/record_answers.py, each different answer once.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sgl_audit.model.evidence import FailureClass, Phase
from sgl_audit.probe import smoke, verdicts
from sgl_audit.probe.aftermath import State
from sgl_audit.probe.classify import End, classify
from sgl_audit.probe.client import Answer, read_answer
from sgl_audit.probe.logs import from_lines
from sgl_audit.probe.prompts import SUITE, Prompt
from sgl_audit.probe.weighing import Seen, weigh

FOLDER = Path(__file__).parent / "answers"
RELEASES = {path.stem.removeprefix("runs-"): json.loads(path.read_text("utf-8"))
            for path in sorted(FOLDER.glob("runs-*.json"))}  # fmt: skip
RUNS = 20
UNWRITABLE = [
    "Traceback (most recent call last):",
    '  File "/v/site-packages/starlette/responses.py", line 1, in render',
    "    write()",
    "ValueError: Out of range float values are not JSON compliant",
]
VERDICTS = {
    "healthy": None,
    "nan": FailureClass.NAN,
    "latenan": FailureClass.NAN,
    "repeat": FailureClass.GARBAGE,
}
PROMPTS = {prompt.name: prompt for prompt in SUITE} | {
    "poison": Prompt("poison", "generate", "POISON ...", logprobs=True, own=True)
}
SERVED = [(release, model) for release, kept in RELEASES.items() for model in VERDICTS
          if model in kept]  # fmt: skip


def answer_of(kept: dict[str, Any]) -> Answer:
    if kept["status"] is None:
        return Answer(None, error=kept["error"])
    return read_answer(kept["status"], json.dumps(kept["data"]) if "data" in kept else kept["body"])


def judged_runs(release: str, model: str, *, known: bool) -> list[FailureClass | None]:
    """One verdict a run."""
    kept = RELEASES[release]
    vocabulary = kept["vocabulary"] if known else None
    found = []
    for row in kept[model]["runs"]:
        asked: list[smoke.Asked] = []
        for name, index in zip(kept[model]["prompts"], row, strict=False):
            answer = answer_of(kept[model]["answers"][index])
            asked.append(smoke.judged(PROMPTS[name], answer, vocabulary, asked))
        # The older release cannot write NaN into an answer, says HTTP 500, and logs why.
        fault = any(item.answer.status == 500 for item in asked)
        log = from_lines(UNWRITABLE if fault else [])
        seen = Seen(asked, log, State.WELL, End(None, Phase.SMOKE))
        failure, _ = weigh(seen)
        assert (failure is None) == (verdicts.weigh(asked).failure is None)
        found.append(None if failure is None else failure.failure)
    return found


def test_both_releases_and_all_models_are_there() -> None:
    assert {(release, model) for release in ("0.5.23", "0.5.9") for model in VERDICTS} <= {*SERVED}
    assert all(len(RELEASES[release]["mla"]) >= 8 for release in ("0.5.23", "0.5.9"))


@pytest.mark.parametrize(("release", "model"), SERVED)
@pytest.mark.parametrize("known", [True, False], ids=["vocabulary known", "unknown"])
def test_each_run_is_judged_rightly(release: str, model: str, known: bool) -> None:
    found = judged_runs(release, model, known=known)
    assert len(found) >= RUNS
    assert set(found) == {VERDICTS[model]}


@pytest.mark.parametrize("release", [name for name, kept in RELEASES.items() if "mla" in kept])
def test_each_death_on_the_first_prompt_is_a_death_in_warm_up(release: str) -> None:
    for start in RELEASES[release]["mla"]:
        lines = ["Scheduler hit an exception: Traceback (most recent call last):"]
        for file, line in start["frames"]:
            lines += [f'  File "/v/site-packages/{file}", line {line}, in run', "    call()"]
        lines += [
            f"{start['type']}: {start['message']}",
            "",
            "Received sigquit from a child process.",
        ]
        found = classify(from_lines(lines), End(start["exit"], Phase(start["phase"])))
        assert found.failure is FailureClass.DIED_WARMUP
        assert start["message"] in found.summary
