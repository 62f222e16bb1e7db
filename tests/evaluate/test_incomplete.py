"""Trees with a broken or missing file: the answer is unknown, and says which file and line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sgl_audit.evaluate.resolver import Resolver
from sgl_audit.model.resolution import Launch, Outcome, Resolution
from sgl_audit.source import open_source

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "fixtures/models"
SRT = "sglang/srt"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "fixtures/dataclass_2026", tmp_path / "tree"))


def resolve(tree: Path) -> Resolution:
    model = str(sorted(path.parent for path in MODEL.glob("*/config.json"))[0])
    launch = Launch("one", "sm90", ("--model-path", model))
    return Resolver(open_source(str(tree))).resolve(launch)


def said(answer: Resolution) -> str:
    assert answer.outcome is Outcome.UNKNOWN
    assert answer.reason is not None
    assert answer.options
    return answer.reason


def test_whole(tree: Path) -> None:
    assert resolve(tree).outcome is Outcome.OK


@pytest.mark.parametrize(
    "path", ["model_executor/model_runner.py", "managers/scheduler.py", "layers/moe/utils.py"]
)
def test_a_file_that_does_not_parse(tree: Path, path: str) -> None:
    file = tree / SRT / path
    lines = file.read_text().count("\n")
    file.write_text(file.read_text() + "def broken(:\n")
    reason = said(resolve(tree))
    assert f"{SRT}/{path}:{lines + 1}" in reason
    assert "invalid syntax" in reason


def test_a_module_that_is_not_there(tree: Path) -> None:
    (tree / SRT / "layers/attention/attention_registry.py").unlink()
    reason = said(resolve(tree))
    assert "sglang.srt.layers.attention.attention_registry, which is not there" in reason
    assert f"{SRT}/model_executor/model_runner.py:" in reason


def test_no_scheduler(tree: Path) -> None:
    (tree / SRT / "managers/scheduler.py").unlink()
    answer = resolve(tree)
    assert "sglang.srt.managers.scheduler" in said(answer)
    assert answer.late is None
