"""Answers kept between runs: the same bytes give the same answer without being worked out again,
and any change that may alter an answer is noticed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from sgl_audit import api
from sgl_audit.answers import keys
from sgl_audit.cli import asking

from .conftest import MODELS, TREE, Run

DENSE = MODELS / "dense_bf16"
AUDIT = ("audit", "--arch", "sm120", "--jobs", "1", "--transformers", "none", "--format", "json")
RESOLVE = ("resolve", "--arch", "sm120", "--transformers", "none", "--format", "json")


@pytest.fixture(autouse=True)
def keeping(alone: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SGL_AUDIT_NO_CACHE")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree to change. What was written a moment ago is otherwise known by its content."""
    monkeypatch.setattr("sgl_audit.source.folder._CLOCK_TICK_NS", 0)
    return Path(shutil.copytree(TREE, tmp_path / "tree"))


@pytest.fixture
def worked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was worked out, in order."""
    done: list[str] = []
    audit, resolve = api.audit, asking.resolve_each

    def auditing(*words: Any, **named: Any) -> Any:
        done.append("audit")
        return audit(*words, **named)

    def resolving(*words: Any, **named: Any) -> Any:
        done.append("resolve")
        return resolve(*words, **named)

    monkeypatch.setattr(api, "audit", auditing)
    monkeypatch.setattr(asking, "resolve_each", resolving)
    return done


def test_the_same_audit_is_made_once(run: Run, tree: Path, worked: list[str]) -> None:
    first, second = run(*AUDIT, tree), run(*AUDIT, tree)
    assert worked == ["audit"]
    assert (first.code, first.out) == (second.code, second.out)
    # Other forms of the same audit are made from it.
    page = run(*AUDIT[:-1], "html", tree)
    assert worked == ["audit"] and page.out.startswith("<!doctype html>")


def test_without_the_cache_it_is_made_anew_and_nothing_is_kept(
    run: Run, tree: Path, worked: list[str], tmp_path: Path
) -> None:
    run(*AUDIT, "--no-cache", tree)
    assert not list((tmp_path / "cache").rglob("*.answer"))
    run(*AUDIT, tree)
    run(*AUDIT, "--no-cache", tree)
    assert worked == ["audit"] * 3


def test_a_changed_file_makes_another_audit(run: Run, tree: Path, worked: list[str]) -> None:
    run(*AUDIT, tree)
    path = next(tree.rglob("server_args.py"))
    path.write_text(path.read_text("utf-8") + "\n# nothing else\n", "utf-8")
    run(*AUDIT, tree)
    assert worked == ["audit", "audit"]


@pytest.mark.parametrize(
    "more",
    [("--arch", "sm100"), ("--assume", "gpu_memory_mib=24000"), ("--arch", "rtx-5090")],
    ids=lambda words: " ".join(words),
)
def test_another_question_is_another_answer(
    run: Run, tree: Path, worked: list[str], more: tuple[str, ...]
) -> None:
    run(*AUDIT, tree)
    run(*AUDIT, *more, tree)
    assert worked == ["audit", "audit"]


def test_a_changed_tool_answers_anew(
    run: Run, tree: Path, worked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(*AUDIT, tree)
    monkeypatch.setattr("sgl_audit.answers.keys.tool_key", lambda: "another")
    run(*AUDIT, tree)
    assert worked == ["audit", "audit"]


def test_the_tool_is_known_by_its_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own = {Path(path).suffix for path, _ in keys._own_files()}
    assert ".py" in own
    names = [Path(path).as_posix() for path, _ in keys._own_files()]
    assert any(name.endswith("sgl_audit_reports/html/__init__.py") for name in names)
    assert len(names) == len(set(names))


def test_a_damaged_answer_is_made_again(
    run: Run, tree: Path, worked: list[str], tmp_path: Path
) -> None:
    first = run(*AUDIT, tree)
    kept = list((tmp_path / "cache").rglob("*.answer"))
    for path in kept:
        path.write_bytes(path.read_bytes()[:-10])
    # The audit, its parts, and pieces of files.
    assert len(kept) > 3
    assert run(*AUDIT, tree).out == first.out
    assert worked == ["audit", "audit"]


def test_a_launch_is_resolved_once_until_its_model_changes(
    run: Run, tree: Path, worked: list[str], tmp_path: Path
) -> None:
    model = Path(shutil.copytree(DENSE, tmp_path / "model"))
    words = (*RESOLVE, tree, "--", "--model-path", model)
    first = run(*words)
    assert run(*words).out == first.out
    assert worked == ["resolve"]
    config = model / "config.json"
    config.write_text(config.read_text("utf-8").replace('"bfloat16"', '"float16"'), "utf-8")
    run(*words)
    assert worked == ["resolve", "resolve"]
    (model / "generation_config.json").write_text("{}", "utf-8")
    run(*words)
    assert len(worked) == 3


def test_a_described_model_lies_elsewhere_each_time_and_is_the_same(
    run: Run, tree: Path, worked: list[str]
) -> None:
    words = (*RESOLVE, tree, "--model-arch", "Qwen3MoeForCausalLM")
    first = run(*words, "--", "--tp", "2")
    assert run(*words, "--", "--tp", "2").out == first.out
    assert worked == ["resolve"]
    run(*words, "--quantization-of", "FP8", "--", "--tp", "2")
    assert worked == ["resolve", "resolve"]


def test_a_file_of_settings_may_name_anything_and_is_not_kept(
    run: Run, tree: Path, worked: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "server.yaml"
    path.write_text(f"model-path: {DENSE}\n", "utf-8")
    words = (*RESOLVE, tree, "--", "--config", path)
    assert run(*words).out == run(*words).out
    assert worked == ["resolve", "resolve"]


def test_the_cache_says_what_it_holds_and_is_emptied(run: Run, tree: Path, tmp_path: Path) -> None:
    run(*AUDIT, tree)
    (tmp_path / "cache/results/answers/.answer-abcdefgh.part").write_bytes(b"x")
    assert "results" in run("cache", "info").out
    run("cache", "clear")
    assert not list((tmp_path / "cache").rglob("*"))
