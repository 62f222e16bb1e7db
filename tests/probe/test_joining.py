"""Runs beside other answers: which count, and how they look in each report."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from sgl_audit.cli import entry
from sgl_audit.model.evidence import (
    Agreement,
    Compared,
    Device,
    Evidence,
    FailureClass,
    Ground,
    RunEnvironment,
    RunLaunch,
    RunOutcome,
)
from sgl_audit.probe.joining import foreign, join
from sgl_audit.probe.store import Store

from .conftest import FIXTURES, MODEL

TREE = str(FIXTURES / "dataclass_2026")
RUN = Evidence(
    id="20261129T000000000-aaaaaaaa",
    key="k" * 16,
    created="2026-11-29T00:00:00Z",
    updated="2026-11-29T00:00:00Z",
    tool_version="0.1.0",
    environment=RunEnvironment("/py", "3.11", "Linux", Device("cuda", "sm120", "RTX"), "0.5.90"),
    launch=RunLaunch(("--model-path", MODEL, "--tp", "2")),
    outcome=RunOutcome.FAILED,
    failure=FailureClass.NAN,
    summary="NaN in 2 of 9 prompts",
    grounds=(Ground("answer", "<b>4 of 4 logprobs are no number</b>"),),
    compared=(
        Compared("attention_backend", "flashinfer", "flashinfer", Agreement.CONFIRMED),
        Compared("moe_runner_backend", "triton", "cutlass", Agreement.CONTRADICTED, "it says so"),
    ),
)
OLDER = replace(
    RUN,
    id="20261128T000000000-bbbbbbbb",
    environment=replace(RUN.environment, sglang="0.5.80"),
)


@pytest.mark.parametrize(
    ("version", "capabilities", "argv", "said"),
    [
        ("0.5.90", ("sm120", "sm90"), None, ""),
        ("0.5.91", ("sm120",), None, "it ran sglang 0.5.90, and this is 0.5.91"),
        (None, ("sm120",), None, "it ran sglang 0.5.90, and this is unknown"),
        ("0.5.90", ("sm90",), None, "it ran on sm120, and this is about sm90"),
        ("0.5.90", ("sm120",), ("--tp", "2", "--model-path", MODEL, "--port", "1"), ""),
        ("0.5.90", ("sm120",), ("--model-path", MODEL), "it was another launch"),
    ],
)
def test_which_runs_count(
    version: str | None, capabilities: tuple[str, ...], argv: tuple[str, ...] | None, said: str
) -> None:
    assert foreign(RUN, version, capabilities, argv) == said


def test_a_run_with_other_variables_is_another_launch() -> None:
    ran = (("SGLANG_SANITIZE_NAN_LOGITS", "1"), ("SGLANG_CACHE_DIR", "/c"), ("CUDA_HOME", "/x"))
    run = replace(RUN, launch=replace(RUN.launch, environment=ran))
    argv = RUN.launch.argv
    said = foreign(run, "0.5.90", ("sm120",), argv, {})
    assert said == "it ran with SGLANG_SANITIZE_NAN_LOGITS set to '1', and here it is not set"
    assert not foreign(run, "0.5.90", ("sm120",), argv, {"SGLANG_SANITIZE_NAN_LOGITS": "1"})
    assert foreign(RUN, "0.5.90", ("sm120",), argv, {"SGLANG_X": "0"}).endswith("set to '0'")


def test_a_run_of_unknown_version_never_counts() -> None:
    unknown = replace(RUN, environment=replace(RUN.environment, sglang=None))
    assert foreign(unknown, None, ("sm120",), None)


def test_runs_that_count_come_first() -> None:
    found = join((OLDER, RUN), "0.5.90", ("sm120",))
    assert [item.evidence.id for item in found] == [RUN.id, OLDER.id]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    store = Store(tmp_path / "kept")
    store.write(RUN)
    store.write(OLDER)
    return store.folder


def test_a_resolution_with_its_runs_in_every_form(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    page, text, data = (tmp_path / name for name in ("a.html", "a.md", "a.json"))
    words = ["resolve", TREE, "--arch", "sm120", "--transformers", "none", "--evidence",
             str(folder), "-o", "-", "-o", str(page), "-o", str(text), "-o", str(data), "--",
             "--model-path", MODEL, "--tp", "2"]  # fmt: skip
    assert entry.run(words) in (0, 3)
    shown = capfd.readouterr().out
    for report in (shown, page.read_text("utf-8"), text.read_text("utf-8")):
        assert "Runs of the actual server" in report
        assert "contradicted" in report
        assert "0.5.80" in report
    assert "<b>" not in page.read_text("utf-8")
    runs = json.loads(data.read_text("utf-8"))["evidence"]
    assert [(run["id"], run["counts"]) for run in runs] == [(RUN.id, True), (OLDER.id, False)]
    assert runs[0]["compared"][1]["verdict"] == "contradicted"


def test_an_audit_and_a_matrix_with_runs(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    common = [TREE, "--arch", "sm120", "--transformers", "none", "--evidence", str(folder)]
    for command in ("audit", "matrix"):
        entry.run([command, *common, "--format", "json"])
        runs = json.loads(capfd.readouterr().out)["evidence"]
        assert [run["counts"] for run in runs] == [True, False]
        entry.run([command, *common])
        assert "does not count: it ran sglang 0.5.80" in " ".join(capfd.readouterr().out.split())


def test_an_audit_for_ci_with_runs(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["audit", TREE, "--arch", "sm120", "--transformers", "none", "--evidence", str(folder)]
    entry.run([*words, "--format", "github"])
    lines = [line for line in capfd.readouterr().out.splitlines() if "run of the server" in line]
    (line,) = lines
    assert line.startswith("::warning title=run of the server%3A ")
    assert "moe_runner_backend: predicted triton, observed cutlass" in line
    entry.run([*words, "--format", "sarif"])
    (run,) = json.loads(capfd.readouterr().out)["runs"]
    assert [item["counts"] for item in run["properties"]["evidence"]] == [True, False]


def test_junit_and_csv_carry_what_a_run_confirmed_and_contradicted(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["audit", TREE, "--arch", "sm120", "--transformers", "none"]
    entry.run([*words, "--format", "junit"])
    plain = Xml.fromstring(capfd.readouterr().out)
    entry.run([*words, "--evidence", str(folder), "--format", "junit"])
    root = Xml.fromstring(capfd.readouterr().out)
    seen = {
        str(case.get("name")): [str(item.get("value")) for item in case.iter("property")]
        for case in root.iter("testcase")
        if case.find("properties") is not None
    }
    assert set(seen) == {"attention_backend", "moe_runner_backend"}
    assert seen["attention_backend"][0].startswith("confirmed on sm120: observed flashinfer (")
    (said,) = seen["moe_runner_backend"]
    assert said.startswith("contradicted on sm120: predicted triton, observed cutlass (")
    assert said.endswith(": failed: NaN)")
    (suite,) = (item for item in root if item.get("name") == "runs of the server")
    assert [case.find("skipped") is not None for case in suite] == [False, True]
    assert "it ran sglang 0.5.80" in str(suite[1].find("skipped").get("message"))  # type: ignore[union-attr]
    assert root.get("failures") == plain.get("failures")
    entry.run([*words, "--format", "csv"])
    assert "evidence" not in capfd.readouterr().out
    for command in ("audit", "matrix"):
        entry.run([command, *words[1:], "--evidence", str(folder), "--format", "csv"])
        rows = list(csv.DictReader(io.StringIO(capfd.readouterr().out)))
        told = {(row["option"], row["choice"]): row["evidence"] for row in rows if row["evidence"]}
        assert set(told) == {
            ("attention_backend", "flashinfer"),
            ("moe_runner_backend", "cutlass"),
            ("moe_runner_backend", "triton"),
        }
        assert told["moe_runner_backend", "cutlass"].startswith("contradicted on sm120: predicted")


def test_without_evidence_reports_say_nothing_of_runs(capfd: pytest.CaptureFixture[str]) -> None:
    entry.run(["matrix", TREE, "--arch", "sm120", "--transformers", "none", "--format", "json"])
    assert "evidence" not in json.loads(capfd.readouterr().out)


def test_a_folder_that_is_not_there(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["matrix", TREE, "--arch", "sm120", "--evidence", str(tmp_path / "none")]
    assert entry.run(words) == 2
    assert "is no folder" in capfd.readouterr().err


def test_a_recommendation_with_runs(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["recommend", TREE, "--arch", "sm120", "--transformers", "none", "--flashinfer",
             "none", "--evidence", str(folder), "--format", "json", "--", "--model-path",
             MODEL]  # fmt: skip
    assert entry.run(words) in (0, 1, 3)
    runs = json.loads(capfd.readouterr().out)["evidence"]
    assert [run["counts"] for run in runs] == [True, False]
