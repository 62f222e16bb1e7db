"""What is said to odd words: what is wrong, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from sgl_audit.errors import UsageError
from sgl_audit.model.capability import parse_capability
from sgl_audit.model.report import Severity
from sgl_audit_reports.common.families import capability_overview
from sgl_audit_reports.markdown.audit import _flag_lines

from . import samples
from .conftest import TREE, Run

RESOLVE = ("resolve", TREE, "--arch", "sm120", "--transformers", "none")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*RESOLVE, "--", "--help"), "asks for help (--help)"),
        ((*RESOLVE, "--", "--tp", "2", "&&", "python"), "joins several commands"),
        ((*RESOLVE, "--assume", "=3", "--model-arch", "A"), "no name in front of ="),
        ((*RESOLVE, "--assume", "gpu_memory_mib=x", "--model-arch", "A"), "gpu_memory_mib=97887"),
        ((*RESOLVE, "--assume", "flashinfer=x", "--model-arch", "A"), "flashinfer=0.6.3"),
        ((*RESOLVE, "--model-arch", "", "--", "--tp", "1"), "--model-arch is empty"),
        (("cache",), "info or clear"),
    ],
)
def test_one_sentence(run: Run, words: tuple[str, ...], said: str) -> None:
    done = run(*words)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1


def test_a_matrix_of_nothing(run: Run) -> None:
    words = ("matrix", TREE, "--arch", "sm120", "--offline", "--option", "page_size")
    assert "has no choices" in run(*words).err
    assert run(*words).code == 2


def test_batches(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "batch.jsonl"
    for text, said in (
        ("\n", "holds no launch"),
        ("null", "is null, not a JSON object"),
        ('{"launch": 1}', "known are arch, argv"),
    ):
        file.write_text(text)
        done = run("resolve", TREE, "--batch", file, "--transformers", "none")
        assert done.code == 2
        assert said in done.err


def test_two_servers_are_told_by_name(run: Run, tmp_path: Path) -> None:
    script = tmp_path / "serve.sh"
    script.write_text("python -m sglang.launch_server --tp 2 &\n" * 2)
    done = run(*RESOLVE, "--launch-file", script)
    assert "--name 'line 1'" in done.err


@pytest.mark.parametrize(("text", "name"), [("12.00", "sm120"), ("rtx5090", "sm120")])
def test_other_spellings(text: str, name: str) -> None:
    assert parse_capability(text)[0].name == name


@pytest.mark.parametrize("text", ["sm999", "sm130"])
def test_no_number_stands_for_another(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_capability(text)
    assert "Did you mean" not in str(raised.value)


def test_color_that_is_asked_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    words = ("show", TREE, "moe_runner_backend", "--arch", "sm120", "--color")
    assert "\x1b[" in run(*words, "always").out
    assert "\x1b[" not in run(*words, "auto").out


def test_a_condition_of_the_source_is_no_family() -> None:
    from dataclasses import replace

    found = replace(
        samples.finding(Severity.ERROR, "moe_runner_backend"),
        when="config is not None and not runner.use_mla_backend",
    )
    view = capability_overview(samples.audit(findings=(found,)), "sm120")
    assert (
        next(name for _, names in view.subjects for name in names) == "default moe_runner_backend"
    )


def test_advice_pastes() -> None:
    assert _flag_lines(("--a", "b", "--c", "d")) == ["--a b \\", "--c d"]
