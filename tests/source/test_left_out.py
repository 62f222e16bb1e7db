"""Modules that are no part of the tree for what they are: never without a word."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from sgl_audit.cli import entry
from sgl_audit.source import open_source

FIXTURE = Path(__file__).resolve().parents[2] / "fixtures" / "dataclass_2026"
MODULE = Path("sglang", "srt", "layers", "quantization", "fp4_utils.py")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    copied = Path(shutil.copytree(FIXTURE, tmp_path / "tree"))
    (found,) = copied.rglob("fp4_utils.py")
    (tmp_path / "elsewhere.py").write_bytes(found.read_bytes())
    found.unlink()
    return copied


def left_out(tree: Path) -> list[str]:
    info = open_source(str(tree), offline=True).info
    return [str(item.place) for item in info.diagnostics if item.place is not None]


def test_what_is_left_out_of_the_code_has_a_place(tree: Path, tmp_path: Path) -> None:
    folder = next(tree.rglob("quantization"))
    (folder / "fp4_utils.py").symlink_to(tmp_path / "elsewhere.py")
    (folder / "nowhere.py").symlink_to(tmp_path / "not there.py")
    os.mkfifo(folder / "pipe.py")
    (folder / "notes.txt").symlink_to(tmp_path / "not there.txt")
    (folder / "linked").symlink_to(tmp_path)
    names = [place.rpartition("/")[2] for place in left_out(tree)]
    assert sorted(names) == ["fp4_utils.py:1", "linked:1", "nowhere.py:1", "pipe.py:1"]


@pytest.mark.parametrize("command", [("audit",), ("matrix",), ("facts",)])
def test_it_is_said_and_the_answer_is_not_complete(
    tree: Path, tmp_path: Path, command: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    link = next(tree.rglob("quantization")) / "fp4_utils.py"
    words = [*command, str(tree), "--arch", "sm120", "--offline"]
    link.symlink_to(tmp_path / "elsewhere.py")
    code = entry.run(words)
    said = capfd.readouterr().err
    line = "a symbolic link out of the package; the answer lacks what this file says"
    assert said.count(line) == 1
    # Findings come before incompleteness.
    assert code == 3 or command == ("audit",)
    link.unlink()
    shutil.copy(tmp_path / "elsewhere.py", link)
    assert entry.run(words) in (0, 1)
    assert "fp4_utils" not in capfd.readouterr().err
