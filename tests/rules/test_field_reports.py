"""Findings on real releases: entries of the field reports, by rule, place and capability."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from sgl_audit.extract.tree import extract
from sgl_audit.kernels.flashinfer import Reader
from sgl_audit.model.capability import ALL_CAPABILITIES as ALL
from sgl_audit.model.report import Finding, Severity
from sgl_audit.model.requirements import KernelRequirements
from sgl_audit.rules import RuleContext, check_rules
from sgl_audit.rules.layers import unusable
from sgl_audit.source import open_source

pytestmark = pytest.mark.real

FindReal = Callable[[str], tuple[Finding, ...]]


@dataclass(frozen=True)
class Entry:
    """One entry of the field reports: what must be found, and where it must no longer be."""

    name: str
    version: str
    rule: str
    file: str
    lines: range
    capabilities: str
    fixed: str = ""
    value: str | None = None
    severity: Severity | None = None
    option: str | None = None


def at(line: int) -> range:
    """A line, as a range: a finding stands at the start of a statement of several lines."""
    return range(line, line + 1)


ERROR, WARNING = Severity.ERROR, Severity.WARNING
REGISTRY = "layers/attention/attention_registry.py"
CONFIGURER = "layers/deep_gemm_wrapper/configurer.py"
ENTRYPOINT = "layers/deep_gemm_wrapper/entrypoint.py"
ENTRIES = (
    Entry(
        "E03 preparation narrower than selection",
        "0.5.9", "SGA102", "server_args.py", range(1371, 1373), "sm120 sm121",
        "0.5.10", "flashinfer_mxfp4",
    ),
    Entry(
        "E05 a list of which only one value is left",
        "0.5.1", "SGA108", "server_args.py", range(2235, 2243), "sm120",
        value="triton",
    ),
    Entry(
        "E15 sparse attention defaults from major 10 on",
        "0.5.12", "SGA104", "server_args.py", range(1722, 1725), "sm120 sm121",
        value="trtllm",
    ),
    Entry(
        "E33 least capability only",
        "0.5.7", "SGA104", "layers/quantization/w4afp8.py", at(72), "sm120",
        value="W4AFp8Config.get_min_capability", severity=WARNING,
    ),
    Entry(
        "E09 DeepGEMM from sm90 on",
        "0.5.9", "SGA104", CONFIGURER, at(11), "sm110 sm120 sm121",
    ),
    Entry(
        "E11 deep_gemm read outside of its gate",
        "0.5.9", "SGA111", ENTRYPOINT, at(114), "sm80 sm86 sm89",
        "0.5.10", "deep_gemm",
    ),
    Entry(
        "E12 the same in a second helper",
        "0.5.15", "SGA111", ENTRYPOINT, at(197), "sm89 sm120",
        "0.5.23", "deep_gemm",
    ),
    Entry(
        "E16 sparse attention defaults from major 10 on",
        "0.5.15", "SGA104", "arg_groups/overrides.py", at(1143), "sm120 sm121",
        value="trtllm",
    ),
    Entry(
        "E17 named sparse backend turned into another",
        "0.5.20", "SGA110", "layers/attention/dsa/dsa_backend_kpool.py", range(64, 66),
        "sm120 sm121", value="flashmla_sparse",
    ),
    Entry(
        "E18 sparse attention defaults from major 10 on",
        "0.5.20", "SGA104", "arg_groups/overrides.py", at(773), "sm121", value="trtllm",
    ),
    Entry(
        "E20 exactly (12, 0) beside the family",
        "0.5.20", "SGA106", "layers/attention/qwen_sparse_attn_backend.py", range(48, 57),
        "sm121",
    ),
    Entry(
        "E53 hybrid model on its default attention",
        "0.5.4", "SGA101", REGISTRY, range(198, 201), "sm100", "0.5.10", "flashinfer",
        Severity.ERROR,
    ),
    Entry(
        "hybrid GDN on SM120",
        "0.5.9", "SGA101", REGISTRY, range(203, 207), "sm120 sm121", "0.5.15", "flashinfer",
        Severity.ERROR,
    ),
    Entry(
        "E54 expert schemes of compressed-tensors",
        "0.5.4", "SGA112", "layers/quantization/compressed_tensors/compressed_tensors_moe.py",
        range(137, 142), "sm100", "0.5.9",
    ),
    Entry(
        "E60 switch forced off on SM12x",
        "0.5.20", "SGA110", "arg_groups/model_hook.py", at(387), "sm120 sm121",
        "0.5.23", "SGLANG_OPT_FP8_WO_A_GEMM",
    ),
    Entry(
        "R8 sparse attention choices overwritten with an FP8 cache",
        "0.5.10", "SGA110", "server_args.py", range(1465, 1468), "sm100 sm120", value="trtllm",
    ),
    Entry(
        "NVFP4 experts: nobody decides on SM120",
        "0.5.9", "SGA103", "layers/quantization/modelopt_quant.py", at(1683), "sm120 sm121",
        "0.5.15", "auto",
    ),
    Entry(
        "NVFP4 experts: what is left goes to SM100 kernels",
        "0.5.15", "SGA105", "layers/quantization/modelopt_quant.py", range(2446, 2453), "sm110",
        value="flashinfer_trtllm",
    ),
    Entry(
        "deprecated variable that counts with `auto` only",
        "0.5.9", "SGA109", "layers/quantization/fp4_utils.py", range(61, 64), "sm120",
        value="SGLANG_FLASHINFER_FP4_GEMM_BACKEND",
    ),
    Entry(
        "member without choice",
        "0.5.9", "SGA107", "layers/moe/utils.py", at(68), "sm120", value="marlin",
    ),
    Entry(
        "open range sends Olmo2 to FlashAttention 3",
        "0.5.9", "SGA101", REGISTRY, range(130, 134), "sm120", value="fa3",
        severity=Severity.ERROR,
    ),
    Entry(
        "E04 the only runner left does not assemble",
        "0.5.1", "SGA113", "server_args.py", at(2270), "sm120 sm121",
        "0.5.10", "triton_kernel", WARNING, "moe_runner_backend",
    ),
    Entry(
        "E07 one literal for every card: NaN rows",
        "0.5.9", "SGA113", "server_args.py", at(456), "sm120",
        "0.5.10", "flashinfer_cutlass", ERROR, "fp4_gemm_runner_backend",
    ),
    Entry(
        "E08 back to the backend of E07",
        "0.5.15", "SGA113", "layers/quantization/fp4_utils.py", at(160), "sm120 sm121",
        "0.5.20", "flashinfer_cutlass", Severity.NOTE, "fp4_gemm_runner_backend",
    ),
    Entry(
        "E09 DeepGEMM first where it does not run",
        "0.5.9", "SGA113", "layers/quantization/fp8_utils.py", at(263), "sm120 sm121",
        "0.5.15", "deep_gemm", ERROR, "fp8_gemm_runner_backend",
    ),
    Entry(
        "E10 trtllm GEMM let through on every Blackwell",
        "0.5.9", "SGA114", "layers/quantization/fp8_utils.py", at(203), "sm120 sm121",
        "0.5.10", "flashinfer_trtllm", WARNING, "fp8_gemm_runner_backend",
    ),
    Entry(
        "E14 trtllm_mla let through on SM12x", "0.5.10", "SGA114", "server_args.py", at(2346),
        "sm120 sm121", "0.5.4", "trtllm_mla", WARNING, "attention_backend",
    ),
    Entry(
        "E14 the same later", "0.5.23", "SGA114", "arg_groups/overrides.py", at(1210),
        "sm120 sm121", "", "trtllm_mla", WARNING, "attention_backend",
    ),
    Entry(
        "E15 DeepGEMM called past every choice",
        "0.5.12", "SGA115", "layers/attention/nsa_backend.py", at(664), "sm120 sm121",
        "0.5.17", "deep_gemm",
    ),
    Entry(
        "E15 sparse defaults that do not run",
        "0.5.12", "SGA113", "server_args.py", at(1724), "sm120 sm121",
        value="trtllm", option="nsa_prefill_backend",
    ),
    Entry(
        "E16 sparse defaults that do not run",
        "0.5.15", "SGA113", "arg_groups/overrides.py", at(1143), "sm120 sm121",
        value="trtllm", option="dsa_prefill_backend",
    ),
    Entry(
        "E17 the redirect ends in a kernel that does not run",
        "0.5.20", "SGA113", "layers/attention/dsa/dsa_backend_kpool.py", at(65), "sm120 sm121",
        value="trtllm",
    ),
    Entry(
        "E18 sparse default that does not run",
        "0.5.20", "SGA113", "arg_groups/overrides.py", at(773), "sm120 sm121",
        value="trtllm", option="dsa_prefill_backend",
    ),
    Entry(
        "E19 sparse choices checked, but not for the card",
        "0.5.20", "SGA114", "arg_groups/overrides.py", at(787), "sm120 sm121",
        value="trtllm", option="dsa_decode_backend",
    ),
    Entry(
        "E19 and experts",
        "0.5.20", "SGA114", "arg_groups/fields/exec_.py", at(683), "sm120",
        value="flashinfer_trtllm", option="moe_runner_backend",
    ),
    Entry(
        "E21 DeepGEMM in the metadata of DeepSeek-V4",
        "0.5.12", "SGA115", "layers/attention/dsv4/metadata.py", at(114), "sm120 sm121",
        "0.5.14", "deep_gemm",
    ),
    Entry(
        "E21 DeepGEMM before the norm",
        "0.5.12", "SGA115", "models/deepseek_v4.py", at(729), "sm120 sm121", value="deep_gemm",
    ),
    Entry(
        "E26 one literal in the diffusion runtime",
        "0.5.17", "SGA116", "multimodal_gen/runtime/platforms/cuda.py", at(352), "sm120 sm121",
        "0.5.19", "flashinfer_trtllm", ERROR,
    ),
    Entry(
        "E27 FlashAttention 3 where the gate is for major 10",
        "0.5.6.post2", "SGA116", "multimodal_gen/runtime/platforms/cuda.py", at(233),
        "sm120 sm121", "0.5.9", "fa3", ERROR,
    ),
    Entry(
        "E28 fa4 beside the guarded fa3",
        "0.5.10", "SGA114", "layers/attention/attention_registry.py", at(141), "sm120 sm121",
        value="fa4", option="attention_backend",
    ),
    Entry(
        "E32 SM110 between two generations that pass",
        "0.5.8.post1", "SGA117", "layers/quantization/modelopt_quant.py", at(1249), "sm110",
        "0.5.9", option="quantization",
    ),
    Entry(
        "E34 the way out is a variable",
        "0.5.1", "SGA116", "layers/quantization/fp8_utils.py", at(56), "sm120",
        "0.5.4", "USE_TRITON_W8A8_FP8_KERNEL",
    ),
    Entry(
        "E35 tiles of SM80 on SM86 and SM89",
        "0.4.4.post1", "SGA118", "layers/attention/triton_ops/extend_attention.py", at(343),
        "sm86 sm89", "0.4.10", "128x128",
    ),
    Entry(
        "E37 FP8 experts in Triton below SM89",
        "0.5.9", "SGA113", "layers/quantization/fp8.py", at(1351), "sm80 sm86",
        value="triton", option="moe_runner_backend",
    ),
    Entry(
        "E38 the same later",
        "0.5.20", "SGA113", "layers/quantization/fp8.py", at(2512), "sm80",
        value="triton", option="moe_runner_backend",
    ),
    Entry(
        "E39 fa3 let through on SM89",
        "0.5.20", "SGA114", "layers/attention/attention_registry.py", at(232), "sm89",
        value="fa3", option="attention_backend",
    ),
    Entry(
        "E46 AITER on every ROCm card",
        "0.5.9", "SGA113", "server_args.py", at(1814), "gfx1100 gfx1201",
        value="aiter", severity=ERROR, option="attention_backend",
    ),
    Entry(
        "E46 the same later", "0.5.23", "SGA113", "arg_groups/model_override_base.py", at(327),
        "gfx1100 gfx1201", value="aiter", option="attention_backend",
    ),
    Entry(
        "E48 MXFP8 without the exception of NVFP4",
        "0.5.15", "SGA113", "arg_groups/overrides.py", at(1822), "sm90 sm120",
        value="flashinfer_trtllm", severity=ERROR, option="moe_runner_backend",
    ),
    Entry(
        "E48 the same later",
        "0.5.23", "SGA113", "arg_groups/overrides.py", at(1502), "sm90 sm120",
        value="flashinfer_trtllm", severity=ERROR, option="moe_runner_backend",
    ),
    Entry(
        "E61 a pin in the bad range",
        "0.5.18", "SGA113", "layers/quantization/modelopt_quant.py", at(2720), "sm100 sm103",
        "0.5.19", "flashinfer_trtllm", ERROR, "moe_runner_backend",
    ),
    Entry(
        "E61 and not before",
        "0.5.18", "SGA113", "layers/quantization/modelopt_quant.py", at(2720), "sm100",
        "0.5.17", "flashinfer_trtllm", ERROR, "moe_runner_backend",
    ),
)  # fmt: skip
MANY = 110


def matching(found: tuple[Finding, ...], entry: Entry) -> list[Finding]:
    return [
        item
        for item in found
        if item.rule == entry.rule
        and item.place.file in (f"sglang/srt/{entry.file}", f"sglang/{entry.file}")
        and entry.option in (None, item.option)
        and (entry.value is None or entry.value in (item.value or "").split(", "))
    ]


def as_bad(found: Finding, entry: Entry) -> bool:
    """Whether a finding weighs as much as the entry's: slow may stay where a crash went."""
    order = tuple(Severity)
    return entry.severity is None or order.index(found.severity) <= order.index(entry.severity)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_entry(entry: Entry, find_real: FindReal) -> None:
    found = matching(find_real(entry.version), entry)
    placed = [item for item in found if item.place.line in entry.lines]
    assert placed, [str(item.place) for item in found]
    wanted = set(entry.capabilities.split())
    assert any(
        wanted <= set(item.capabilities) and entry.severity in (None, item.severity)
        for item in placed
    ), placed


