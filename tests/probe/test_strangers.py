"""What a stranger may do: wrong interpreters, hostile files, folders that cannot be written,
signals at every point, two probes on one port, a server that prints without end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sgl_audit.cli import entry
from sgl_audit.errors import UsageError
from sgl_audit.probe.logs import Log
from sgl_audit.probe.own_prompts import read_prompts

from .conftest import MODEL, Probe, read_records
from .test_runs import _servers, _start, _wait_for

LAUNCH = ("--", "--model-path", MODEL)


def said(capfd: pytest.CaptureFixture[str], *words: str, code: int = 2) -> str:
    """One sentence on stderr, and the exit code of wrong usage."""
    capfd.readouterr()
    assert entry.run(list(words)) == code
    out, err = capfd.readouterr()
    assert not out
    assert "Traceback" not in err
    return err.strip().splitlines()[-1]


def wrapper(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    "text", ["", "exit 3", "echo 1", "echo '[]'", "echo '{}'", "echo no python here"]
)
def test_a_program_that_is_no_python(
    text: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    python = wrapper(tmp_path / "python", text)
    words = ("probe", "--device", "cpu", "--python", python, *LAUNCH)
    assert "does not answer as a Python interpreter" in said(capfd, *words)


def test_interpreters_that_are_not_there_or_have_no_sglang(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    for python in (str(tmp_path / "none"), str(tmp_path), ""):
        words = ("probe", "--device", "cpu", "--python", python, *LAUNCH)
        assert "is no program here" in said(capfd, *words)
    bare = wrapper(tmp_path / "bare", f'exec {sys.executable} -S "$@"')
    assert "has no SGLang" in said(capfd, "probe", "--device", "cpu", "--python", bare, *LAUNCH)


HOSTILE = {
    "laughs": "a: &a [x]\nb: &b [*a,*a]\n",
    "itself": "- &a {name: *a, chat: x}\n",
    "deep": "[" * 5000,
    "number": f"- {{chat: x, max_tokens: {'9' * 5000}}}",
    "date": "- {chat: x, name: 2026-13-45}",
    "half": '- {chat: "\\ud800"}',
    "tag": "- !!python/object/apply:os.system ['true']",
    "bytes": "\x00\x01",
    "pattern": "- {chat: x, expect: '" + "(" * 3000 + ")" * 3000 + "'}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_of_prompts_is_one_sentence(name: str, tmp_path: Path) -> None:
    path = tmp_path / "prompts.yaml"
    path.write_text(HOSTILE[name])
    with pytest.raises(UsageError) as caught:
        read_prompts(path)
    assert len(str(caught.value)) < 600
    assert "\n" not in str(caught.value)


def test_laughs_within_an_entry_are_not_written_out(tmp_path: Path) -> None:
    rows = ["- &l0 [ha, ha]"] + [f"- &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 12)]
    for key in ("name", "expect", "sampled", "max_tokens", "chat"):
        path = tmp_path / "prompts.yaml"
        path.write_text("\n".join([*rows, f"- {{chat: x, {key}: *l11}}"]))
        with pytest.raises(UsageError):
            read_prompts(path)
        path.write_text("\n".join([f"- {{x: [{', '.join(r[2:] for r in rows)}]}}"]))
        with pytest.raises(UsageError):
            read_prompts(path)


def test_prompts_that_are_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "none", tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(UsageError):
            read_prompts(path)
    large = tmp_path / "large"
    large.write_bytes(b"# \n" * (2 << 20))
    with pytest.raises(UsageError, match="larger than"):
        read_prompts(large)


def test_a_folder_that_cannot_be_written(probe: Probe, tmp_path: Path) -> None:
    (tmp_path / "evidence").write_text("a file")
    done = probe("good")
    assert done.code == 2
    assert "evidence" in done.err
    assert "Traceback" not in done.err


def test_a_folder_that_goes_away_meanwhile_leaves_no_server(
    installed: Path, tmp_path: Path
) -> None:
    """No step can be written any more; the server is ended all the same."""
    folder = tmp_path / "evidence"
    tool = _start(installed, folder, "stuck")
    _wait_for(folder, "smoke")
    folder.rename(tmp_path / "moved")
    tool.send_signal(signal.SIGINT)
    tool.wait(60)
    _all_gone(tmp_path / "evidence")


def test_damaged_evidence_is_told_and_hinders_nothing(
    probe: Probe, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    record = probe("good", "--no-speed").record
    folder = tmp_path / "evidence"
    kept = json.dumps(record)
    (folder / "20990101-cut.json").write_text(kept[: len(kept) // 2])
    (folder / "20990102-list.json").write_text("[]")
    (folder / "20990103-deep.json").write_text("[" * 100_000)
    (folder / "20990104-bytes.json").write_bytes(b"\xff\xfe\x00")
    (folder / "20990105-number.json").write_text(kept.replace('"format": 1', '"format": 1e999'))
    (folder / "20990106-folder.json").mkdir()
    (folder / "20990107-none.json").symlink_to(tmp_path / "nowhere")
    os.mkfifo(folder / "20990108-pipe.json")
    capfd.readouterr()
    assert entry.run(["evidence", "list", "--evidence", str(folder)]) in (0, 1)
    out, err = capfd.readouterr()
    assert record["id"][:8] in out
    assert "Traceback" not in err
    assert entry.run(["evidence", "check", "--evidence", str(folder)]) == 1
    out = capfd.readouterr().out
    assert out.count("20990") == 8
    assert "1 of 9 records are sound" in out
    shown = said(capfd, "evidence", "show", "--evidence", str(folder), "20990101")
    assert "no run begins" in shown


def test_a_server_that_prints_without_end(probe: Probe) -> None:
    start = time.monotonic()
    record = probe("endless", "--no-speed").record
    assert record["outcome"] == "passed"
    assert record["log"]["bytes"] > 100_000_000
    assert time.monotonic() - start < 120


def test_of_an_endless_log_beginning_end_and_numbers_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"".join(b"line %d\n" % n for n in range(300_000)))
    log = Log(path)
    log.read()
    assert len(log.lines) == 300_000
    assert (log.lines[0], log.lines[-1], log.lines[150_000]) == ("line 0", "line 299999", "")
    with path.open("ab") as file:
        file.write(b"the cause\n" + b"no newline " * 100_000)
    log.read()
    assert log.lines[300_000] == "the cause"
    log.finish()
    assert len(log.lines[-1]) <= 8000


@pytest.mark.parametrize(
    ("case", "phase"),
    [("early", "start"), ("silent", "load"), ("unwell", "warm-up"), ("stuck", "smoke"),
     ("crawl", "measure")],
)  # fmt: skip
def test_ctrl_c_in_each_phase(installed: Path, tmp_path: Path, case: str, phase: str) -> None:
    folder = tmp_path / "evidence"
    tool = _start(installed, folder, case)
    _wait_for(folder, phase)
    time.sleep(0.5)
    start = time.monotonic()
    tool.send_signal(signal.SIGINT)
    assert tool.wait(60) in (2, 3, 130)
    # Who presses Ctrl-C does not wait for an answer that does not come.
    assert time.monotonic() - start < 45
    _all_gone(folder)
    record = read_records(folder)[0]
    assert (record["outcome"], record["summary"]) == (
        "interrupted", f"interrupted in phase {phase}",
    )  # fmt: skip
    assert record["stopping"]["processes_left"] == 0


def test_ctrl_c_before_there_is_a_server(installed: Path, tmp_path: Path) -> None:
    tool = _start(installed, tmp_path / "evidence", "good")
    time.sleep(0.4)
    tool.send_signal(signal.SIGINT)
    tool.wait(60)
    _all_gone(tmp_path / "evidence")


def test_ctrl_c_twice_leaves_the_end_to_the_guard(installed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "evidence"
    tool = _start(installed, folder, "deaf", "--deadline", "stop=60", "--no-speed")
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and not _passed(folder):
        time.sleep(0.1)
    assert _passed(folder)
    time.sleep(0.5)
    tool.send_signal(signal.SIGINT)
    time.sleep(0.5)
    if tool.poll() is None:
        tool.send_signal(signal.SIGINT)
    tool.wait(60)
    _all_gone(folder)
    # The result is not lost.
    assert read_records(folder)[0]["outcome"] == "passed"


def _passed(folder: Path) -> bool:
    records = read_records(folder) if folder.is_dir() else ()
    return bool(records) and records[0]["outcome"] == "passed"


def _all_gone(folder: Path) -> None:
    deadline = time.monotonic() + 30
    while _servers(folder) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _servers(folder)


def test_two_probes_on_one_port(installed: Path, tmp_path: Path) -> None:
    """One has it. The other is refused before its start, or its server says that it is taken; it
    never judges the answers of the first one's."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    folders = [tmp_path / "one", tmp_path / "two"]
    tools = [_start(installed, folder, "good", launch=("--port", port)) for folder in folders]
    codes = [tool.wait(180) for tool in tools]
    records = [read_records(folder) for folder in folders]
    outcomes = sorted((record[0]["outcome"] if record else "none") for record in records)
    assert "passed" in outcomes
    for code, record in zip(codes, records, strict=True):
        if not record:
            assert code == 2
        elif record[0]["outcome"] != "passed":
            assert record[0]["failure"] == "port taken"


