"""What options become with nothing set."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.audit.conftest import ALL, FIXTURES, Read
from tests.audit.trees import ARGS, LAYERS, server

from sgl_audit.audit.behaviours import OTHERWISE, option_behaviours
from sgl_audit.model.report import FamilyRow, OptionBehaviour

Texts = Callable[[Mapping[str, str]], Read]
EXPECTED = json.loads((FIXTURES / "expected.json").read_text(encoding="utf-8"))["trees"]
TREES = ("flat_2025", "dataclass_2026", "arg_groups_2026")


def of(read: Read, option: str, capability: str, **more: object) -> OptionBehaviour:
    found = option_behaviours(read.facts, (capability,), base=read.ground(), **more)  # type: ignore[arg-type]
    return next(item for item in found if item.option == option)


def cases(behaviour: OptionBehaviour) -> list[tuple[str, object]]:
    return [(case.guard, case.value) for case in behaviour.becomes]


def test_a_decision_that_always_applies_is_the_only_case(read_texts: Texts) -> None:
    read = read_texts(server())
    assert cases(of(read, "attention_backend", "sm100")) == [("always", "trtllm_mha")]
    assert cases(of(read, "attention_backend", "sm120")) == [("always", "triton")]
    assert of(read, "attention_backend", "sm120").default == "unset"


def test_a_decision_under_a_condition_leaves_the_default_otherwise(read_texts: Texts) -> None:
    found = of(read_texts(server()), "moe_runner_backend", "sm100")
    assert ('quantization == "modelopt_fp4"', "flashinfer_trtllm") in cases(found)
    assert cases(found)[-1] == (OTHERWISE, "auto")


def test_the_condition_of_the_caller_counts(read_texts: Texts) -> None:
    # `_npu_defaults` sets `ascend` always, but is only called where the device is an NPU.
    found = of(read_texts(server()), "attention_backend", "sm120")
    assert "ascend" not in [case.value for case in found.becomes]
    unconditional = ARGS.replace('        if self.device == "npu":\n    ', "")
    found = of(read_texts(server(args=unconditional)), "attention_backend", "sm120")
    assert ("always", "ascend") in cases(found)


def test_auto_that_a_layer_has_no_branch_for_is_undecided(read_texts: Texts) -> None:
    found = of(read_texts(server()), "moe_runner_backend", "sm120")
    assert found.undecided
    assert "nobody decides for NVFP4 MoE on sm120" in found.why
    assert "NvFp4MoEMethod.create_moe_runner asks only for flashinfer_trtllm" in found.why
    # A chain with an `else` has a branch for it.
    assert "MXFP4" not in found.why


def test_auto_is_decided_where_every_layer_has_a_branch(read_texts: Texts) -> None:
    branch = LAYERS.replace(
        'is_flashinfer_trtllm():\n            self.runner = make("trtllm")\n\n',
        'is_flashinfer_trtllm():\n            self.runner = make("trtllm")\n'
        '        else:\n            self.runner = make("triton")\n\n',
    )
    assert branch != LAYERS
    found = of(read_texts(server(layers=branch)), "moe_runner_backend", "sm120")
    assert not found.undecided


def test_without_the_source_nobody_is_called_silent(read_texts: Texts) -> None:
    read = read_texts(server())
    found = option_behaviours(read.facts, ("sm120",))
    assert not any(item.undecided for item in found)


def test_families_come_first_and_name_who_is_left_with_auto(read_texts: Texts) -> None:
    row = FamilyRow(
        "Qwen3MoeForCausalLM NVFP4",
        "Qwen3MoeForCausalLM",
        "NVFP4",
        "sm120",
        "ok",
        (("moe_runner_backend", "auto"),),
    )
    found = of(read_texts(server()), "moe_runner_backend", "sm120", families=(row,))
    assert cases(found)[0] == ("Qwen3MoeForCausalLM NVFP4", "auto")
    assert found.why.endswith("left so for Qwen3MoeForCausalLM NVFP4")


def test_a_gate_nobody_understood_is_said_to_be_unknown(read_texts: Texts) -> None:
    strange = ARGS.replace(
        'if self.quantization == "modelopt_fp4" and is_sm100_supported():',
        "if torch.cuda.get_device_properties(0).multi_processor_count > 100:",
    ).replace("import argparse", "import argparse\nimport torch")
    found = of(read_texts(server(args=strange)), "moe_runner_backend", "sm120")
    assert "flashinfer_trtllm" in [case.value for case in found.becomes]
    assert ("always", "flashinfer_trtllm") not in cases(found)


def test_the_default_literal_is_kept_where_nothing_decides(read_texts: Texts) -> None:
    found = of(read_texts(server()), "kv_cache_dtype", "sm120")
    assert cases(found) == [("always", "auto")]
    assert "what uses it was not read" in found.why


@pytest.mark.parametrize("tree", TREES)
def test_every_recorded_launch_ended_in_one_of_the_cases(
    tree: str, read_fixture: Callable[[str], Read]
) -> None:
    read = read_fixture(tree)
    found = {
        (item.option, item.capability): item
        for item in option_behaviours(read.facts, ALL, base=read.ground())
    }
    checked = 0
    for launch in EXPECTED[tree]["launches"]:
        if launch["flags"] or launch.get("env") or launch["outcome"] != "ok":
            continue
        values = {**launch["options"], **launch.get("options_after_loading", {})}
        values.update(launch.get("runtime", {}))
        for name, value in values.items():
            behaviour = found.get((name, launch["arch"]))
            if behaviour is not None:
                checked += 1
                known = [case.value for case in behaviour.becomes]
                computed = any(str(item).startswith("(c") for item in known)
                assert value in known or computed, (launch["id"], name, value, known)
    assert checked > 50


@pytest.mark.parametrize("tree", TREES)
def test_the_story_of_nvfp4_on_sm120(tree: str, read_fixture: Callable[[str], Read]) -> None:
    read = read_fixture(tree)
    moe = of(read, "moe_runner_backend", "sm120")
    assert cases(moe)[-1] == (OTHERWISE, "auto")
    if tree != "flat_2025":  # Whose method has an `apply` for everything.
        assert moe.undecided
        assert "nobody decides for NVFP4 MoE on sm120" in moe.why
    gemm = of(read, "fp4_gemm_runner_backend", "sm120")
    assert gemm.default == ("auto" if tree == "arg_groups_2026" else "flashinfer_cutlass")


@pytest.mark.real
@pytest.mark.parametrize("capability", ["sm120"])
def test_statements_on_0_5_9(capability: str, real_cache: Path) -> None:
    from tests.audit.conftest import read_source

    read = read_source("sglang==0.5.9", ("sm90", "sm100", capability), str(real_cache))
    gemm = of(read, "fp4_gemm_runner_backend", capability)
    assert cases(gemm) == [("always", "flashinfer_cutlass")]
    moe = of(read, "moe_runner_backend", capability)
    assert moe.undecided
    assert "nobody decides for NVFP4 MoE on sm120" in moe.why
    assert any(place.file.endswith("modelopt_quant.py") for place in moe.places)
    attention = of(read, "attention_backend", capability)
    assert [(case.guard, case.value) for case in attention.becomes[:2]] == [
        ("not use_mla_backend", "flashinfer"),
        ("use_mla_backend", "triton"),
    ]


OTHER_DEVICE = """

class OfflineMoEMethod:
    def create_moe_runner(self, layer):
        moe_runner_backend = get_moe_runner_backend()
        if moe_runner_backend.is_auto():
            moe_runner_backend = MoeRunnerBackend.MARLIN
        self.runner = moe_runner_backend


class {prefix}RunnerCore:
    runner_backend = MoeRunnerBackend.MARLIN


class {prefix}RunnerInput:
    @property
    def runner_backend(self):
        return MoeRunnerBackend.MARLIN
"""


def test_a_value_that_only_classes_of_another_device_run_is_none_of_a_gpu(
    read_texts: Texts,
) -> None:
    foreign = read_texts(server(layers=LAYERS + OTHER_DEVICE.format(prefix="Ascend")))
    found = of(foreign, "moe_runner_backend", "sm120")
    assert "marlin" not in [case.value for case in found.becomes]
    own = read_texts(server(layers=LAYERS + OTHER_DEVICE.format(prefix="Marlin")))
    found = of(own, "moe_runner_backend", "sm120")
    assert ("in OfflineMoEMethod.create_moe_runner", "marlin") in cases(found)
