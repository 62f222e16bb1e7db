"""Whole runs against a stand-in: what is found, what is kept, and that nothing is left."""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from .conftest import MODEL, Probe, read_records

# In the environment of a tool and of all that it starts.
MARK = "PROBE_TEST_FOLDER"


def test_a_good_server_passes(probe: Probe) -> None:
    done = probe("good")
    record = done.record
    assert (done.code, record["outcome"], record["failure"]) == (0, "passed", None)
    assert len(record["smoke"]) == 12
    assert all(not item["judged"] for item in record["smoke"])
    assert record["stopping"]["how"] == "SIGTERM"
    assert record["stopping"]["exit_code"] == 0
    assert record["stopping"]["processes_left"] == 0
    assert record["observation"]["identity"] == "random_seed 77 in the log and in the answer"
    assert record["speed"][0]["concurrency"] == 1
    assert done.out.startswith("PASSED")


def test_the_record_names_versions_and_what_was_run(probe: Probe) -> None:
    record = probe("good").record
    assert record["environment"]["sglang"] == "0.5.90"
    assert record["environment"]["device"]["kind"] == "cpu"
    assert record["launch"]["command"][1:3] == ["-m", "sglang.launch_server"]
    assert record["launch"]["argv"][:2] == ["--model-path", MODEL]
    assert record["format"] == 1


def test_what_the_server_leaves_open_is_not_reported(probe: Probe) -> None:
    values = {v["name"]: v for v in probe("good").record["observation"]["values"]}
    assert values["moe_runner_backend"]["reported"] is False
    assert values["attention_backend"]["value"] == "torch_native"
    assert values["KV cache dtype in use"]["value"] == "bfloat16"


def test_a_silent_fallback_is_told(probe: Probe) -> None:
    done = probe("backend", launch=("--attention-backend", "triton"))
    same = [c for c in done.record["compared"] if c["subject"].endswith("(asked for)")]
    assert not same
    done = probe("good", launch=("--attention-backend", "triton"))
    (found,) = [
        c for c in done.records[-1]["compared"] if c["subject"] == "attention_backend (asked for)"
    ]
    assert (found["predicted"], found["observed"]) == ("triton", "torch_native")
    assert found["agreement"] == "contradicted"


@pytest.mark.parametrize(
    ("case", "failure", "phase"),
    [
        ("nan", "NaN", "smoke"),
        ("uniform", "NaN", "smoke"),
        ("repeat", "garbage", "smoke"),
        ("refused", "refused flag", "start"),
        ("missing", "missing package", "load"),
    ],
)
def test_each_fault_has_its_class(probe: Probe, case: str, failure: str, phase: str) -> None:
    done = probe(case)
    record = done.record
    assert (done.code, record["outcome"], record["failure"]) == (1, "failed", failure)
    assert record["phase"] == phase
    assert record["grounds"]
    assert record["stopping"]["processes_left"] == 0


def test_nan_on_one_prompt_is_found_by_a_prompt_of_ones_own(probe: Probe, tmp_path: Path) -> None:
    assert probe("latenan").record["outcome"] == "passed"
    prompts = tmp_path / "prompts.yaml"
    prompts.write_text("- name: mine\n  chat: POISON in the question\n")
    record = probe("latenan", "--prompts", str(prompts)).records[-1]
    assert record["failure"] == "NaN"
    assert "'mine'" in record["summary"]


