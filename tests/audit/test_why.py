"""Which launches reach a value, or why none does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.audit.conftest import Read
from tests.audit.trees import ARGS, server

from sgl_audit.audit.show import capability_sections
from sgl_audit.audit.why import typed, why
from sgl_audit.errors import UsageError
from sgl_audit.model.report import FamilyRow
from sgl_audit.model.why import WhyRow

Texts = Callable[[Mapping[str, str]], Read]


def asked(read: Read, text: str, capability: str, **more: object) -> tuple[WhyRow, ...]:
    option, _, value = text.partition("=")
    return why(read.facts, capability, option, value, base=read.ground(), **more)  # type: ignore[arg-type]


def test_a_decision_and_the_flag_reach_it(read_texts: Texts) -> None:
    rows = asked(read_texts(server()), "moe_runner_backend=flashinfer_trtllm", "sm100")
    assert [(row.way, row.reaches, row.condition) for row in rows] == [
        ("by decision", True, 'quantization == "modelopt_fp4"'),
        ("by flag", True, "--moe-runner-backend flashinfer_trtllm"),
    ]
    assert str(rows[0].place) == "sglang/srt/server_args.py:40"


def test_the_decision_of_another_capability_is_no_way(read_texts: Texts) -> None:
    rows = asked(read_texts(server()), "moe_runner_backend=flashinfer_trtllm", "sm120")
    assert [row.way for row in rows if row.reaches] == ["by flag"]


def test_nothing_reaches_it_and_what_keeps_it_away(read_texts: Texts) -> None:
    rows = asked(read_texts(server()), "attention_backend=trtllm_mha", "sm120")
    assert not any(row.reaches for row in rows)
    refused = next(row for row in rows if row.way == "by flag")
    assert "--attention-backend trtllm_mha is refused: ValueError" in refused.why
    away = next(row for row in rows if row.way == "kept away")
    assert away.condition == "needs is_sm100_supported()"
    assert "trtllm_mha" in away.why


def test_the_default_stays_or_is_replaced(read_texts: Texts) -> None:
    read = read_texts(server())
    stays = asked(read, "moe_runner_backend=auto", "sm100")
    assert stays[0].way == "by default"
    assert stays[0].reaches
    replaced = asked(read, "attention_backend=none", "sm120")
    assert replaced[0].reaches is False
    assert "always becomes triton" in replaced[0].why


def test_a_value_that_is_no_choice(read_texts: Texts) -> None:
    rows = asked(read_texts(server()), "moe_runner_backend=marlin", "sm120")
    assert not any(row.reaches for row in rows)
    assert "the parser refuses --moe-runner-backend marlin" in rows[-1].why


def test_what_refuses_the_flag_under_conditions_is_said(read_texts: Texts) -> None:
    on_model = ARGS.replace("if self.enable_deterministic and", "if is_big(self.model_path) and")
    rows = asked(read_texts(server(args=on_model)), "attention_backend=slow", "sm120")
    assert [(row.reaches, row.condition) for row in rows] == [
        (True, "--attention-backend slow"),
        (False, "is_big(model_path)"),
    ]


def test_a_computed_value_may_be_it(read_texts: Texts) -> None:
    rows = asked(read_texts(server()), "quantization=fp8", "sm120")
    assert ("by decision", None) in [(row.way, row.reaches) for row in rows]


def test_families_that_end_with_it(read_texts: Texts) -> None:
    row = FamilyRow("X NVFP4", "X", "NVFP4", "sm120", "ok", (("attention_backend", "fa3"),))
    rows = asked(read_texts(server()), "attention_backend=fa3", "sm120", families=(row,))
    assert ("model family", "X NVFP4") in [(item.way, item.condition) for item in rows]


def test_an_unknown_option_is_refused(read_texts: Texts) -> None:
    with pytest.raises(UsageError, match="no option named 'moe'"):
        asked(read_texts(server()), "moe=auto", "sm120")


def test_values_take_the_type_of_the_option(read_texts: Texts) -> None:
    read = read_texts(server())
    options = {option.name: option for option in read.facts.options}
    assert typed(options["enable_deterministic"], "True") is True
    assert typed(options["attention_backend"], "unset") is None
    assert typed(options["attention_backend"], "fa3") == "fa3"


def test_a_page_says_what_each_capability_makes_of_it(read_texts: Texts) -> None:
    base = read_texts(server()).ground()
    option = base.option("attention_backend")
    assert option is not None
    becomes, choices = capability_sections(base, option, ("sm90", "sm100", "sm120"))
    assert [row.cells for row in becomes.rows] == [
        ("triton", "sm90, sm120", "always"),
        ("trtllm_mha", "sm100", "always"),
    ]
    mha = [row.cells[1:3] for row in choices.rows if row.cells[0] == "trtllm_mha"]
    assert mha == [("sm90, sm120", "refused"), ("sm100", "automatic")]


@pytest.mark.real
def test_flashinfer_trtllm_on_sm120_in_0_5_9(real_cache: Path) -> None:
    from tests.audit.conftest import read_source

    read = read_source("sglang==0.5.9", ("sm90", "sm100", "sm120"), str(real_cache))
    here = asked(read, "moe_runner_backend=flashinfer_trtllm", "sm120")
    assert {row.way for row in here if row.reaches} == {"by flag"}
    there = asked(read, "moe_runner_backend=flashinfer_trtllm", "sm100")
    assert "by decision" in {row.way for row in there if row.reaches}
