"""The folder of evidence, commands with secrets, and the order of a matrix."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sgl_audit.cli import entry
from sgl_audit.errors import UsageError
from sgl_audit.model.evidence import (
    Device,
    Evidence,
    FailureClass,
    RunEnvironment,
    RunLaunch,
    RunOutcome,
)
from sgl_audit.probe.command import (
    is_loopback,
    make_command,
    with_value,
    without_address,
)
from sgl_audit.probe.gpus import read_line
from sgl_audit.probe.machine import check_port
from sgl_audit.probe.masking import masked_variables, masked_words, secrets_of, without
from sgl_audit.probe.matrix import Axis, combinations, outward, parse_shard
from sgl_audit.probe.own_prompts import read_prompts
from sgl_audit.probe.recorder import Recorder
from sgl_audit.probe.store import Store, decode, encode, finished, read_folder

ENVIRONMENT = RunEnvironment("/py", "3.11.7", "Linux", Device("cpu", "cpu"), "0.5.23")
LAUNCH = RunLaunch(("--model-path", "/m"))


def recorder(folder: Path, key: str = "k" * 16) -> Recorder:
    return Recorder(Store(folder), key, "0.1.0", ENVIRONMENT, LAUNCH)


def test_a_record_comes_back_as_it_was(tmp_path: Path) -> None:
    made = recorder(tmp_path)
    kept = made.update(outcome=RunOutcome.PASSED, summary="fine")
    assert decode(encode(kept)) == kept
    (found,), unread = read_folder(tmp_path)
    assert found.evidence == kept
    assert not unread
    assert finished((found,), "k" * 16) == kept
    assert finished((found,), "other") is None
    lost = made.update(outcome=RunOutcome.FAILED, failure=FailureClass.PORT_TAKEN)
    assert finished((replace(found, evidence=lost),), "k" * 16) is None


def test_what_is_no_evidence_is_told(tmp_path: Path) -> None:
    kept = recorder(tmp_path).update(outcome=RunOutcome.PASSED)
    data = json.loads(encode(kept))
    for name, changed in {
        "future": {**data, "format": 99},
        "other": {"kind": "shopping list"},
        "broken": {**data, "launch": {"argv": [1]}},
    }.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(changed))
    (tmp_path / "cut.json").write_text('{"kind": "sgl-aud')
    found, unread = read_folder(tmp_path)
    assert len(found) == 1
    reasons = {item.path.stem: item.reason for item in unread}
    assert "format is 99" in reasons["future"]
    assert "no evidence" in reasons["other"]
    assert "$.launch.argv[0]" in reasons["broken"]
    assert "no JSON" in reasons["cut"]


def test_a_run_whose_tool_is_gone_was_interrupted(tmp_path: Path) -> None:
    made = recorder(tmp_path)
    made.update(summary="")
    (now,), _ = read_folder(tmp_path)
    assert now.evidence.outcome is RunOutcome.RUNNING
    made.update(pid_started=1.0)
    (later,), _ = read_folder(tmp_path)
    assert later.evidence.outcome is RunOutcome.INTERRUPTED
    assert not later.evidence.outcome.final


def test_evidence_list_show_and_check(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    made = recorder(tmp_path)
    log = made.store.log_path(made.evidence.id)
    log.write_text("a line\n")
    from sgl_audit.probe.logs import Log

    kept: Evidence = made.update(outcome=RunOutcome.PASSED, log=Log(log).file(tmp_path))
    folder = ["--evidence", str(tmp_path)]
    assert entry.run(["evidence", "list", *folder]) == 0
    assert kept.id[:8] in capfd.readouterr().out
    assert entry.run(["evidence", "show", kept.id, *folder, "--format", "json"]) == 0
    assert json.loads(capfd.readouterr().out)["id"] == kept.id
    assert entry.run(["evidence", "show", kept.id, *folder, "--format", "html"]) == 0
    assert kept.id in capfd.readouterr().out
    assert entry.run(["evidence", "check", *folder]) == 0
    log.write_text("another line\n")
    assert entry.run(["evidence", "check", *folder]) == 1
    assert "no longer what it was" in capfd.readouterr().out


def test_no_secret_gets_into_a_record() -> None:
    words = (
        "--model-path",
        "/m",
        "--api-key",
        "s3",
        "--max-total-tokens",
        "8",
        "--admin-api-key=x",
    )
    hidden = masked_words(words)
    assert "s3" not in hidden
    assert "8" in hidden
    assert hidden[-1] == "--admin-api-key=***"
    assert masked_variables((("HF_TOKEN", "hf_x"), ("SGLANG_A", "1"))) == (
        ("HF_TOKEN", "***"),
        ("SGLANG_A", "1"),
    )


def test_a_secret_is_hidden_wherever_a_server_repeats_it() -> None:
    secrets = secrets_of(
        ("--api-key", "s3cret", "--x=1", "--admin-api-key=other"),
        (("A_TOKEN", "t0ken-of-a"), ("B_TOKEN", "EMPTY")),
    )
    assert secrets == ("s3cret", "other", "t0ken-of-a")
    launch = RunLaunch(
        ("--no-such", "s3cret"), url="http://h/?k=t0ken-of-a", varied=(("a", "another"),)
    )
    hidden = without(launch, secrets)
    assert hidden.argv == ("--no-such", "***")
    assert hidden.url == "http://h/?k=***"
    # Part of a word is not the secret.
    assert hidden.varied == (("a", "another"),)


@pytest.mark.parametrize("port", ["99999", "-1", "http", "1" * 5000])
def test_a_port_that_is_none(port: str) -> None:
    with pytest.raises(UsageError, match="no number from 0 to 65535"):
        make_command("/py", (f"--port={port}",), (), None)


def test_any_port_becomes_one(capfd: pytest.CaptureFixture[str]) -> None:
    made = make_command("/py", ("--port", "0"), (), None)
    assert made.port > 0
    assert made.argv[-1] == str(made.port)
    assert made.argv.count("--port") == 1


def test_a_host_that_is_not_here_is_no_taken_port() -> None:
    made = make_command("/py", ("--host", "192.0.2.7", "--port", "31000"), (), None)
    with pytest.raises(UsageError, match="no server can listen on port 31000"):
        check_port(made.host, made.port)
    six = make_command("/py", ("--host", "::1", "--port", "31000"), (), None)
    assert six.url == "http://[::1]:31000"


def test_the_command_gets_an_address_and_the_device() -> None:
    made = make_command("/py", ("--model-path", "/m"), (), "cpu")
    assert made.words[:3] == ("/py", "-m", "sglang.launch_server")
    assert ("SGLANG_USE_CPU_ENGINE", "1") in made.environment
    assert made.argv[made.argv.index("--port") + 1] == str(made.port)
    assert without_address(made.argv) == ("--model-path", "/m", "--device", "cpu")
    given = make_command("/py", ("--host", "0.0.0.0", "--port", "31000"), (), None)
    assert given.url == "http://127.0.0.1:31000"
    with pytest.raises(UsageError, match="differ"):
        make_command("/py", ("--device", "cuda"), (), "cpu")


@pytest.mark.parametrize(
    ("host", "here"),
    [("127.0.0.1", True), ("localhost", True), ("[::1]", True), ("10.0.0.1", False),
     ("localhost.example.com", False), ("127.0.0.1.example.com", False)],
)  # fmt: skip
def test_loopback_is_told_from_names_that_look_like_it(host: str, here: bool) -> None:
    assert is_loopback(host) is here


MOE = Axis("moe_runner_backend", "--moe-runner-backend", ("a", "b", "c"))
FP4 = Axis("fp4_gemm_runner_backend", "--fp4-gemm-backend", ("x", "y"))


def test_one_option_at_a_time_from_the_base_line_first() -> None:
    base = {"moe_runner_backend": "b", "fp4_gemm_runner_backend": "y"}
    found = combinations(("--tp", "2", "--moe-runner-backend=z"), (MOE, FP4), base)
    order = [tuple(value for _, value in item.values) for item in found]
    assert order == [("b", "y"), ("b", "x"), ("a", "y"), ("c", "y"), ("a", "x"), ("c", "x")]
    assert [item.distance for item in found] == [0, 1, 1, 1, 2, 2]
    assert found[0].argv == (
        "--tp", "2", "--moe-runner-backend", "b", "--fp4-gemm-backend", "y",
    )  # fmt: skip


def test_outward_from_the_launch_as_far_as_it_is_not_too_much() -> None:
    base = {"moe_runner_backend": "b"}
    found, farthest = outward(("--tp", "2"), (MOE, FP4), base)
    assert [item.name for item in found] == [
        "the launch", "moe_runner_backend=a", "moe_runner_backend=c",
        "fp4_gemm_runner_backend=x", "fp4_gemm_runner_backend=y",
        "moe_runner_backend=a fp4_gemm_runner_backend=x",
        "moe_runner_backend=a fp4_gemm_runner_backend=y",
        "moe_runner_backend=c fp4_gemm_runner_backend=x",
        "moe_runner_backend=c fp4_gemm_runner_backend=y",
    ]  # fmt: skip
    assert farthest == 2
    assert found[1].argv == ("--tp", "2", "--moe-runner-backend", "a")
    short, farthest = outward(("--tp", "2"), (MOE, FP4), base, most=6)
    assert (short, farthest) == (found[:5], 1)


def test_a_flag_is_set_in_place_of_what_it_was() -> None:
    assert with_value(("--a", "1", "--b", "2"), "--a", "3") == ("--b", "2", "--a", "3")
    assert with_value(("--a=1",), "--a", "3") == ("--a", "3")


def test_shards() -> None:
    assert parse_shard("2/8") == (2, 8)
    for text in ("0/2", "3/2", "x", "1", "1/0"):
        with pytest.raises(UsageError):
            parse_shard(text)


def test_a_line_of_nvidia_smi() -> None:
    gpu = read_line("12.0, NVIDIA RTX PRO 6000, 97887, 412, 580.65.06")
    assert gpu is not None
    assert (gpu.capability, gpu.memory_mib, gpu.used_mib) == ("sm120", 97887, 412)
    assert read_line("No devices were found") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("chat: x", "no list"),
        ("- {chat: x, tone: mild}", "'tone'"),
        ("- {chat: x, completion: y}", "one of"),
        ("- {chat: x, expect: '('}", "no regular expression"),
        ("- {chat: x, max_tokens: 0}", "max_tokens"),
        ("- {chat: x, name: chat sum}", "twice"),
        ("- {chat: x, sampled: sometimes}", "true or false"),
    ],
)
def test_a_wrong_file_of_prompts(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "prompts.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=said):
        read_prompts(path)
