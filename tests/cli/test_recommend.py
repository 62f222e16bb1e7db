"""`sgl-audit recommend`: one answer in every form it has."""

from __future__ import annotations

import json
from pathlib import Path

from .conftest import MODELS, TREE, Run

WORDS = ("recommend", TREE, "--arch", "sm120", "--transformers", "none", "--flashinfer", "none")
LAUNCH = ("--", "--model-path", str(MODELS / "nvfp4_moe_hybrid"), "--tp", "8")


def test_one_answer_as_text_page_and_data(run: Run, tmp_path: Path) -> None:
    page, text, data = (tmp_path / name for name in ("r.html", "r.md", "r.json"))
    done = run(*WORDS, "-o", "-", "-o", page, "-o", text, "-o", data, *LAUNCH)
    flags = [item["flag"] for item in json.loads(data.read_text("utf-8"))["flags"]]
    assert flags
    for flag in flags:
        assert flag in done.out
        assert flag in page.read_text("utf-8")
        assert flag in text.read_text("utf-8")
    assert page.read_text("utf-8").startswith("<!doctype html>")


def test_a_form_that_it_lacks_names_those_it_has(run: Run, tmp_path: Path) -> None:
    done = run(*WORDS, "-o", tmp_path / "r.sarif", *LAUNCH)
    assert done.code == 2
    assert "there is no sarif of this; the forms are terminal, json, html, markdown" in done.err


def test_what_a_slow_value_costs_is_said_once_for_both_stages(run: Run) -> None:
    done = run(*WORDS, "--format", "json", *LAUNCH)
    found = {item["option"]: item for item in json.loads(done.out)["flags"]}
    cost = found["attention_backend"]["cost"]
    slow = [v for v in json.loads(done.out)["after"] if v["verdict"] == "slow"]
    assert len(slow) == 2
    assert cost in {ground["text"] for row in slow for ground in row["grounds"]}
