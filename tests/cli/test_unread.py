"""Files of the tree that cannot be read: said on stderr, on the first screen, and exit code 3."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from .conftest import FIXTURES, Run

PATH = "sglang/srt/layers/moe/utils.py"
BROKEN = {
    "syntax": b"def f(:\n",
    "nul": b"x = 1\n\0",
    "utf-16": "x = 1\n".encode("utf-16"),
    "latin-1": b"# moe_runner_backend \xe9\n",
    "deep": b"x = " + b"(" * 5000 + b")" * 5000,
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURES / "dataclass_2026", tmp_path / "tree"))


@pytest.mark.parametrize("kind", list(BROKEN))
def test_a_broken_file_is_named(run: Run, tree: Path, kind: str) -> None:
    (tree / PATH).write_bytes(b"# moe_runner_backend\n" + BROKEN[kind])
    done = run("facts", tree, "--format", "json")
    assert done.code == 3
    assert PATH in done.err
    assert len(done.err.splitlines()) == 1


def test_a_damaged_entry_of_a_wheel_is_named(run: Run, tree: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "sglang-0.5.90-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in sorted(path for path in tree.rglob("*") if path.is_file()):
            archive.write(file, file.relative_to(tree))
    data = wheel.read_bytes()
    inside = (tree / PATH).read_bytes()
    at = data.index(inside)
    wheel.write_bytes(data[:at] + b"?" * 20 + data[at + 20 :])
    done = run("facts", wheel)
    assert done.code == 3
    assert PATH in done.err


@pytest.mark.parametrize(
    "command",
    [
        ("facts",),
        ("graph",),
        ("show", "moe_runner_backend"),
        ("matrix", "--arch", "sm120"),
        ("families", "--arch", "sm120"),
        ("why", "moe_runner_backend=nothing_sets_this", "--arch", "sm120"),
        ("audit", "--arch", "sm120", "--fail-on", "never"),
    ],
)
def test_no_command_passes_over_it(run: Run, tree: Path, command: tuple[str, ...]) -> None:
    (tree / PATH).write_bytes(b"# moe_runner_backend\n" + BROKEN["syntax"])
    name, *rest = command
    done = run(name, tree, *rest, "--offline")
    assert done.code == 3
    assert f"{PATH}:2: not valid Python: invalid syntax" in done.err


def test_the_first_screen_says_so(run: Run, tree: Path) -> None:
    (tree / PATH).write_bytes(b"# moe_runner_backend\n" + BROKEN["syntax"])
    said = " ".join(run(tree, "--arch", "sm120", "--offline").out.split())
    assert f"NOT READ: {PATH}:2" in said


def test_a_whole_tree_has_nothing_to_say(run: Run, tree: Path) -> None:
    done = run("facts", tree)
    assert (done.code, done.err) == (0, "")
