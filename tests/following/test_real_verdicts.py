"""Verdicts and recommendations on real releases, looked up by hand in their sources."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from sgl_audit import api
from sgl_audit.audit.verdicts.knowledge import Knowledge
from sgl_audit.evaluate.entry import Follow
from sgl_audit.evaluate.resolver import Resolver
from sgl_audit.launch import synthetic_config
from sgl_audit.model.paths import KernelCall, LayerPath, Site
from sgl_audit.model.resolution import Launch
from sgl_audit.model.source import SourceTree
from sgl_audit.model.verdict import Recommendation, Verdict

pytestmark = pytest.mark.real

HYBRID = ("Qwen3_5MoeForConditionalGeneration", "NVFP4")


@cache
def opened(cache_dir: Path, version: str) -> tuple[SourceTree, tuple[SourceTree, ...], Knowledge]:
    tree = api.open_source(f"sglang=={version}", cache_dir=cache_dir, notify=lambda text: None)
    libraries, _ = api.open_libraries(tree, cache_dir=cache_dir, notify=lambda text: None)
    known = api.open_knowledge(tree, cache_dir=cache_dir, notify=lambda text: None)
    return tree, libraries, known


def launch(folder: Path, model: tuple[str, str | None], capability: str, *flags: str) -> Launch:
    config = synthetic_config(*model)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return Launch("x", capability, ("--model-path", str(folder), *flags))


def recommended(
    cache_dir: Path, folder: Path, version: str, model: tuple[str, str | None], capability: str
) -> Recommendation:
    tree, libraries, known = opened(cache_dir, version)
    asked = launch(folder, model, capability)
    return api.recommend(tree, [asked], known, libraries=libraries)[0]


def followed(cache_dir: Path, asked: Launch, version: str) -> dict[tuple[Site, str], LayerPath]:
    tree, libraries, _ = opened(cache_dir, version)
    answer = Resolver(tree, libraries).resolve(asked, follow=Follow.ATTENTION)
    return {(path.site, path.method): path for path in answer.paths}


def called(path: LayerPath) -> dict[str, KernelCall]:
    return {call.function: call for call in path.calls}


def test_where_the_story_began(real_cache: Path, tmp_path: Path) -> None:
    found = recommended(real_cache, tmp_path, "0.5.9", HYBRID, "sm120")
    assert found.line == (
        "--quantization modelopt_fp4 --attention-backend triton "
        "--moe-runner-backend flashinfer_cutlass --fp4-gemm-backend flashinfer_cudnn"
    )
    assert found.complete
    flags = {item.option: item for item in found.flags}
    quantization, experts = flags["quantization"], flags["moe_runner_backend"]
    dense = flags["fp4_gemm_runner_backend"]
    assert str(quantization.place).endswith("quantization/modelopt_quant.py:461")
    assert str(flags["attention_backend"].place).endswith("attention_registry.py:205")
    assert "stays auto" in experts.reason and "cutlass_fp4_group_mm" in experts.reason
    assert str(experts.place).endswith("moe/cutlass_moe.py:456")
    others = {row.value: row for row in experts.others}
    assert others["flashinfer_trtllm"].verdict is Verdict.NO_KERNEL
    second = {row.value: row for row in dense.others}
    assert next(iter(second)) == "flashinfer_cutlass"
    assert second["flashinfer_cutlass"].verdict is Verdict.WRONG
    assert "NaN" in second["flashinfer_cutlass"].reason
    assert second["flashinfer_trtllm"].verdict is Verdict.NO_KERNEL
    library = [g.text for g in second["flashinfer_trtllm"].grounds if g.source.startswith("flash")]
    assert any("SM100, SM103 only" in text for text in library)


def test_the_same_launch_needs_no_other_runner_on_sm100(real_cache: Path, tmp_path: Path) -> None:
    tree, libraries, known = opened(real_cache, "0.5.9")
    plain = launch(tmp_path, HYBRID, "sm100")
    told = launch(tmp_path, HYBRID, "sm100", "--quantization", "modelopt_fp4")
    as_given, found = api.recommend(tree, [plain, told], known, libraries=libraries)
    bad = (Verdict.NO_KERNEL, Verdict.WRONG, Verdict.REFUSED)
    assert not [row for row in as_given.before if row.verdict in bad]
    assert found.complete and not found.flags
    rows = {row.option: row for row in found.after}
    assert rows["moe_runner_backend"].value == "flashinfer_trtllm"
    assert rows["moe_runner_backend"].verdict is Verdict.WORKS
    assert rows["fp4_gemm_runner_backend"].verdict is Verdict.WORKS


def test_a_layer_that_settles_what_nobody_decides(real_cache: Path, tmp_path: Path) -> None:
    asked = launch(tmp_path, ("Qwen3MoeForCausalLM", "NVFP4"), "sm120")
    paths = followed(real_cache, asked, "0.5.23")
    experts = paths[Site.EXPERTS, "ModelOptNvFp4FusedMoEMethod"]
    assert experts.runner == "flashinfer_trtllm"
    assert "flashinfer.fused_moe.trtllm_fp4_block_scale_moe" in called(experts)
    dense = paths[Site.LINEAR, "ModelOptFp4LinearMethod"]
    assert called(dense)["flashinfer.mm_fp4"].argument("backend") == "cutlass"


def test_mxfp4_experts_run_what_is_not_built_for_sm120(real_cache: Path, tmp_path: Path) -> None:
    asked = launch(tmp_path, ("GptOssForCausalLM", "MXFP4"), "sm120")
    experts = followed(real_cache, asked, "0.5.9")[Site.EXPERTS, "Mxfp4MoEMethod"]
    call = called(experts)["flashinfer.trtllm_fp4_block_scale_moe"]
    assert str(call.place).endswith("quantization/mxfp4.py:792")


def test_block_fp8_reaches_deep_gemm_where_it_has_no_code(real_cache: Path, tmp_path: Path) -> None:
    asked = launch(tmp_path, ("Qwen3MoeForCausalLM", "FP8"), "sm120")
    dense = followed(real_cache, asked, "0.5.9")[Site.LINEAR, "Fp8LinearMethod"]
    gemms = [call for call in dense.calls if call.function == "deep_gemm.fp8_gemm_nt"]
    assert gemms and all("% 64" in " ".join(c.when) or "Mod 64" in " ".join(c.when) for c in gemms)
    found = recommended(real_cache, tmp_path, "0.5.9", ("Qwen3MoeForCausalLM", "FP8"), "sm120")
    assert found.line == "--fp8-gemm-backend cutlass"
    assert "DeepGEMM" in found.flags[0].reason


def test_a_plain_model_needs_nothing(real_cache: Path, tmp_path: Path) -> None:
    found = recommended(real_cache, tmp_path, "0.5.9", ("LlamaForCausalLM", None), "sm90")
    assert found.complete and not found.flags
    assert {row.value for row in found.after} >= {"fa3"}
