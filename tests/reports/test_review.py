"""The review of an upgrade in every form."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace

import jsonschema
import pytest
from syrupy.assertion import SnapshotAssertion

from sgl_audit.model.review import Review
from sgl_audit_reports.common.upgrades import concerns, edited_line, family_lines, important
from sgl_audit_reports.json import history_to_json, review_to_json, schema
from sgl_audit_reports.markdown import review_to_markdown
from sgl_audit_reports.terminal import make_console, render_history, render_review

from . import sample, sample_review

REVIEWS = {"whole": sample_review.review(), "same": sample_review.same()}


def on_terminal(review: Review, *, details: bool = False) -> str:
    stream = io.StringIO()
    render_review(review, make_console(stream, color="never", width=80), details=details)
    return stream.getvalue()


@pytest.mark.parametrize("name", REVIEWS)
def test_json_satisfies_its_schema(name: str) -> None:
    value = json.loads(review_to_json(REVIEWS[name]))
    jsonschema.validate(value, schema("review"))
    assert value["same"] is (name == "same")


def test_terminal(snapshot: SnapshotAssertion) -> None:
    assert on_terminal(sample_review.review(hostile=False)) == snapshot
    assert on_terminal(sample_review.same()) == snapshot


def test_details_show_every_change_with_its_places() -> None:
    text = on_terminal(sample_review.review(hostile=False), details=True)
    for change in sample_review.CHANGES:
        assert change.text.partition(" ")[0] in text
    assert f"old {sample_review.PLACE}" in text
    assert "likely: 58% of all choices are common" in " ".join(text.split())


def test_an_edited_line_pastes_as_it_is() -> None:
    refused = sample_review.LAUNCHES[2]
    line = edited_line(refused)
    assert line == (
        "SGLANG_X='a b' sglang serve --model-path '/models/x y' --dsa-prefill-backend flashmla"
    )
    assert line in on_terminal(sample_review.review()).replace("\n  ", " ")


def test_markdown(snapshot: SnapshotAssertion) -> None:
    assert review_to_markdown(sample_review.review(hostile=False)) == snapshot
    assert review_to_markdown(sample_review.same()) == snapshot


def test_markdown_holds_no_markup_from_the_source() -> None:
    text = review_to_markdown(sample_review.review())
    plain = re.sub(r"```.*?```|(`+)(?!`).*?(?<!`)\1(?!`)", "", text, flags=re.DOTALL)
    assert set(re.findall(r"<(\w+)", plain)) <= {"details", "summary"}
    assert "](http://" not in plain
    assert "\x1b" not in text


def test_markdown_fits_into_one_comment() -> None:
    long = [
        replace(change, name=f"option_{n}", text=f"{change.text} {'x' * 800}")
        for n in range(60)
        for change in sample_review.CHANGES
    ]
    text = review_to_markdown(replace(sample_review.review(), changes=tuple(long)))
    assert len(text) < 65_536
    assert text.count("<details>") == text.count("</details>")
    assert "left out here" in text


def test_control_characters_never_reach_the_terminal() -> None:
    text = on_terminal(sample_review.review(), details=True)
    assert not {"\x1b", "\u2028", "\u202e"} & set(text)
    assert sample.MARKUP in text


def test_families_that_end_come_first_and_equal_ones_are_one_line() -> None:
    lines = family_lines(sample_review.FAMILIES)
    assert [line.harm for line in lines] == [0, 1, 2, 4]
    twin = replace(sample_review.FAMILIES[1], family="Other", group="NVFP4 dense")
    groups = [line.groups for line in family_lines((*sample_review.FAMILIES, twin))]
    assert ("NVFP4 MoE", "NVFP4 dense") in groups


def test_a_choice_that_several_options_lose_is_one_entry() -> None:
    texts = [change.text for change in important(sample_review.CHANGES)]
    assert "--decode-attention-backend, --attention-backend no longer takes cutlass_mla" in texts
    assert len(texts) == 2


@pytest.mark.parametrize(
    ("option", "group", "answer"),
    [
        ("fp8_gemm_runner_backend", "FP8 dense", True),
        ("fp8_gemm_runner_backend", "BF16 dense", False),
        ("fp4_gemm_runner_backend", "NVFP4 MoE", True),
        ("attention_backend", "BF16 dense", True),
    ],
)
def test_which_values_concern_a_family(option: str, group: str, answer: bool) -> None:
    assert concerns(option, group) is answer


def test_a_history() -> None:
    stream = io.StringIO()
    render_history(sample_review.history(), make_console(stream, color="never", width=120))
    text = stream.getvalue()
    assert text.startswith("moe_runner_backend on sm120, sm121, 0.5.4 to 0.5.15: 3 releases read")
    assert "without a" in text
    assert "with b, c" in text
    # Families that change alike share a line, and what was not read makes a release inexact.
    assert text.count("becomes NVFP4 MoE, FP8 MoE on sm120") == 1
    assert "0.5.15 (or after 0.5.9)" in text
    assert "both neighbours are equal: 0.5.5 (--every)" in text
    assert "not read: 0.5.10: damaged" in text
    assert "\x1b" not in text
    events = json.loads(history_to_json(sample_review.history()))["events"]
    assert [event["exact"] for event in events] == [True, False, False, False]
