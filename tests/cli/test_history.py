"""`sgl-audit history`: the tags of a clone, read once, in every form."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from .conftest import FIXTURES, Run

WORDS = ("--arch", "sm120", "--transformers", "none", "--option", "moe-runner-backend")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Three tags, of which the second changes nothing."""
    root = tmp_path / "clone"
    root.mkdir()
    git = ("git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run([*git, "init", "-q"], check=True)
    for tag, fixture, mark in (
        ("v0.1.0", "flat_2025", ""),
        ("v0.2.0", "flat_2025", "# nothing\n"),
        ("v0.3.0", "dataclass_2026", ""),
    ):
        subprocess.run(["rm", "-rf", str(root / "sglang")], check=True)
        subprocess.run(["cp", "-r", str(FIXTURES / fixture / "sglang"), str(root)], check=True)
        with (root / "sglang" / "__init__.py").open("a") as file:
            file.write(mark)
        for words in (("add", "-A"), ("commit", "-qm", tag), ("tag", tag)):
            subprocess.run([*git, *words], check=True)
    return root


def test_the_tags_of_a_clone(run: Run, clone: Path, tmp_path: Path) -> None:
    page, data = tmp_path / "h.html", tmp_path / "h.json"
    done = run("history", f"{clone}@v0.1.0..v0.3.0", *WORDS, "-o", "-", "-o", page, "-o", data)
    assert done.code == 0
    assert done.out.startswith("moe_runner_backend on sm120, 0.1.0 to 0.3.0")
    assert "with cutlass" in done.out
    assert page.read_text("utf-8").startswith("<!doctype html>")
    history = json.loads(data.read_text("utf-8"))
    assert [item["version"] for item in history["releases"]] == ["0.1.0", "0.2.0", "0.3.0"]
    assert {event["release"] for event in history["events"]} == {"0.3.0"}
    aspects = {event["aspect"] for event in history["events"]}
    assert {"choices", "gate", "launch"} <= aspects


def test_nothing_changes_between_two_tags(run: Run, clone: Path) -> None:
    done = run("history", f"{clone}@v0.1.0..v0.2.0", *WORDS)
    assert done.code == 0
    assert "nothing changes" in done.out


def test_what_was_read_is_kept(
    run: Run, clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SGL_AUDIT_NO_CACHE")
    first = run("history", f"{clone}@v0.1.0..v0.3.0", *WORDS)
    kept = sorted((tmp_path / "cache" / "results" / "answers").iterdir())
    assert len(kept) == 3
    monkeypatch.setattr("sgl_audit.review.snapshots._make", None)
    second = run("history", f"{clone}@v0.1.0..v0.3.0", *WORDS)
    assert second.out == first.out


@pytest.mark.parametrize(
    ("spec", "option", "said"),
    [
        ("v0.1.0..v0.9.0", "moe_runner_backend", "is no tag of"),
        ("v0.3.0..v0.1.0", "moe_runner_backend", "write the older tag first"),
        ("v0.1.0..main", "moe_runner_backend", "is no version tag"),
        ("v0.1.0..v0.2.0", "moe_runer_backend", "did you mean moe_runner_backend"),
    ],
)
def test_bad_input(run: Run, clone: Path, spec: str, option: str, said: str) -> None:
    words = ("--arch", "sm120", "--transformers", "none", "--option", option)
    done = run("history", f"{clone}@{spec}", *words)
    assert done.code == 2
    assert said in done.err.splitlines()[-1]