def test_odd_addresses_of_a_launch(probe: Probe) -> None:
    everywhere = probe("good", "--no-speed", launch=("--host", "0.0.0.0", "--port", "0")).record
    assert everywhere["outcome"] == "passed"
    assert everywhere["launch"]["url"].startswith("http://127.0.0.1:")
    for launch, text in (
        (("--port", "70000"), "no number from 0 to 65535"),
        (("--host", "192.0.2.7"), "no server can listen on host 192.0.2.7"),
        (("--host", "no.such.host.invalid", "--port", "31000"), "no server can listen on port"),
        (("--device", "cuda"), "differ"),
    ):
        done = probe("good", launch=launch)
        assert done.code == 2
        assert text in done.err
        assert "Traceback" not in done.err


def test_a_server_that_is_asked_by_many_at_once_and_interrupted(
    installed: Path, tmp_path: Path
) -> None:
    """Threads of the measurement do not keep the tool alive."""
    before = threading.active_count()
    folder = tmp_path / "evidence"
    tool = _start(installed, folder, "crawl", "--concurrency", "64")
    _wait_for(folder, "measure")
    tool.send_signal(signal.SIGTERM)
    assert tool.wait(60) != 0
    _all_gone(folder)
    assert threading.active_count() == before
    assert isinstance(tool, subprocess.Popen)
