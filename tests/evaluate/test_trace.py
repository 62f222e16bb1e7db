"""What set each value: every value a launch ends up with is the last thing its trace names."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sgl_audit import api
from sgl_audit.evaluate.resolver import Resolver
from sgl_audit.model.resolution import Launch, Outcome, Resolution
from sgl_audit.source import open_source

ROOT = Path(__file__).resolve().parents[2]
TREES: dict[str, Any] = json.loads((ROOT / "fixtures" / "expected.json").read_text("utf-8"))[
    "trees"
]
CASES = [
    (name, row)
    for name, tree in TREES.items()
    for row in tree["launches"]
    if row["outcome"] == "ok" and row["arch"] in ("sm90", "sm120")
]


@cache
def resolver(name: str) -> Resolver:
    return Resolver(open_source(str(ROOT / TREES[name]["root"])))


def check_trace(answer: Resolution, read: Any) -> int:
    """Every trace ends in the value; every decision is a line of the tree. Gives the decisions."""
    decisions = 0
    for value in answer.options:
        assert value.steps, value.name
        last = value.steps[-1]
        if last.what == "flag":
            # The flag is shown as it was typed.
            assert last.value.startswith("--")
        elif value.decided and not isinstance(value.value, dict | list):
            # Longer values are cut, or shown as the program writes them.
            assert last.value in (repr(value.value), str(value.value)), value
        for step in value.steps:
            if step.what != "decided":
                assert step.place is None
                continue
            assert step.place is not None
            assert read(step.place.file).decode().splitlines()[step.place.line - 1].strip()
            decisions += 1
    return decisions


@pytest.mark.parametrize(("name", "row"), CASES, ids=[row["id"] for _, row in CASES])
def test_traces_of_recorded_launches(name: str, row: dict[str, Any]) -> None:
    model = str(ROOT / "fixtures" / "models" / row["model"])
    launch = Launch("", row["arch"], ("--model-path", model, *row["flags"]))
    answer = resolver(name).resolve(launch, trace=True)
    if answer.outcome is Outcome.OK:
        check_trace(answer, resolver(name).tree.read)


@pytest.mark.real
@pytest.mark.parametrize("version", ["0.5.4", "0.5.9", "0.5.23"])
def test_traces_in_releases(real_cache: Path, version: str) -> None:
    source = api.open_source(f"sglang=={version}", cache_dir=real_cache)
    libraries, _ = api.open_libraries(source, cache_dir=real_cache)
    model = str(ROOT / "fixtures" / "models" / "fp8_moe")
    launch = Launch("", "sm100", ("--model-path", model))
    answer = Resolver(source, libraries).resolve(launch, trace=True)
    assert answer.outcome is Outcome.OK, answer.reason
    assert check_trace(answer, source.read) >= 3
    named = {value.name: value for value in answer.options}
    by_program = [step for step in named["attention_backend"].steps if step.what == "decided"]
    # 0.5.4 chooses the attention back end in the model runner, after the record is made.
    assert by_program or version == "0.5.4"
