"""Inputs made to hurt: each ends with its exit code and a sentence, in bounded time and memory."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from .bounded import FIXTURES, copy_of, ended

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")

AUDIT = ("--arch", "sm120", "--offline", "--jobs", "1", "--no-progress")
OPTIONS = "sglang/srt/server_args.py"
DENSE = FIXTURES / "models/dense_bf16"
MIB = 1024 * 1024
BROKEN = {
    "parentheses": "x = " + "(" * 3000 + ")" * 3000,
    "elifs": "if x == 0:\n    y = 0\n"
    + "".join(f"elif x == {n}:\n    y = 1\n" for n in range(20_000)),
    "nested": "if x == 0:\n    y = 0\n"
    + "".join(f"elif x == {n}:\n    y = 1\n" for n in range(300)),
    "not": "x = " + "not " * 3000 + "y",
    "large": "#" * 50_000_000,
    "long": "x = [1]\n" * 400_000,
}
# Valid, and more of it than anyone writes.
HEAVY = {
    "attributes": "x = y" + ".a" * 900,
    "sums": "x = 1" + " + 1" * 900,
    "returns": "def f(moe_runner_backend):\n"
    + "".join(f"    if moe_runner_backend == 'x{n}':\n        return {n}\n" for n in range(2000)),
    "chain": "def g(moe_runner_backend):\n    if moe_runner_backend == '':\n        return 0\n"
    + "".join(f"    elif moe_runner_backend == 'x{n}':\n        return {n}\n" for n in range(150)),
    "or": "def h(moe_runner_backend):\n    if "
    + " or ".join(f"moe_runner_backend == 'x{n}'" for n in range(2000))
    + ":\n        raise ValueError",
}


def test_files_beyond_reading(tmp_path: Path) -> None:
    tree = copy_of(tmp_path)
    for folder in ("layers", "models"):
        for kind, text in BROKEN.items():
            path = tree / f"sglang/srt/{folder}/{kind}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"# moe_runner_backend\nclass Odd{kind}(object): ...\n{text}\n")
    report = tmp_path / "report.json"
    words = ("audit", tree, *AUDIT, "--fail-on", "never", "-o", report)
    done = ended(tmp_path, *words, seconds=15, mib=300)
    assert done.code == 3
    assert "more files could not be read" in done.err
    said = report.read_text()
    for folder in ("layers", "models"):
        for kind in BROKEN:
            assert f"{folder}/{kind}.py" in said, kind


def test_more_than_anyone_writes(tmp_path: Path) -> None:
    tree = copy_of(tmp_path)
    for kind, text in HEAVY.items():
        (tree / f"sglang/srt/layers/{kind}.py").write_text(f"# moe_runner_backend\n{text}\n")
    done = ended(tmp_path, "audit", tree, *AUDIT, seconds=25, mib=300)
    assert done.code in (1, 3), done.err
    assert len(done.lines()) <= len(HEAVY)


def resolution(tmp_path: Path, code: str, *, seconds: float = 15) -> dict[str, object]:
    """The answer to a launch of a tree that also runs some code at the end of its resolution."""
    tree = copy_of(tmp_path)
    text = (tree / OPTIONS).read_text()
    call = "        self._handle_page_size()\n"
    assert text.count(call) == 1
    (tree / OPTIONS).write_text(text.replace(call, f"{call}        last(self)\n") + code)
    words = ("resolve", tree, "--model-config", DENSE, "--format", "json")
    done = ended(tmp_path, *words, *AUDIT[:3], seconds=seconds, mib=300)
    assert done.code in (0, 1, 3), done.err
    found = json.loads(done.out)
    return found["resolutions"][0] if "resolutions" in found else found


@pytest.mark.parametrize(
    "code",
    [
        "def last(args):\n    return other(args)\ndef other(args):\n    return last(args)\n",
        "def last(args, n=0):\n    for _ in (1, 2, 3):\n        last(args, n + 1)\n",
        "def last(args):\n    while True:\n        args.page_size += 1\n",
        "class Odd:\n    def __getattr__(self, name):\n        return getattr(self, name)\n"
        "def last(args):\n    return Odd().x\n",
    ],
    ids=["each other", "thrice", "endless", "attribute"],
)
def test_code_without_an_end_is_unknown(tmp_path: Path, code: str) -> None:
    assert resolution(tmp_path, code)["outcome"] != "ok"


def test_guards_that_double(tmp_path: Path) -> None:
    doubling = "def last(args):\n    import torch\n    x = ''\n" + "".join(
        f"    if torch.unknown_{n}():\n        x += 'a'\n    else:\n        x += '{n}'\n"
        for n in range(60)
    )
    found = resolution(tmp_path, f"{doubling}    args.moe_runner_backend = x\n", seconds=25)
    assert "moe_runner_backend" in json.dumps(found)


def test_ten_thousand_choices(tmp_path: Path) -> None:
    tree = copy_of(tmp_path)
    text = (tree / OPTIONS).read_text()
    more = "".join(f'    "choice_{n}",\n' for n in range(10_000))
    head = "MOE_RUNNER_BACKEND_CHOICES = [\n"
    (tree / OPTIONS).write_text(text.replace(head, head + more))
    report = tmp_path / "report.json"
    done = ended(tmp_path, "audit", tree, *AUDIT, "-o", report, seconds=40, mib=600)
    assert done.code == 1, done.err
    assert '"choice_9999"' in report.read_text()


def test_names_links_and_devices_change_nothing(tmp_path: Path) -> None:
    tree = copy_of(tmp_path)
    words = ("facts", tree, "--format", "json")
    before = ended(tmp_path, *words)
    folder = tree / "sglang/srt/layers"
    for name in ("<img src=x onerror=alert(1)>.py", "a\nb.py", "[bold red]x.py", "\x1b[31mred.py"):
        (folder / name).write_text("x = 1\n")
    (folder / "loop").symlink_to("loop")
    (folder / "up").symlink_to("..")
    (folder / "zero.py").symlink_to("/dev/zero")
    (folder / "out.py").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe.py")
    after = ended(tmp_path, *words)
    facts = json.loads(after.out)
    assert {name: value for name, value in facts.items() if name != "diagnostics"} == {
        name: value for name, value in json.loads(before.out).items() if name != "diagnostics"
    }
    assert "\x1b" not in after.err
    assert "/etc/passwd" not in after.out


@pytest.mark.parametrize("kind", ["one folder", "many folders", "empty folders"])
def test_a_flood_of_files(tmp_path: Path, kind: str) -> None:
    # Where links cost no space; the limit is the same for a million.
    base = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else tmp_path
    flood = base / f"sgl-audit-flood-{os.getpid()}"
    try:
        tree = flood / "sglang/srt"
        tree.mkdir(parents=True)
        (tree / "server_args.py").write_text("x = 1\n")
        for number in range(50_500 if kind == "empty folders" else 205):
            folder = tree / ("one" if kind == "one folder" else str(number))
            folder.mkdir(exist_ok=True)
            if kind == "empty folders":
                for name in "abc":
                    (folder / name).mkdir()
                continue
            first = folder / f"{number}.py"
            first.write_text("")
            for inner in range(999):
                os.link(first, folder / f"{number}_{inner}.py")
        done = ended(tmp_path, "facts", flood, seconds=15, mib=300)
    finally:
        shutil.rmtree(flood, ignore_errors=True)
    assert done.code == 2
    assert len(done.lines()) == 1
    assert "far more than any release" in done.err


def test_a_wheel_with_a_million_members(tmp_path: Path) -> None:
    wheel = tmp_path / "sglang-0.5.9-py3-none-any.whl"
    names = (f"sglang/{n:07}.py".encode() for n in range(1_000_000))
    entry = struct.Struct("<4s4B4HL2L5H2L")
    head = (b"PK\x01\x02", 20, 3, 20, 0, 0, 0, 0, 33, 0, 0, 0)
    directory = b"".join(entry.pack(*head, len(name), 0, 0, 0, 0, 0, 0) + name for name in names)
    large = struct.pack(
        "<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, *(10**6,) * 2, len(directory), 0
    )
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, len(directory), 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    wheel.write_bytes(directory + large + locator + end)
    done = ended(tmp_path, "facts", wheel, seconds=5, mib=250)
    assert done.code == 2
    assert "refused as a zip bomb" in done.err
    assert len(done.lines()) == 1


@pytest.mark.parametrize("kind", ["200 MB", "NaN", "Infinity", "deep", "twice", "number"])
def test_a_config_json_made_to_hurt(tmp_path: Path, kind: str) -> None:
    model = tmp_path / "model"
    model.mkdir()
    text = (DENSE / "config.json").read_text()
    field = '"num_attention_heads": '
    assert field in text
    match kind:
        case "200 MB":
            with (model / "config.json").open("w") as file:
                file.write(text)
                file.truncate(200 * MIB)
        case "deep":
            (model / "config.json").write_text(text.replace("{", '{"x": ' + "[" * 10**5, 1))
        case "twice":
            (model / "config.json").write_text(text.replace("{", '{"architectures": 7, ', 1))
        case "number":
            (model / "config.json").write_text(text.replace(field, field + "9" * 5000, 1))
        case _:
            (model / "config.json").write_text(text.replace(field, f'"x": {kind}, {field}', 1))
    tree = FIXTURES / "dataclass_2026"
    words = ("resolve", tree, "--model-config", model, *AUDIT[:3], "--format", "json")
    done = ended(tmp_path, *words, seconds=10, mib=300)
    assert done.code in (0, 1, 2, 3)
    if done.code == 2:
        assert len(done.lines()) == 1
    else:
        json.loads(done.out)


def test_a_launch_file_of_a_hundred_thousand_lines(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    line = f"python -m sglang.launch_server --model-path {DENSE} \\\n"
    script.write_text("export A=1\n" * 100_000 + line + "  --tp 2\n")
    words = ("resolve", FIXTURES / "dataclass_2026", *AUDIT[:3], "--launch-file", script)
    done = ended(tmp_path, *words, seconds=20, mib=300)
    assert done.code in (0, 1), done.err
    assert done.lines() == []


@pytest.mark.parametrize(
    "words",
    [
        ("facts", "{pipe}"),
        ("resolve", "{tree}", "--batch", "{pipe}"),
        ("resolve", "{tree}", "--arch", "sm120", "--launch-file", "{pipe}"),
        ("resolve", "{tree}", "--arch", "sm120", "--model-config", "{pipe}"),
        ("audit", "{tree}", "--arch", "sm120", "--config", "{pipe}"),
        ("audit", "{tree}", "--arch", "sm120", "--baseline", "{pipe}"),
        ("audit", "{tree}", "--arch", "sm120", "--advisories", "{pipe}"),
        ("kernels", "--binary", "{pipe}"),
    ],
    ids=lambda words: words[-2].strip("-"),
)
def test_a_pipe_that_nobody_writes_to(tmp_path: Path, words: tuple[str, ...]) -> None:
    pipe = tmp_path / "pipe.whl"
    os.mkfifo(pipe)
    # A reader of a pipe waits for somebody who writes; `<(command)` in a shell is one that has.
    given = [word.format(pipe=pipe, tree=FIXTURES / "dataclass_2026") for word in words]
    done = ended(tmp_path, *given, "--offline", seconds=10)
    assert done.code == 2, (done.code, done.err)
    assert len(done.lines()) <= 2
    assert "pipe.whl" in done.lines()[-1]


@pytest.mark.parametrize("form", ["html", "json", "sarif"])
def test_a_disk_that_is_full(tmp_path: Path, form: str) -> None:
    report = tmp_path / f"report.{form}"
    report.write_text("old")
    words = ("audit", FIXTURES / "flat_2025", *AUDIT, "-o", report)

    # Python itself leaves half a compiled module behind where the disk is full.
    around = {"PYTHONDONTWRITEBYTECODE": "1"}
    done = ended(tmp_path, *words, around=around, limits={"RLIMIT_FSIZE": 4096})
    assert done.code == 2, done.err
    assert len(done.lines()) == 1
    assert report.name in done.err
    assert report.read_text() == "old"
    assert sorted(path.name for path in tmp_path.glob("*report*")) == [report.name]


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    words = ("audit", FIXTURES / "flat_2025", *AUDIT)
    around = {"SGL_AUDIT_CACHE_DIR": "/dev/null/cache"}
    done = ended(tmp_path, *words, around=around)
    assert (done.code, done.err) == (1, "")


def test_two_at_once_on_one_cache(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "sgl_audit", "facts", str(FIXTURES / "flat_2025")]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "SGL_AUDIT_CACHE_DIR": str(tmp_path / "cache"),
    }
    both = [
        subprocess.Popen([*words, "--format", "json"], stdout=subprocess.PIPE, env=environment)
        for _ in range(2)
    ]
    said = [program.communicate(timeout=300)[0] for program in both]
    assert [program.returncode for program in both] == [0, 0]
    assert said[0] == said[1] != b""


@pytest.mark.parametrize("ref", ["--output=x", "-x", "--upload-pack=touch x", "", "..", "a b"])
def test_git_refs_that_are_options(tmp_path: Path, ref: str) -> None:
    done = ended(tmp_path, "facts", f"{tmp_path}@{ref}", seconds=5)
    assert done.code == 2
    assert len(done.lines()) == 1
    assert not (tmp_path / "x").exists()
