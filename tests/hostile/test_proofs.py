"""Nothing of the analysed tree runs, nothing is fetched, nothing is written but what was asked for;
and the answer does not depend on anything but the question."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
WATCHED = Path(__file__).with_name("watched.py")
MODEL = str(FIXTURES / "models/nvfp4_moe_hybrid")


def booby_trapped(tree: Path, marker: Path) -> Path:
    """A tree of which every module leaves a mark when it runs, and so does what Python runs."""
    shutil.copytree(FIXTURES / "dataclass_2026", tree)
    trap = f"open({str(marker)!r}, 'a').write(__name__)\n"
    for path in tree.rglob("*.py"):
        path.write_text(path.read_text() + trap)
    for name in ("sitecustomize.py", "usercustomize.py", "conftest.py", "torch.py", "click.py"):
        (tree / name).write_text(trap)
    return tree


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Nothing of this machine but its programs."""
    for name in ("cache", "hub", "tmp"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(folder / "home"),
        "SGL_AUDIT_CACHE_DIR": str(folder / "cache"),
        "HF_HUB_CACHE": str(folder / "hub"),
        "TMPDIR": str(folder / "tmp"),
        **more,
    }


# Without --offline: whoever gives a tree of their own has not asked for the network.
@pytest.mark.parametrize(
    "command",
    [
        ("audit", "{tree}", "--arch", "sm120", "-o", "{out}/report.html"),
        ("resolve", "{tree}", "--arch", "sm120", "--model-config", MODEL),
        ("facts", "{tree}", "--format", "json"),
    ],
    ids=lambda command: command[0],
)
def test_nothing_runs_is_fetched_or_written(tmp_path: Path, command: tuple[str, ...]) -> None:
    marker, report, out = tmp_path / "marker", tmp_path / "told", tmp_path / "out"
    tree = booby_trapped(tmp_path / "hostile-tree", marker)
    out.mkdir()
    words = [word.format(tree=tree, out=out) for word in command]
    folders = os.pathsep.join(path for path in sys.path if path and "hostile-tree" not in path)
    before = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    done = subprocess.run(
        [sys.executable, "-I", str(WATCHED), str(report), folders, *words],
        # The folder that a careless program would import from.
        cwd=tree,
        env=environment(tmp_path, PYTHONPATH=str(tree), PYTHONDONTWRITEBYTECODE="1"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    assert not marker.exists()
    assert {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()} == before
    told = [line.split("\t", 1) for line in report.read_text().splitlines()]
    assert [line for line in told if line[0] in ("run", "import", "network", "start")] == []
    places = [str(ast.literal_eval(what)) for kind, what in told if kind == "write"]
    allowed = (str(out), str(tmp_path / "cache"), str(tmp_path / "tmp"), os.devnull)
    # Compiled copies of its own modules are Python's doing; bare names are below its own folders.
    outside = [
        place
        for place in places
        if Path(place).is_absolute()
        and not place.startswith(allowed)
        and "__pycache__" not in place
    ]
    assert outside == []
    assert list((tmp_path / "tmp").iterdir()) == []


def test_the_witness_hears_of_all_this(tmp_path: Path) -> None:
    package = tmp_path / "lib/sgl_audit"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (tmp_path / "lib/torch.py").write_text("")
    (package / "cli.py").write_text(
        "import socket, torch\n"
        "def main(arguments):\n"
        "    open(arguments[0], 'w').close()\n"
        "    try: socket.create_connection(('127.0.0.1', 9))\n"
        "    except PermissionError: pass\n"
    )
    report, written = tmp_path / "told", tmp_path / "written"
    words = [str(WATCHED), str(report), str(tmp_path / "lib"), str(written)]
    subprocess.run([sys.executable, "-I", *words], check=True)
    kinds = {line.split("\t")[0] for line in report.read_text().splitlines()}
    assert {"write", "import", "network"} <= kinds


def test_the_same_bytes_whatever_is_around(tmp_path: Path) -> None:
    tree = tmp_path / "one" / "tree"
    shutil.copytree(FIXTURES / "dataclass_2026", tree)
    # The same files, made in the other order.
    other = tmp_path / "two" / "tree"
    for path in sorted((path for path in tree.rglob("*") if path.is_file()), reverse=True):
        target = other / path.relative_to(tree)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    path = os.pathsep.join(filter(None, sys.path))
    ways = (
        (tree, "1", tmp_path, {"PYTHONHASHSEED": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC"}),
        (other, "2", tree, {"PYTHONHASHSEED": "4321", "LC_ALL": "C", "TZ": "Asia/Tokyo"}),
    )
    made = []
    for number, (source, jobs, folder, around) in enumerate(ways):
        out = tmp_path / f"out{number}"
        out.mkdir()
        files = [out / name for name in ("a.json", "a.html", "a.md", "a.txt")]
        words = [word for file in files for word in ("-o", str(file))]
        words += ["--arch", "sm120", "--arch", "sm90", "--jobs", jobs, "--offline"]
        done = subprocess.run(
            [sys.executable, "-m", "sgl_audit", str(source), *words],
            cwd=folder,
            env=environment(tmp_path, PYTHONPATH=path, **around),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1, done.stderr
        made.append([file.read_bytes() for file in files])
    for one, two in zip(*made, strict=True):
        assert one == two
