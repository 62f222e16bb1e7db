"""Packaged advisories, the loader's sentences, and the table of matching."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from sgl_audit.errors import UsageError
from sgl_audit.kernels.advisories import load_advisories, matching
from sgl_audit.model.capability import BY_NAME
from sgl_audit.model.kernels import Advisory, HitState, Outcome

GOOD = """
id = "x"
title = "A kernel"
library = "Some_Library"
effect = "It stops."
certainty = "low"
date = 2026-01-02
sources = ["example/repo#1"]
[capabilities]
fails = ["sm120"]
[[values]]
option = "moe_runner_backend"
value = ["a", "b"]
[[values]]
option = "enable_it"
value = true
"""
PACKAGED, PROBLEMS = load_advisories(None)


def load(folder: Path, **texts: str) -> tuple[dict[str, Advisory], list[str]]:
    for name, text in texts.items():
        (folder / f"{name}.toml").write_text(text)
    advisories, diagnostics = load_advisories(folder)
    packaged = {advisory.id for advisory in PACKAGED}
    return (
        {item.id: item for item in advisories if item.id not in packaged},
        [item.message for item in diagnostics],
    )


def test_every_packaged_file_is_sound() -> None:
    assert PROBLEMS == ()
    assert len(PACKAGED) >= 70


@pytest.mark.parametrize("advisory", PACKAGED, ids=lambda advisory: advisory.id)
def test_packaged(advisory: Advisory) -> None:
    assert advisory.origin == f"{advisory.id}.toml"
    assert advisory.sources and all(source.strip() for source in advisory.sources)
    assert date.fromisoformat(advisory.date)
    SpecifierSet(advisory.versions), SpecifierSet(advisory.sglang)
    named = {*advisory.works, *advisory.fails, *advisory.wrong, *advisory.slow}
    assert named and named <= set(BY_NAME)
    assert advisory.values or "No SGLang setting" in advisory.note
    assert advisory.effect.endswith(".") and "\n" not in advisory.effect


def test_user_files_are_added_and_lists_expand(tmp_path: Path) -> None:
    found, problems = load(tmp_path, x=GOOD)
    assert problems == []
    assert found["x"].library == "some-library"
    assert [(v.option, v.value) for v in found["x"].values] == [
        ("moe_runner_backend", "a"),
        ("moe_runner_backend", "b"),
        ("enable_it", "true"),
    ]


def test_user_file_replaces_a_packaged_one(tmp_path: Path) -> None:
    name = PACKAGED[0].id
    (tmp_path / f"{name}.toml").write_text(GOOD.replace('"x"', f'"{name}"'))
    advisories, problems = load_advisories(tmp_path)
    assert problems == () and len(advisories) == len(PACKAGED)
    assert next(item for item in advisories if item.id == name).title == "A kernel"


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('title = "A kernel"', 'titel = "A kernel"', "unknown key 'titel'; did you mean 'title'?"),
        ('title = "A kernel"', "", "'title' is missing"),
        ('title = "A kernel"', "title = 3", "'title' must be a text"),
        ('id = "x"', 'id = "y"', "make them equal"),
        ('id = "x"', 'id = "X y"', "lower-case words"),
        ('"low"', '"lov"', "did you mean 'low'?"),
        ("2026-01-02", '"2.1.2026"', "'date' must be a day"),
        ('["example/repo#1"]', "[]", "at least one text"),
        ('["example/repo#1"]', "[1]", "must hold texts only"),
        ('fails = ["sm120"]', 'fails = ["sm12"]', "names 'sm12', no capability; did you mean"),
        ('fails = ["sm120"]', 'fail = ["sm120"]', "[capabilities] has the unknown key 'fail'"),
        ('fails = ["sm120"]', 'fails = ["sm120"]\nworks = ["sm120"]', "under both 'works'"),
        ('[capabilities]\nfails = ["sm120"]', "", "[capabilities] with works"),
        ("[capabilities]", 'versions = "0.6 or so"\n[capabilities]', "is no version range"),
        ("[capabilities]", 'sglang = ">>1"\n[capabilities]', "'sglang' '>>1' is no version range"),
        ("value = true", "value = 3", "'enable_it' needs a 'value'"),
        ("value = true", 'value = true\nstage = "prefil"', "did you mean 'prefill'?"),
        ("value = true", "value = true\nwhen = 3", "'when' must be a table"),
        ("value = true", "value = true\nwhen = { a = [] }", "'when.a' must be a list"),
        ("value = true", 'value = true\nwhen = { a = [">=x"] }', "'when.a' '>=x' is no version"),
        ('effect = "It stops."', 'effect = "It', "no readable TOML"),
    ],
)
def test_wrong_file_is_one_sentence(tmp_path: Path, before: str, after: str, words: str) -> None:
    assert before in GOOD
    found, problems = load(
        tmp_path, x=GOOD.replace(before, after), good=GOOD.replace('"x"', '"good"')
    )
    assert list(found) == ["good"]
    assert len(problems) == 1 and words in problems[0]
    assert "x.toml is not used" in problems[0]


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"#" * 70000, b"a = " + b"[" * 5000])
def test_hostile_content_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.toml").write_bytes(content)
    advisories, problems = load_advisories(tmp_path)
    assert advisories == PACKAGED and len(problems) == 1


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        load_advisories(tmp_path / "none")


PINS: dict[str, str | None] = {
    "flashinfer_python": "0.6.3",
    "sglang-kernel": "0.4.5",
    "sgl-deep-gemm": None,
}
STATE, OUTCOME = HitState, Outcome
PREFILL, DECODE = "trtllm-gen-mha-prefill-needs-sm10x", "xqa-decode-hopper-and-sm12x"


@pytest.mark.parametrize(
    ("option", "value", "capability", "facts", "expected"),
    [
        (
            *("fp4_gemm_runner_backend", "flashinfer_cutlass", "sm120", {}),
            ("mm-fp4-cutlass-nan-rows-0.6.3", STATE.APPLIES, OUTCOME.WRONG),
        ),
        (
            *("fp4_gemm_runner_backend", "flashinfer_cutlass", "sm120", {}),
            ("mm-fp4-cutlass-zeros-0.6.12", STATE.OUTSIDE, OUTCOME.WRONG),
        ),
        ("fp4_gemm_runner_backend", "flashinfer_cutlass", "sm90", {}, None),
        (
            *("moe_runner_backend", "flashinfer_trtllm", "sm120", {}),
            ("trtllm-gen-fused-moe-needs-sm10x", STATE.APPLIES, OUTCOME.FAILS),
        ),
        (
            *("moe_runner_backend", "flashinfer_trtllm", "sm100", {}),
            ("trtllm-gen-fused-moe-needs-sm10x", STATE.APPLIES, OUTCOME.WORKS),
        ),
        (
            *("moe_runner_backend", "deep_gemm", "sm120", {}),
            ("deep-gemm-needs-sm90-or-sm10x", STATE.MAY_APPLY, OUTCOME.FAILS),
        ),
        (
            *("attention_backend", "fa3", "sm89", {}),
            ("fa3-no-sm89-image", STATE.APPLIES, OUTCOME.FAILS),
        ),
        (
            *("moe_runner_backend", "triton", "sm80", {"quantization": "fp8"}),
            ("triton-e4m3-needs-sm89", STATE.APPLIES, OUTCOME.FAILS),
        ),
        (
            *("moe_runner_backend", "triton", "sm80", {}),
            ("triton-e4m3-needs-sm89", STATE.MAY_APPLY, OUTCOME.FAILS),
        ),
        ("moe_runner_backend", "triton", "sm80", {"quantization": "BF16"}, None),
        (
            *("moe_runner_backend", "triton_kernel", "sm100", {"driver": "595.10"}),
            ("triton-kernels-b200-driver-595", STATE.MAY_APPLY, OUTCOME.FAILS),
        ),
        (
            *("enable_flashinfer_allreduce_fusion", True, "sm120", {}),
            ("allreduce-fusion-needs-sm90-or-sm10x", STATE.APPLIES, OUTCOME.FAILS),
        ),
        ("enable_flashinfer_allreduce_fusion", False, "sm120", {}, None),
    ],
)
def test_matching(
    option: str,
    value: object,
    capability: str,
    facts: dict[str, str | None],
    expected: tuple[str, HitState, Outcome] | None,
) -> None:
    hits = matching(
        PACKAGED,
        option=option,
        value=value,
        capability=capability,
        pins=PINS,
        sglang_version="0.5.9",
        facts=facts,
    )
    found = [(hit.advisory.id, hit.state, hit.outcome) for hit in hits]
    if expected is None:
        assert found == []
    else:
        assert expected in found


@pytest.mark.parametrize(
    ("option", "ids"),
    [
        (
            "attention_backend",
            {"trtllm-gen-mha-prefill-needs-sm10x", "xqa-decode-hopper-and-sm12x"},
        ),
        ("prefill_attention_backend", {"trtllm-gen-mha-prefill-needs-sm10x"}),
        ("decode_attention_backend", {"xqa-decode-hopper-and-sm12x"}),
        ("draft_attention_backend", set()),
    ],
)
def test_stages(option: str, ids: set[str]) -> None:
    hits = matching(
        PACKAGED,
        option=option,
        value="trtllm_mha",
        capability="sm120",
        pins={"flashinfer-python": "0.6.12"},
        sglang_version="0.5.15",
        facts={"kv_cache_dtype": "auto", "attention_sinks": "false"},
    )
    assert {hit.advisory.id for hit in hits if hit.state is HitState.APPLIES} == ids


@pytest.mark.parametrize("option", ["nsa_prefill_backend", "dsa_prefill_backend"])
def test_old_and_new_name_of_sparse_attention(option: str) -> None:
    hits = matching(
        PACKAGED,
        option=option,
        value="trtllm",
        capability="sm121",
        pins={},
        sglang_version=None,
        facts={},
    )
    assert [hit.advisory.id for hit in hits] == ["trtllm-sparse-mla-needs-sm10x"]
    assert hits[0].state is HitState.MAY_APPLY
    assert hits[0].reason.startswith("library version unknown: flashinfer-python")


@pytest.mark.parametrize(
    ("release", "state"), [("0.5.17", STATE.OUTSIDE), ("0.5.20", STATE.APPLIES)]
)
def test_grouped_deep_gemm_counts_where_sglang_lets_it_run(release: str, state: HitState) -> None:
    # 0.5.15 and 0.5.17 switch DeepGEMM off on SM120, whatever the library can do.
    hits = matching(
        PACKAGED,
        option="moe_runner_backend",
        value="deep_gemm",
        capability="sm120",
        pins={"sgl-deep-gemm": "0.1.5.post1"},
        sglang_version=release,
        facts={},
    )
    found = {hit.advisory.id: hit.state for hit in hits}
    assert found["deep-gemm-grouped-on-sm12x"] is state


def test_applying_and_worst_come_first() -> None:
    hits = matching(
        PACKAGED,
        option="fp4_gemm_runner_backend",
        value="flashinfer_cutlass",
        capability="sm120",
        pins={"flashinfer-python": "0.6.12.post1"},
        sglang_version="0.5.15",
        facts={},
    )
    assert [(hit.outcome, hit.state) for hit in hits] == [
        (Outcome.WRONG, HitState.APPLIES),
        (Outcome.WORKS, HitState.APPLIES),
        (Outcome.WRONG, HitState.OUTSIDE),
    ]
