"""Faults people met in the field: each place is found, with the capabilities it concerns.

Each row names the entry of the evidence log. `where` are the capabilities on which the guard may
hold; everything else in the guard depends on more than the machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from sgl_audit.extract import Extraction
from sgl_audit.model.capability import CAPABILITIES, NVIDIA_NAMES
from sgl_audit.model.guard import Guard, holds_on, text_of

pytestmark = pytest.mark.real

NVIDIA = frozenset(NVIDIA_NAMES)
EVERYWHERE = frozenset(capability.name for capability in CAPABILITIES)
SM100 = frozenset({"sm100", "sm103"})
SM120 = frozenset({"sm120", "sm121"})
BLACKWELL = SM100 | SM120 | {"sm110"}
SINCE_HOPPER = BLACKWELL | {"sm90"}


@dataclass(frozen=True)
class Row:
    """One place of one entry."""

    entry: str
    version: str
    file: str
    line: int
    name: str
    where: frozenset[str] = EVERYWHERE
    literal: str | bool | None = None
    says: str = ""

    def __str__(self) -> str:
        return f"{self.entry}-{self.version}-{self.file.rpartition('/')[2]}-{self.line}"


SERVER = "srt/server_args.py"
DECISIONS = [
    Row("E03", "0.5.5", SERVER, 983, "moe_runner_backend", SM100 | SM120, "flashinfer_mxfp4"),
    Row("E03", "0.5.9", SERVER, 1372, "moe_runner_backend", BLACKWELL, "flashinfer_mxfp4"),
    Row("E03", "0.5.9", "srt/layers/quantization/mxfp4.py", 327, "create_weights", SM100),
    Row("E03", "0.5.10", SERVER, 1750, "moe_runner_backend", SM120, "triton_kernel"),
    Row("E05", "0.5.1", SERVER, 2234, "attention_backend", EVERYWHERE - SM100 - {"sm90"}, "triton"),
    Row("E07", "0.5.10", "srt/layers/quantization/fp4_utils.py", 70, "backend", SM120),
    Row(
        "E12",
        "0.5.20",
        "srt/arg_groups/model_hook.py",
        384,
        "handle_model_specific_adjustments",
        SM120,
    ),
    Row(
        "E20",
        "0.5.20",
        "srt/layers/attention/qwen_sparse_attn_backend.py",
        56,
        "_resolve_trtllm_sparse_decode",
        EVERYWHERE - SM100 - {"sm120"},
    ),
    Row(
        "E49",
        "0.5.15",
        "srt/layers/quantization/fp8_utils.py",
        452,
        "fp8_gemm_runner_backend",
        EVERYWHERE,
        "flashinfer_cutlass",
        "backend.is_flashinfer_cutlass() or backend.is_flashinfer_trtllm()",
    ),
    Row(
        "E49",
        "0.5.15",
        "srt/layers/quantization/fp8_utils.py",
        454,
        "fp8_gemm_runner_backend",
        EVERYWHERE,
        "triton_mxfp8_blockscaled_linear",
        "not backend.is_flashinfer_cutlass() and not backend.is_flashinfer_trtllm()",
    ),
    Row("E49", "0.5.15", "srt/layers/quantization/fp8_utils.py", 548, "backend", SM120, "triton"),
    Row(
        "E53",
        "0.5.4",
        "srt/model_executor/model_runner.py",
        572,
        "attention_backend",
        NVIDIA,
        "flashinfer",
    ),
    Row(
        "E60",
        "0.5.20",
        "srt/arg_groups/model_hook.py",
        387,
        "SGLANG_OPT_FP8_WO_A_GEMM",
        SM120,
        False,
    ),
    Row("E18", "0.5.23", "srt/arg_groups/overrides.py", 716, "default", BLACKWELL, "trtllm"),
    Row("E26", "0.5.15", "multimodal_gen/runtime/platforms/cuda.py", 343, "default_backend"),
    Row(
        "E46",
        "0.5.23",
        "srt/arg_groups/model_override_base.py",
        327,
        "attention_backend",
        EVERYWHERE - NVIDIA,
        "aiter",
    ),
]
REJECTIONS = [
    Row("E05", "0.5.1", SERVER, 501, "attention_backend", EVERYWHERE - SM100, None, '"trtllm_mha"'),
    Row("E05", "0.5.1", SERVER, 2239, "attention_backend", EVERYWHERE, None, "supported_backends"),
    Row(
        "E10",
        "0.5.9",
        "srt/layers/quantization/fp8_utils.py",
        204,
        "fp8_gemm_runner_backend",
        EVERYWHERE - BLACKWELL,
    ),
    Row(
        "E14", "0.5.4", SERVER, 1099, "attention_backend", EVERYWHERE - SM100, None, '"trtllm_mla"'
    ),
    Row(
        "E14",
        "0.5.23",
        "srt/arg_groups/overrides.py",
        1211,
        "attention_backend",
        EVERYWHERE - BLACKWELL,
        None,
        '"trtllm_mla"',
    ),
    Row(
        "E32",
        "0.5.8.post1",
        "srt/layers/quantization/modelopt_quant.py",
        1250,
        "quantization",
        EVERYWHERE - SM100 - SM120,
    ),
    Row(
        "E53",
        "0.5.4",
        "srt/layers/attention/attention_registry.py",
        199,
        "attention_backend",
        SM100,
        None,
        'not (runner.server_args.attention_backend == "triton")',
    ),
    Row(
        "E54",
        "0.5.4",
        "srt/layers/quantization/compressed_tensors/compressed_tensors_moe.py",
        140,
        "",
        EVERYWHERE,
        None,
        "_is_wNa16_group_channel",
    ),
]
GATES = [
    Row("E32", "0.5.8.post1", "srt/utils/common.py", 235, "is_blackwell_supported", SM100 | SM120),
    Row("E32", "0.5.9", "srt/utils/common.py", 246, "is_blackwell_supported", BLACKWELL),
    Row("E53", "0.5.4", "srt/utils/common.py", 191, "is_blackwell", SM100),
    Row(
        "E60",
        "0.5.20",
        "srt/layers/deep_gemm_wrapper/configurer.py",
        23,
        "sm_version == 120",
        frozenset({"sm120", "gfx1201"}),
    ),
    Row(
        "E09",
        "0.5.9",
        "srt/layers/deep_gemm_wrapper/configurer.py",
        11,
        "sm_version < 90",
        NVIDIA - SINCE_HOPPER,
    ),
    Row(
        "E37",
        "0.5.9",
        "srt/layers/quantization/fp8_utils.py",
        1260,
        "80 <= sm < 89",
        frozenset({"sm80", "sm86", "sm87"}),
    ),
]
# Names bound under a gate, with one read: its line and whether the gate guards it too.
NAMES = [
    (
        Row("E11", "0.5.9", "srt/layers/deep_gemm_wrapper/entrypoint.py", 19, "deep_gemm"),
        114,
        False,
    ),
    (Row("E11", "0.5.10", "srt/layers/deep_gemm_wrapper/entrypoint.py", 0, "deep_gemm"), 128, True),
    (
        Row("E12", "0.5.15", "srt/layers/deep_gemm_wrapper/entrypoint.py", 20, "deep_gemm"),
        197,
        False,
    ),
]


def possible(guard: Guard) -> frozenset[str]:
    """Capabilities on which a guard may hold."""
    return frozenset(name for name in EVERYWHERE if holds_on(guard, name) is not False)


def at(extraction_items, row: Row):
    """The facts of one place."""
    place = (f"sglang/{row.file}", row.line)
    return [item for item in extraction_items if (item.place.file, item.place.line) == place]


@pytest.mark.parametrize("row", DECISIONS, ids=str)
def test_decisions(real, row):
    found = [item for item in at(real(row.version).facts.decisions, row) if item.option == row.name]
    if row.literal is not None:
        found = [item for item in found if item.literal == row.literal]
    assert found
    assert possible(found[0].guard) == row.where
    assert row.says in text_of(found[0].guard)


@pytest.mark.parametrize("row", REJECTIONS, ids=str)
def test_rejections(real, row):
    (found,) = at(real(row.version).facts.rejections, row)
    assert not row.name or row.name in found.options
    assert possible(found.guard) == row.where
    assert row.says in text_of(found.guard)


@pytest.mark.parametrize("row", GATES, ids=str)
def test_gates(real, row):
    found = [gate for gate in at(real(row.version).facts.gates, row) if gate.name == row.name]
    assert [gate.capabilities for gate in found] == [row.where]


@pytest.mark.parametrize(("row", "line", "guarded"), NAMES, ids=str)
def test_names_bound_under_a_gate(real, row, line, guarded):
    names = [
        item
        for item in real(row.version).names
        if item.place.file == f"sglang/{row.file}" and item.name == row.name
    ]
    assert [text_of(item.guard) for item in names] == ["ENABLE_JIT_DEEPGEMM"]
    assert possible(names[0].guard) & NVIDIA <= SINCE_HOPPER
    (guard,) = {guard for place, _, guard in names[0].reads if place.line == line}
    assert ("ENABLE_JIT_DEEPGEMM" in text_of(guard)) is guarded


@pytest.mark.parametrize("version", ["0.4.10", "0.5.4", "0.5.9", "0.5.10", "0.5.15", "0.5.23"])
def test_most_gates_are_understood(real, version):
    extraction: Extraction = real(version)
    coverage = extraction.coverage
    assert extraction.facts.diagnostics == ()
    assert coverage.gates_understood >= 0.95 * coverage.gates_total > 100
    assert coverage.decisions_understood >= 0.95 * coverage.decisions_total > 100
