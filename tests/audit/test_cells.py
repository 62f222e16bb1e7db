"""What a capability makes of each choice."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.audit.conftest import ALL, FIXTURES, Read
from tests.audit.trees import ARGS, LAYERS, RUNNERS, server

from sgl_audit.audit.cells import choice_cells
from sgl_audit.model.facts import Scalar
from sgl_audit.model.report import ChoiceCell, ChoiceState, FamilyRow

Texts = Callable[[Mapping[str, str]], Read]
EXPECTED = json.loads((FIXTURES / "expected.json").read_text(encoding="utf-8"))["trees"]


def cell(
    read: Read, option: str, choice: Scalar, capability: str = "sm120", **more: object
) -> ChoiceCell:
    found = choice_cells(read.facts, (capability,), base=read.ground(), **more)  # type: ignore[arg-type]
    return next(item for item in found if (item.option, item.choice) == (option, choice))


def test_the_default_and_what_decisions_choose(read_texts: Texts) -> None:
    read = read_texts(server())
    assert cell(read, "moe_runner_backend", "auto").state is ChoiceState.DEFAULT
    automatic = cell(read, "attention_backend", "triton")
    assert automatic.state is ChoiceState.AUTOMATIC
    assert automatic.why == "chosen always"
    assert str(automatic.places[0]) == "sglang/srt/server_args.py:47"
    assert cell(read, "attention_backend", "triton", "sm100").state is ChoiceState.FLAG


def test_a_value_that_the_capability_rules_out_is_refused(read_texts: Texts) -> None:
    read = read_texts(server())
    refused = cell(read, "attention_backend", "trtllm_mha")
    assert refused.state is ChoiceState.REFUSED
    assert "trtllm_mha needs SM100" in refused.why
    assert cell(read, "attention_backend", "trtllm_mha", "sm100").state is ChoiceState.AUTOMATIC


def test_a_refusal_in_a_function_that_need_not_run_is_conditional(read_texts: Texts) -> None:
    guarded = ARGS.replace(
        "        self._handle_attention()\n",
        '        if self.model_path.endswith("x"):\n            self._handle_attention()\n',
        1,
    )
    found = cell(read_texts(server(args=guarded)), "attention_backend", "trtllm_mha")
    assert found.state is ChoiceState.CONDITIONAL
    assert 'model_path.endswith("x")' in found.why


def test_a_function_nobody_is_seen_to_call_is_no_proof(read_texts: Texts) -> None:
    uncalled = ARGS.replace("        self._handle_attention()\n", "", 1)
    found = cell(read_texts(server(args=uncalled)), "attention_backend", "trtllm_mha")
    assert found.state is not ChoiceState.REFUSED


def test_a_refusal_that_needs_another_flag_leaves_the_choice_to_its_flag(read_texts: Texts) -> None:
    found = cell(read_texts(server()), "attention_backend", "slow")
    assert found.state is ChoiceState.FLAG
    assert "refused together with other settings: enable_deterministic" in found.why


def test_a_refusal_that_a_model_can_meet_is_conditional(read_texts: Texts) -> None:
    on_model = ARGS.replace("if self.enable_deterministic and", "if is_big(self.model_path) and")
    found = cell(read_texts(server(args=on_model)), "attention_backend", "slow")
    assert found.state is ChoiceState.CONDITIONAL
    assert found.why == "refused when is_big(model_path): slow is not deterministic"
    assert found.places


def test_what_another_flag_can_prevent_is_not_refused_for_good(read_texts: Texts) -> None:
    needs = ARGS.replace("if self.enable_deterministic and", "if not self.enable_deterministic and")
    found = cell(read_texts(server(args=needs)), "attention_backend", "slow")
    assert found.state is ChoiceState.CONDITIONAL
    assert "other settings stay as they are" in found.why


def test_a_choice_nothing_speaks_of_is_reachable_nowhere(read_texts: Texts) -> None:
    read = read_texts(server())
    assert cell(read, "moe_runner_backend", "forgotten").state is ChoiceState.UNREACHABLE
    spoken = LAYERS + '\nNAMES = {"forgotten": 1}\n'
    found = cell(read_texts(server(layers=spoken)), "moe_runner_backend", "forgotten")
    assert found.state is ChoiceState.FLAG
    member = RUNNERS.replace('MARLIN = "marlin"', 'FORGOTTEN = "forgotten"')
    asked = LAYERS + "\n\ndef pick(b):\n    if b == MoeRunnerBackend.FORGOTTEN:\n        make(b)\n"
    found = cell(
        read_texts(server(layers=asked, runners=member)), "moe_runner_backend", "forgotten"
    )
    assert found.state is ChoiceState.FLAG


def test_without_the_source_nothing_is_called_reachable_nowhere(read_texts: Texts) -> None:
    read = read_texts(server())
    found = choice_cells(read.facts, ("sm120",))
    assert ChoiceState.UNREACHABLE not in {item.state for item in found}
    # And what callers ask is unknown, so nothing is refused for good.
    assert ChoiceState.REFUSED not in {item.state for item in found}


def test_a_gate_nobody_understood_gives_unknown(read_texts: Texts) -> None:
    strange = ARGS.replace(
        'if self.attention_backend == "trtllm_mha" and not is_sm100_supported():',
        'if self.attention_backend == "trtllm_mha" and not torch.cuda.get_device_capability() '
        "in read_table():",
    ).replace("import argparse", "import argparse\nimport torch")
    found = cell(read_texts(server(args=strange)), "attention_backend", "trtllm_mha")
    assert found.state is ChoiceState.UNKNOWN
    assert "was not understood" in found.why


def test_a_launch_that_ended_with_a_value_makes_it_automatic(read_texts: Texts) -> None:
    row = FamilyRow("X NVFP4", "X", "NVFP4", "sm120", "ok", (("attention_backend", "slow"),))
    found = cell(read_texts(server()), "attention_backend", "slow", families=(row,))
    assert found.state is ChoiceState.AUTOMATIC
    assert found.why.startswith("chosen for X NVFP4")
    elsewhere = cell(read_texts(server()), "attention_backend", "slow", "sm100", families=(row,))
    assert elsewhere.state is ChoiceState.FLAG


def test_a_local_name_that_quotes_the_value_is_followed_by_its_word(read_texts: Texts) -> None:
    renamed = ARGS.replace(
        '        if self.attention_backend == "trtllm_mha" and not is_sm100_supported():',
        "        prefill, decode = both(self)\n"
        '        if prefill == "trtllm_mha" and not is_sm100_supported():',
    )
    found = cell(read_texts(server(args=renamed)), "attention_backend", "trtllm_mha")
    assert found.state is ChoiceState.CONDITIONAL
    assert 'prefill == "trtllm_mha"' in found.why


@pytest.mark.parametrize("tree", ["flat_2025", "dataclass_2026", "arg_groups_2026"])
def test_recorded_launches_agree(tree: str, read_fixture: Callable[[str], Read]) -> None:
    read = read_fixture(tree)
    found = {
        (item.option, item.choice, item.capability): item
        for item in choice_cells(read.facts, ALL, base=read.ground())
    }
    flags = {flag.name: option.name for option in read.facts.options for flag in option.flags}
    checked = 0
    for launch in EXPECTED[tree]["launches"]:
        if len(launch["flags"]) != 2 or launch.get("env"):
            continue
        name, value = launch["flags"]
        item = found.get((flags.get(name, ""), value, launch["arch"]))
        if item is None:
            continue
        checked += 1
        late = (launch.get("late") or {}).get("refusals")
        if item.state is ChoiceState.REFUSED:
            assert launch["outcome"] == "rejected" or late, (launch["id"], item)
        place = (launch.get("rejection") or {}).get("file")
        if launch["outcome"] == "rejected" and place and "/configs/" not in place:
            assert item.state in (ChoiceState.REFUSED, ChoiceState.CONDITIONAL), (launch, item)
    assert checked > 5


@pytest.mark.real
def test_cells_of_0_5_9_on_sm120(real_cache: Path) -> None:
    from tests.audit.conftest import read_source

    read = read_source("sglang==0.5.9", ("sm90", "sm100", "sm120"), str(real_cache))
    mha = cell(read, "attention_backend", "trtllm_mha")
    assert mha.state is ChoiceState.REFUSED
    assert str(mha.places[0]) == "sglang/srt/server_args.py:1900"
    flashinfer = cell(read, "attention_backend", "flashinfer")
    assert flashinfer.state is ChoiceState.AUTOMATIC
    # Chosen by default, and refused once a hybrid model loads.
    assert any(place.file.endswith("attention_registry.py") for place in flashinfer.places)
    gemm = cell(read, "fp8_gemm_runner_backend", "flashinfer_deepgemm")
    # Only a model with block-scaled FP8 comes to ask for it.
    assert gemm.state is ChoiceState.CONDITIONAL
    assert gemm.why.startswith("refused when it is used (_dispatch_explicit_backend): Fla")
    default = cell(read, "fp4_gemm_runner_backend", "flashinfer_cutlass")
    assert default.state is ChoiceState.DEFAULT
