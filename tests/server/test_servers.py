"""`sgl-audit probe` and `verify` against the actual server of two releases, on a CPU."""

from __future__ import annotations

import hashlib
import http.server
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from sgl_audit.cli import entry
from sgl_audit.cli.probing import running

from .conftest import FOLDER, HOW, SMALL, Installed, Probe, environment, read_records, verdicts

if not FOLDER:
    pytest.skip(HOW, allow_module_level=True)

pytestmark = pytest.mark.server
ROOT = Path(__file__).resolve().parents[2]
POISON = "- {name: poison, generate: 'POISON The capital of France is'}\n"
NEWER = pytest.param("newer", marks=pytest.mark.xdist_group("newer"))
OLDER = pytest.param("older", marks=pytest.mark.xdist_group("older"))
FIRST_HALF = pytest.mark.xdist_group("newer")
SECOND_HALF = pytest.mark.xdist_group("older")


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Installed:
    found: Installed = request.getfixturevalue(request.param)
    return found


each_release = pytest.mark.parametrize("server", [NEWER, OLDER], indirect=True)


@each_release
def test_a_model_that_gives_nan_is_never_called_healthy(server: Installed, probe: Probe) -> None:
    record = probe(server, "nan", code=1)
    assert record["failure"] == "NaN"
    assert verdicts(record)["resolution"] == "confirmed"
    assert any("logprobs" in ground["text"] for ground in record["grounds"])


@each_release
def test_nan_on_one_prompt_of_ones_own(server: Installed, probe: Probe, tmp_path: Path) -> None:
    path = tmp_path / "prompts.yaml"
    path.write_text(POISON)
    record = probe(server, "latenan", "--prompts", str(path), code=1)
    assert record["failure"] == "NaN"
    assert "1 of" in record["summary"]
    assert "'poison'" in record["summary"]
    # Up to there it answered like a healthy one.
    bad = [item["name"] for item in record["smoke"] if item["judged"]]
    assert bad == ["poison"]


@each_release
def test_one_token_for_ever_is_garbage_and_not_nan(server: Installed, probe: Probe) -> None:
    record = probe(server, "repeat", code=1)
    assert record["failure"] == "garbage"
    assert "finite logprobs" in record["summary"]


@each_release
def test_death_on_the_first_prompt(server: Installed, probe: Probe) -> None:
    record = probe(server, "mla", code=1)
    assert (record["failure"], record["phase"]) == ("died in warm-up", "warm-up")
    assert record["stopping"]["exit_code"] == -9
    assert any("RuntimeError" in ground["text"] for ground in record["grounds"])


@SECOND_HALF
def test_a_healthy_model_passes_in_the_older_release(older: Installed, probe: Probe) -> None:
    record = probe(older, "healthy", code=0, speed=2)
    assert record["outcome"] == "passed"
    assert [item["concurrency"] for item in record["speed"]] == [1, 2]
    for item in record["speed"]:
        assert item["tokens_per_second"] > 0
        assert item["first_token_s"] > 0
    assert record["observation"]["identity"]
    assert "contradicted" not in verdicts(record).values()
    values = {v["name"]: v for v in record["observation"]["values"]}
    # The scheduler knows what the resolution left open.
    assert values["prefill_attention_backend"]["value"] == "torch_native"
    assert values["moe_runner_backend"]["reported"] is False


@SECOND_HALF
def test_a_wrong_choice_is_refused_as_predicted(older: Installed, probe: Probe) -> None:
    record = probe(older, "healthy", launch=("--attention-backend", "nonsense"), code=1)
    assert (record["failure"], record["phase"]) == ("refused flag", "start")
    assert verdicts(record)["resolution"] == "confirmed"


@SECOND_HALF
def test_a_server_that_is_stopped_hangs(older: Installed, probe: Probe) -> None:
    with freezing():
        record = probe(older, "healthy", "--deadline", "stop=2", code=1)
    assert record["failure"] == "hang"
    assert "state T" in record["summary"]


@contextmanager
def freezing() -> Iterator[None]:
    """SIGSTOP to the server as soon as it is there."""
    stop = threading.Event()

    def watch() -> None:
        while not stop.is_set():
            for item in psutil.Process().children(recursive=True):
                try:
                    words = item.cmdline()
                    if "sglang.launch_server" in words and "guard.py" not in " ".join(words):
                        os.killpg(item.pid, signal.SIGSTOP)
                        return
                except (psutil.Error, ProcessLookupError):
                    continue
            time.sleep(0.2)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


class Yes(http.server.BaseHTTPRequestHandler):
    """Says yes to everything, as a server of something else may."""

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    do_POST = do_GET

    def log_message(self, *words: Any) -> None:
        pass


@FIRST_HALF
def test_a_port_that_is_taken_late_and_a_server_that_ignores_sigterm(
    newer: Installed, probe: Probe, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Between the check before the start and the server's own bind.
    monkeypatch.setattr(running, "check_port", lambda host, port: None)
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = str(holder.getsockname()[1])
        launch = ("--port", port)
        record = probe(newer, "healthy", "--deadline", "stop=3", launch=launch, code=1)
    assert record["failure"] == "port taken"
    assert "address already in use" in record["grounds"][0]["text"]
    assert record["stopping"]["how"] == "SIGKILL after 3 s"


@FIRST_HALF
def test_another_server_on_the_port_is_not_taken_for_ours(
    newer: Installed, probe: Probe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "check_port", lambda host, port: None)
    other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Yes)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    try:
        launch = ("--port", str(other.server_address[1]))
        record = probe(newer, "healthy", launch=launch, code=1)
    finally:
        other.shutdown()
        other.server_close()
    assert record["failure"] == "port taken"
    assert not record["smoke"]