def test_an_answer_that_cannot_be_written_for_nan_is_nan(probe: Probe, tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.yaml"
    prompts.write_text("- {name: mine, generate: POISON}\n")
    record = probe("unwritable", "--prompts", str(prompts)).record
    assert record["failure"] == "NaN"
    assert "'mine'" in record["summary"]
    assert any("not JSON compliant" in ground["text"] for ground in record["grounds"])


def test_death_on_a_prompt_names_the_prompt_and_the_cause(probe: Probe, tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.json"
    prompts.write_text(json.dumps([{"name": "mine", "generate": "POISON"}]))
    record = probe("fragile", "--prompts", str(prompts)).record
    assert record["failure"] == "died on a prompt"
    assert "mine" in record["summary"]
    assert "shapes do not fit" in record["summary"]
    texts = [ground["text"] for ground in record["grounds"]]
    assert any("RuntimeError: shapes do not fit" in text for text in texts)


def poisoned(tmp_path: Path, *options: str) -> tuple[str, ...]:
    """A prompt of one's own with the word that makes the stand-in fail."""
    path = tmp_path / "mine.json"
    path.write_text(json.dumps([{"name": "mine", "generate": "POISON"}]))
    return ("--prompts", str(path), *options)


def test_a_connection_that_is_cut_once_is_a_note_and_no_death(probe: Probe, tmp_path: Path) -> None:
    record = probe("cut-once", *poisoned(tmp_path)).record
    assert record["outcome"] == "passed"
    (note,) = [text for text in record["notes"] if text.startswith("mine: ")]
    assert "the server was well; asked again" in note


def test_a_connection_that_is_cut_twice_is_no_death_where_the_server_lives(
    probe: Probe, tmp_path: Path
) -> None:
    record = probe("cut", *poisoned(tmp_path)).record
    assert record["failure"] == "unknown failure"
    assert "although the server is well" in record["summary"]
    assert any("mine" in ground["text"] for ground in record["grounds"])
    assert record["stopping"]["how"] == "SIGTERM"


def test_death_after_a_last_answer_has_its_cause(probe: Probe, tmp_path: Path) -> None:
    record = probe("last-word", *poisoned(tmp_path)).record
    assert record["failure"] == "died on a prompt"
    assert "shapes do not fit" in record["summary"]


def test_an_answer_without_an_end_is_slow_where_the_server_is_well(
    probe: Probe, tmp_path: Path
) -> None:
    record = probe("trickle", *poisoned(tmp_path, "--deadline", "smoke=4")).record
    assert record["failure"] == "slow"
    assert "'mine' in time, although the server is well" in record["summary"]


def test_death_while_measuring_is_no_pass(probe: Probe) -> None:
    record = probe("crowd").record
    assert (record["failure"], record["phase"]) == ("died on a prompt", "measure")
    assert "too many at once" in record["summary"]
    assert not record["speed"]


def test_throughput_at_both_concurrencies_and_the_time_to_the_first_token(probe: Probe) -> None:
    speed = probe("good", "--concurrency", "3").record["speed"]
    assert [item["concurrency"] for item in speed] == [1, 3]
    assert all(item["tokens_per_second"] > 0 for item in speed)
    assert all(0 < item["first_token_s"] < 10 for item in speed)
    assert not probe("good", "--no-speed").records[-1]["speed"]


def test_the_key_of_the_launch_is_sent_and_not_kept(probe: Probe, tmp_path: Path) -> None:
    done = probe("keyed", launch=("--api-key", "s3cret"))
    assert done.record["outcome"] == "passed"
    for path in (tmp_path / "evidence").glob("*.json"):
        assert "s3cret" not in path.read_text()


def test_a_wrong_answer_to_ones_own_prompt_fails(probe: Probe, tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.yaml"
    prompts.write_text("- {chat: Say the word, expect: xylophone}\n")
    record = probe("good", "--prompts", str(prompts)).record
    assert record["failure"] == "garbage"
    assert "xylophone" in record["grounds"][0]["text"]


def test_a_stopped_server_hangs(probe: Probe) -> None:
    record = probe("frozen", "--deadline", "stop=1").record
    assert record["failure"] == "hang"
    assert "are stopped (state T)" in record["grounds"][0]["text"]
    assert record["stopping"]["processes_left"] == 0


def test_a_silent_server_hangs(probe: Probe) -> None:
    record = probe("silent", "--silence", "2", "--deadline", "stop=1").record
    assert record["failure"] == "hang"
    assert "no log line and no CPU time" in record["summary"]


def test_a_server_without_its_port_is_not_waited_for(probe: Probe) -> None:
    """It goes on for ever, and busily: SGLang's scheduler polls."""
    record = probe("portless").record
    assert record["failure"] == "port taken"
    assert record["timings"][1][1] < 60


def test_a_phase_has_a_deadline(probe: Probe) -> None:
    record = probe("silent", "--deadline", "load=2", "--deadline", "stop=1").record
    assert record["failure"] == "hang"
    assert "took longer than 2 s" in record["summary"]


def test_a_server_that_ignores_sigterm_is_killed(probe: Probe) -> None:
    record = probe("deaf", "--deadline", "stop=1").record
    assert record["outcome"] == "passed"
    assert record["stopping"]["how"] == "SIGKILL after 1 s"
    assert record["stopping"]["exit_code"] == -9
    assert record["stopping"]["port_free"] is True


def test_a_taken_port_is_refused_before_the_start(probe: Probe) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = str(holder.getsockname()[1])
        done = probe("good", launch=("--port", port))
    assert done.code == 2
    assert f"port {port} on 127.0.0.1 is taken" in done.err
    assert not done.records


def _start(
    installed: Path, folder: Path, case: str, *options: str, launch: tuple[str, ...] = ()
) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "sgl_audit", "probe", "--device", "cpu", "--evidence",
             str(folder), *options, "--", "--model-path", MODEL, *launch]  # fmt: skip
    root = Path(__file__).resolve().parents[2]
    path = os.pathsep.join([str(root / "analyzer"), str(root / "reports"), str(installed)])
    environment = {**os.environ, "FAKE": case, "PYTHONPATH": path, MARK: str(folder)}
    return subprocess.Popen(
        words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def _wait_for(folder: Path, phase: str) -> dict[str, Any]:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        records = read_records(folder) if folder.is_dir() else ()
        if records and records[0]["phase"] == phase:
            return records[0]
        time.sleep(0.1)
    raise AssertionError(f"never came to phase {phase}")


def _servers(folder: Path) -> list[psutil.Process]:
    """What a tool started that writes into this folder; other tests have servers of their own."""
    found = []
    for item in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            ours = item.environ().get(MARK) == str(folder)
            if ours and "sgl_audit" not in item.cmdline():
                found.append(item)
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_however_the_tool_ends_no_server_is_left(
    installed: Path, tmp_path: Path, number: signal.Signals
) -> None:
    folder = tmp_path / "evidence"
    tool = _start(installed, folder, "silent")
    _wait_for(folder, "load")
    assert _servers(folder)
    tool.send_signal(number)
    tool.wait(30)
    deadline = time.monotonic() + 15
    while _servers(folder) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _servers(folder)
    record = read_records(folder)[0]
    wanted = "running" if number is signal.SIGKILL else "interrupted"
    assert record["outcome"] == wanted


class _Yes(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *words: Any) -> None:
        pass


def test_a_server_that_runs_is_judged_and_left_alone(
    probe: Probe, installed: Path, tmp_path: Path
) -> None:
    from sgl_audit.cli import entry

    port = _free()
    words = [sys.executable, "-m", "sglang.launch_server", "--host", "127.0.0.1", "--port", port]
    server = subprocess.Popen(
        words, env={**os.environ, "FAKE": "repeat"}, stdout=subprocess.DEVNULL
    )
    try:
        _reachable(int(port))
        folder = tmp_path / "other"
        url = f"http://127.0.0.1:{port}"
        code = entry.run(["probe", "--url", url, "--evidence", str(folder)])
        record = read_records(folder)[0]
        assert (code, record["failure"]) == (1, "garbage")
        assert record["stopping"] is None
        assert record["environment"]["sglang"] == "0.5.90"
        assert server.poll() is None
    finally:
        for child in psutil.Process(server.pid).children(recursive=True):
            child.kill()
        server.kill()
        server.wait()


def test_prompts_go_to_no_other_machine_without_leave(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from sgl_audit.cli import entry

    url = "http://192.0.2.7:30000"
    code = entry.run(["probe", "--url", url, "--evidence", str(tmp_path)])
    assert code == 2
    assert "--allow-remote" in capfd.readouterr().err
    assert not list(tmp_path.iterdir())


def test_prompts_go_to_another_machine_where_that_is_meant(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """This machine by an address that does not say so."""
    from sgl_audit.cli import entry

    server = http.server.ThreadingHTTPServer(("0.0.0.0", 0), _Yes)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    words = ["probe", "--url", f"http://0.0.0.0:{server.server_address[1]}"]
    try:
        assert entry.run([*words, "--evidence", str(tmp_path)]) == 2
        assert not list(tmp_path.iterdir())
        assert entry.run([*words, "--evidence", str(tmp_path), "--allow-remote"]) == 1
    finally:
        server.shutdown()
        server.server_close()
    (record,) = read_records(tmp_path)
    assert record["launch"]["url"] == words[-1]


def test_an_answer_of_another_server_is_no_evidence(tmp_path: Path) -> None:
    """A server that says yes to everything is judged by its answers, which are none."""
    from sgl_audit.cli import entry

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Yes)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}"
        code = entry.run(["probe", "--url", url, "--evidence", str(tmp_path)])
    finally:
        server.shutdown()
        server.server_close()
    assert code == 1
    assert read_records(tmp_path)[0]["outcome"] == "failed"


def _free() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def _reachable(port: int) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the stand-in never listened")
