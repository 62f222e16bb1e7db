"""Matrices against a stand-in: order, what is skipped, interruption and resume, plans."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .conftest import MODEL, Probe, read_records

VARY = (
    "--vary",
    "attention_backend=triton,flashinfer",
    "--vary",
    "sampling_backend=pytorch,flashinfer",
)


def values(record: dict[str, object]) -> tuple[str, ...]:
    launch = record["launch"]
    assert isinstance(launch, dict)
    return tuple(value for _, value in launch["varied"])


def test_a_plan_starts_nothing_and_names_every_combination(probe: Probe) -> None:
    done = probe("good", *VARY, "--plan", "--try-refused")
    assert done.code == 0
    assert not done.records
    assert "4 of 4 to run" in done.out
    data = json.loads(probe("good", *VARY, "--plan", "--try-refused", "--format", "json").out)
    assert [entry["number"] for entry in data["entries"]] == [1, 2, 3, 4]
    assert data["entries"][0]["values"].keys() == {"attention_backend", "sampling_backend"}
    assert all("--port" not in entry["argv"] for entry in data["entries"])


def test_all_backends_are_tried_one_by_one_from_the_launch_as_it_is(probe: Probe) -> None:
    done = probe("good", "--vary-all", "--plan", "--try-refused", "--format", "json")
    assert done.code == 0, done.err
    entries = json.loads(done.out)["entries"]
    assert entries[0]["values"] == {}
    sizes = [len(entry["values"]) for entry in entries]
    assert sizes == sorted(sizes)
    assert sizes.count(1) > 5
    for entry in entries:
        for value in entry["values"].values():
            assert value in entry["argv"]


def test_shards_share_the_plan_without_a_rest(probe: Probe) -> None:
    found = []
    for part in ("1/3", "2/3", "3/3"):
        done = probe("good", *VARY, "--plan", "--try-refused", "--format", "json", "--shard", part)
        found += [entry["number"] for entry in json.loads(done.out)["entries"]]
    assert sorted(found) == [1, 2, 3, 4]


def test_plans_for_schedulers(probe: Probe, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["sgl-audit", "probe", *VARY, "--plan", "--format", "github", "--", "--model-path", "m"]
    monkeypatch.setattr(sys, "argv", words)
    jobs = json.loads(probe("good", *VARY, "--plan", "--try-refused", "--format", "github").out)
    assert [job["shard"] for job in jobs["include"]] == ["1/4", "2/4", "3/4", "4/4"]
    run = jobs["include"][0]["run"]
    assert run.endswith("--shard 1/4 -- --model-path m")
    assert "--plan" not in run
    assert "github" not in run
    script = probe("good", *VARY, "--plan", "--try-refused", "--format", "slurm").out
    assert "#SBATCH --array=1,2,3,4" in script
    assert '--shard "${SLURM_ARRAY_TASK_ID}/4" -- --model-path m' in script


def test_what_is_proved_refused_is_not_started(probe: Probe) -> None:
    vary = ("--vary", "attention_backend=triton,trtllm_mha")
    plan = json.loads(probe("good", *vary, "--plan", "--format", "json").out)
    actions = {entry["values"]["attention_backend"]: entry["action"] for entry in plan["entries"]}
    if actions["trtllm_mha"] == "run":
        pytest.fail(f"nothing is refused here: {plan}")
    assert actions["triton"] == "run", plan
    done = probe("backend", *vary)
    outcomes = {values(record): record["outcome"] for record in done.records}
    assert outcomes == {("triton",): "passed", ("trtllm_mha",): "skipped"}
    # Skipped once, and not noted again; started where that is wanted.
    assert len(probe("backend", *vary).records) == 2
    started = probe("backend", *vary, "--try-refused").records[2:]
    assert [values(record) for record in started] == [("trtllm_mha",)]
    skipped = next(record for record in done.records if record["outcome"] == "skipped")
    assert "sglang/" in skipped["summary"]
    assert skipped["log"] is None


def test_it_stops_at_the_first_pass_where_that_is_the_goal(probe: Probe) -> None:
    done = probe("good", *VARY, "--try-refused", "--until", "first-pass")
    assert len(done.records) == 1
    assert done.code == 0
    # The goal is met already when it is asked for once more.
    assert len(probe("good", *VARY, "--try-refused", "--until", "first-pass").records) == 1


def test_a_matrix_that_is_killed_goes_on_where_it_was(installed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "evidence"
    root = Path(__file__).resolve().parents[2]
    path = os.pathsep.join([str(root / "analyzer"), str(root / "reports"), str(installed)])
    words = [sys.executable, "-m", "sgl_audit", "probe", "--device", "cpu", "--evidence",
             str(folder), *VARY, "--try-refused", "--", "--model-path", MODEL]  # fmt: skip
    environment = {**os.environ, "FAKE": "backend", "PYTHONPATH": path}
    tool = subprocess.Popen(
        words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        records = read_records(folder) if folder.is_dir() else ()
        if len(records) == 2 and records[1]["phase"] in ("load", "warm-up", "smoke"):
            break
        time.sleep(0.05)
    tool.send_signal(signal.SIGKILL)
    tool.wait()
    cut = read_records(folder)
    assert [record["outcome"] for record in cut] == ["passed", "running"]
    time.sleep(4)
    done = subprocess.run(words, env=environment, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    after = read_records(folder)
    passed = [values(record) for record in after if record["outcome"] == "passed"]
    assert len(passed) == len(set(passed)) == 4
    # The first was kept, the second was begun anew.
    assert after[0]["id"] == cut[0]["id"]
    assert after[0]["updated"] == cut[0]["updated"]
    assert len(after) == 5


@pytest.mark.parametrize(
    ("vary", "said"),
    [
        ("no_such=1", "no server argument"),
        ("attention_backend=nonsense", "is no choice"),
        ("page_size", "name the values"),
    ],
)
def test_what_cannot_be_varied(probe: Probe, vary: str, said: str) -> None:
    done = probe("good", "--vary", vary, "--plan")
    assert done.code == 2
    assert said in done.err