VARY = ("--vary", "attention_backend=torch_native,intel_amx,fa3,trtllm_mla", "--try-refused")


@FIRST_HALF
def test_a_matrix_that_is_killed_and_goes_on(
    newer: Installed, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "evidence"
    words = ["probe", "--python", newer.python, "--device", "cpu", "--no-speed", "--evidence",
             str(folder), *VARY, "--", "--model-path", newer.model("healthy"), *SMALL]  # fmt: skip
    path = os.pathsep.join([str(ROOT / "analyzer"), str(ROOT / "reports")])
    # The tool's own path must not reach the server: its variable is set by the launch.
    launch = [*words[: words.index("--") + 1], "env", f"PYTHONPATH={environment()['PYTHONPATH']}",
              "python", "-m", "sglang.launch_server", *words[words.index("--") + 1 :]]  # fmt: skip
    tool = subprocess.Popen(
        [sys.executable, "-m", "sgl_audit", *launch],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for_second(folder)
    tool.send_signal(signal.SIGKILL)
    tool.wait()
    cut = read_records(folder)
    assert [record["outcome"] for record in cut] == ["passed", "running"]
    gone(cut[1])
    entry.run(launch)
    capfd.readouterr()
    records = read_records(folder)
    assert records[0] == cut[0]
    found = {dict(r["launch"]["varied"])["attention_backend"]: r for r in records[1:]}
    passed, amx, fa3, mla = (
        records[0],
        *(found[name] for name in ("intel_amx", "fa3", "trtllm_mla")),
    )
    assert len(records) == 5
    assert passed["outcome"] == amx["outcome"] == "passed"
    # Asked for and got differ, and neither exit code nor health says so.
    assert verdicts(amx)["attention_backend (asked for)"] == "contradicted"
    assert verdicts(passed)["attention_backend"] == "confirmed"
    assert "contradicted" not in verdicts(passed).values()
    assert (fa3["failure"], fa3["phase"]) == ("no kernel for this architecture", "load")
    assert verdicts(fa3)["loading (attention)"] == "confirmed"
    assert (mla["failure"], mla["phase"]) == ("refused in resolution", "start")
    assert verdicts(mla)["resolution"] == "confirmed"
    assert mla["compared"][0]["place"]["file"].startswith("sglang/srt/")
    joined(newer, folder, passed, tmp_path, capfd)


def wait_for_second(folder: Path) -> None:
    """Until the second combination has begun to load."""
    deadline = time.monotonic() + 900
    while time.monotonic() < deadline:
        records = read_records(folder) if folder.is_dir() else []
        if len(records) == 2 and records[1]["phase"] in ("load", "warm-up"):
            return
        time.sleep(0.2)
    raise AssertionError("the second combination never began")


def gone(record: dict[str, Any]) -> None:
    """Until nothing of a server is left."""
    port = record["launch"]["url"].rpartition(":")[2]
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        left = [p for p in psutil.process_iter(["cmdline"]) if port in (p.info["cmdline"] or [])]
        if not left:
            return
        time.sleep(0.2)
    raise AssertionError(f"left behind: {left}")


def joined(
    server: Installed,
    folder: Path,
    passed: dict[str, Any],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Prediction, what the server said, and verdict, side by side in terminal and HTML."""
    tree = Path(server.python).parents[1] / "lib" / "python3.11" / "site-packages"
    page = tmp_path / "page.html"
    words = ["resolve", str(tree), "--arch", "cpu", "--transformers", "none", "--evidence",
             str(folder), "-o", "-", "-o", str(page), "--", *passed["launch"]["argv"]]  # fmt: skip
    entry.run(words)
    shown = capfd.readouterr().out
    for report in (shown, page.read_text("utf-8")):
        assert "Predicted, and what the server said" in report
        for word in ("confirmed", "torch_native", "another launch"):
            assert word in " ".join(report.split())


@SECOND_HALF
def test_verify_agrees_on_this_machine_and_on_a_pretended_one(
    older: Installed, newer: Installed, capfd: pytest.CaptureFixture[str]
) -> None:
    for server in (older, newer):
        for options in (("--device", "cpu"), ("--fake", "sm120")):
            launch = ["--model-path", server.model("healthy")]
            code = entry.run(["verify", "--python", server.python, *options, "--", *launch])
            said = capfd.readouterr().out
            assert (code, "1 of 1 launches agree" in said) == (0, True), said


ORACLE = ROOT.parent / "shared" / "oracle"


@SECOND_HALF
@pytest.mark.skipif(not ORACLE.is_dir(), reason=f"launches with a known truth are not in {ORACLE}")
def test_verify_agrees_on_thirty_launches_with_a_known_truth(
    newer: Installed,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The launches are for a GPU that is pretended; the other tests start servers on the CPU.
    monkeypatch.delenv("SGLANG_USE_CPU_ENGINE")
    text = (ORACLE / "resolve" / f"truth-{newer.version}.jsonl").read_text("utf-8")
    rows = [row for row in map(json.loads, text.splitlines()) if row["arch"] == "sm120"]
    rows.sort(key=lambda row: hashlib.sha256(row["id"].encode()).hexdigest())
    batch = tmp_path / "launches.jsonl"
    batch.write_text("\n".join(json.dumps(launch_of(row)) for row in rows[:30]))
    assert entry.run(["verify", "--python", newer.python, "--batch", str(batch)]) == 0
    assert "30 of 30 launches agree" in capfd.readouterr().out


def launch_of(row: dict[str, Any]) -> dict[str, Any]:
    folder = f"{ORACLE / 'models'}{os.sep}"
    flags = [flag.replace("MODELS/", folder) for flag in row["flags"]]
    return {
        "id": row["id"], "arch": "sm120", "argv": ["--model-path", folder + row["model"], *flags]
    }  # fmt: skip