@pytest.mark.parametrize(
    "entry", [entry for entry in ENTRIES if entry.fixed], ids=lambda entry: entry.name
)
def test_entry_is_gone_where_it_was_fixed(entry: Entry, find_real: FindReal) -> None:
    wanted = set(entry.capabilities.split())
    still = [item for item in matching(find_real(entry.fixed), entry) if as_bad(item, entry)]
    assert not [item for item in still if wanted & set(item.capabilities)]


@pytest.mark.parametrize("version", ("0.5.4", "0.5.9", "0.5.15", "0.5.23"))
def test_a_person_can_read_all_of_it(version: str, find_real: FindReal) -> None:
    found = find_real(version)
    assert len(found) <= MANY
    assert len({item.fingerprint for item in found}) == len(found)


@pytest.mark.parametrize(("version", "refused"), (("0.5.8.post1", True), ("0.5.9", False)))
def test_e32_sm110_was_missing_from_a_gate(version: str, refused: bool, real_cache: Path) -> None:
    tree = open_source(f"sglang=={version}", cache_dir=real_cache)
    read = extract(tree)
    context = RuleContext(tree, read.facts, read, ALL)
    assert unusable(context, "ModelOptNvFp4FusedMoEMethod", "sm110") is refused
    assert not unusable(context, "ModelOptNvFp4FusedMoEMethod", "sm100")


def test_e10_the_call_names_a_backend_of_sm100(real_cache: Path) -> None:
    name = "flashinfer.gemm.gemm_base.gemm_fp8_nt_groupwise"
    library = open_source(
        "flashinfer-python==0.6.3",
        cache_dir=real_cache,
        package="flashinfer",
        distribution="flashinfer-python",
    )
    reader = Reader(library)
    function = reader.function(name)
    assert function is not None
    kernels = KernelRequirements("0.6.3", (), (function,))
    reader.close()
    tree = open_source("sglang==0.5.9", cache_dir=real_cache)
    read = extract(tree)
    context = RuleContext(tree, read.facts, read, ALL, kernels=kernels)
    found = check_rules(context, select=["SGA127"]).findings
    assert [(item.place.line, item.value) for item in found] == [(344, "trtllm")]
    assert {"sm120", "sm121"} <= set(found[0].capabilities)


def test_nothing_is_an_error_where_the_default_is_known_to_work(find_real: FindReal) -> None:
    # NVFP4 on B200 is what 0.5.9 was made for.
    errors = [item for item in find_real("0.5.9") if item.severity is Severity.ERROR]
    assert not [item for item in errors if "sm100" in item.capabilities]
