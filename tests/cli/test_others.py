"""`kernels`, `rules`, `explain`, `cache`, `completion`, and what several commands rest on."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

import sgl_audit.rules
from sgl_audit import api
from sgl_audit.cli import entry, flags, kernel_reports, machine, output, stderr
from sgl_audit.errors import IncompleteError, UsageError
from sgl_audit.model.report import RuleDoc, Severity

from .conftest import TREE, Run

# The fixture of conftest stands in for it.
LOCAL_GPUS = machine.local_gpus
RULES = (
    RuleDoc("SGA101", Severity.ERROR, "a default that is refused", "Why it matters."),
    RuleDoc("SGA102", Severity.NOTE, "another"),
)


def flashinfer(folder: Path) -> Path:
    """A FlashInfer of one function."""
    package = folder / "flashinfer"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "version.py").write_text('__version__ = "0.6.3"\n')
    (package / "utils.py").write_text(
        "def supported_compute_capability(numbers):\n"
        "    def mark(f):\n        return f\n    return mark\n"
    )
    (package / "gemm.py").write_text("def mm():\n    pass\n")
    return folder


def test_kernels_of_a_library(run: Run, tmp_path: Path) -> None:
    source = flashinfer(tmp_path / "fi")
    found = json.loads(run("kernels", "--flashinfer", source, "--format", "json").out)
    assert found["format"] == 1
    assert isinstance(found["functions"], dict)
    assert "functions declare where they work" in run("kernels", "--flashinfer", source).out


def test_kernels_of_a_binary_that_is_none(run: Run, tmp_path: Path) -> None:
    wheel = tmp_path / "x-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("x/__init__.py", "")
    done = run("kernels", "--binary", wheel, "--arch", "sm120")
    assert done.code == 0
    assert "sm120" in done.out
    assert "unknown" in done.out
    found = json.loads(run("kernels", "--binary", wheel, "--format", "json").out)
    assert found["binaries"][0]["covers"]["sm120"]["answer"] == "unknown"
    assert "no such file" in run("kernels", "--binary", tmp_path / "no.whl").err


def test_kernels_of_what_a_tree_pins(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = flashinfer(tmp_path / "fi")
    asked = []

    def open_pinned(tree: Any, wanted: Any, version: str, **given: Any) -> Any:
        asked.append((version, given["fetch"]))
        return kernel_reports.open_source(
            str(source), package=wanted.package, distribution=wanted.distribution
        )

    monkeypatch.setattr(kernel_reports, "open_pinned", open_pinned)
    assert run("kernels", TREE, "--format", "json").code == 0
    assert run("kernels", TREE, "--format", "json", "--fetch").code == 0
    assert asked == [("0.6.3", False), ("0.6.3", True)]


def test_rules_and_explain(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sgl_audit.rules, "all_rules", lambda: RULES, raising=False)
    assert "SGA102" in run("rules").out
    for name in ("SGA101", "sga101", "101"):
        assert "Why it matters." in run("explain", name).out
    done = run("explain", "SGA999")
    assert done.code == 2
    assert "there is no rule 'SGA999'" in done.err


def test_cache_clear_keeps_what_is_not_ours(run: Run, tmp_path: Path) -> None:
    root, outside = tmp_path / "cache", tmp_path / "outside"
    wheel = "sglang/0.5.9/sglang-0.5.9-py3-none-any.whl"
    result = f"results/kind/{'0f' * 32}.json"
    ours = [f"wheels/{wheel}", "wheels/sglang/.fetch-abc_1234/part.whl", result]
    others = [
        "mine.txt",
        "wheels/mine/f.txt",
        "wheels/top.txt",
        "wheels/sglang/0.5.9/notes.md",
        "wheels/sglang/0.5.9/other-1-py3-none-any.whl",
        "results/z",
    ]
    for name in (*ours, *others):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(bytes(1_000_000))
    (outside / wheel).parent.mkdir(parents=True)
    (outside / wheel).write_text("keep")
    (root / "facts").symlink_to(outside)
    said = run("cache", "info").out
    assert "1.0 MB  wheels/sglang/0.5.9" in said
    assert ": 3.0 MB" in said
    assert "3.0 MB removed" in run("cache", "clear").out
    left = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    assert left == set(others)
    assert not (root / "results/kind").exists()
    assert (outside / wheel).read_text() == "keep"
    assert run("cache", "info", "--cache-dir", tmp_path / "none").out.endswith(": 0.0 MB\n")


def test_cache_info_does_not_leave_the_folder(run: Run, tmp_path: Path) -> None:
    outside = tmp_path / "outside" / "sglang/0.5.9"
    outside.mkdir(parents=True)
    (outside / "sglang-0.5.9-py3-none-any.whl").write_bytes(bytes(1_000_000))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/wheels").symlink_to(tmp_path / "outside")
    for action in ("info", "clear"):
        done = run("cache", action)
        assert done.code == 0
        assert "0.0 MB" in done.out
    assert any(outside.iterdir())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(run: Run, shell: str) -> None:
    done = run("completion", shell)
    assert done.code == 0
    assert "_SGL_AUDIT_COMPLETE" in done.out


def test_a_mistyped_command_is_told_from_a_source(run: Run) -> None:
    done = run("resovle", TREE)
    assert done.code == 2
    assert "did you mean resolve?" in done.err
    assert run("--nonsense").code == 2


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (UsageError("first\nsecond"), 2, "sgl-audit: first second.\n"),
        (IncompleteError("not done."), 3, "sgl-audit: not done.\n"),
        (KeyboardInterrupt(), 130, ""),
        (BrokenPipeError(32, "Broken pipe"), 0, ""),
        (ValueError("odd\x1b[31m"), 3, "sgl-audit: internal error (ValueError: odd\\x1b[31m); "),
    ],
)
def test_every_ending_has_its_code(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, said: str
) -> None:
    def fail(*words: Any, **given: Any) -> None:
        raise error

    monkeypatch.setattr(api, "facts", fail)
    done = run("facts", TREE)
    assert done.code == code
    assert done.err.strip().startswith(said.strip())
    assert "Traceback" not in done.err


def test_the_traceback_comes_on_request(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*words: Any, **given: Any) -> None:
        raise ValueError("odd")

    monkeypatch.setattr(api, "facts", fail)
    monkeypatch.setenv(entry.DEBUG_VARIABLE, "1")
    assert "Traceback" in run("facts", TREE).err


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("12.0, NVIDIA GeForce RTX 5090", ("sm120", "rtx-5090", "NVIDIA GeForce RTX 5090")),
        ("9.0, NVIDIA H100 80GB HBM3", ("sm90", None, "NVIDIA H100 80GB HBM3")),
        ("10.0, NVIDIA B200", ("sm100", "b200", "NVIDIA B200")),
        ("99.0, NVIDIA Z1", None),
        ("No devices were found", None),
        ("", None),
    ],
)
def test_a_line_of_nvidia_smi(line: str, expected: tuple[str, str | None, str] | None) -> None:
    assert machine.read_gpu(line) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ('echo "9.0, NVIDIA H200"; echo "9.0, NVIDIA H200"', (("sm90", "h200", "NVIDIA H200"),)),
        ("exit 9", ()),
        ("sleep 5", ()),
    ],
)
def test_nvidia_smi_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, expected: tuple[Any, ...]
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(machine.shutil, "which", lambda name: str(program))
    monkeypatch.setattr(machine, "_TIMEOUT_S", 0.5)
    assert LOCAL_GPUS() == expected
    monkeypatch.setattr(machine.shutil, "which", lambda name: None)
    assert LOCAL_GPUS() == ()


def wheels(folder: Path, **texts: str) -> Iterator[tuple[Version, Path]]:
    """SGLang wheels that hold one server_args.py each."""
    for version, text in texts.items():
        path = folder / f"sglang-{version.strip('v').replace('_', '.')}-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as wheel:
            wheel.writestr("sglang/srt/server_args.py", text)
        yield Version(version.strip("v").replace("_", ".")), path


def test_other_versions_tell_since_when_a_flag_exists(tmp_path: Path) -> None:
    list(wheels(tmp_path, v0_4_0='"--old-one"', v0_5_0="x", v0_6_0="    new_one: A[str]\n"))
    found = flags.wheels_at_hand(tmp_path / "no", str(tmp_path / "sglang-0.5.0-py3-none-any.whl"))
    assert [str(version) for version, _ in found] == ["0.4.0", "0.5.0", "0.6.0"]
    tree: Any = type("Tree", (), {"info": api.open_source(TREE).info})
    since = flags.sentence("--new-one", frozenset(), tree, flags.elsewhere("--new-one", found))
    until = flags.sentence("--old-one", frozenset(), tree, flags.elsewhere("--old-one", found))
    assert since.startswith("--new-one is first seen in 0.6.0 (releases at hand: 0.4.0, ")
    assert until.startswith("--old-one was last seen in 0.4.0")
    assert flags.sentence("--none", frozenset(), tree, ()) == ""


def test_a_damaged_wheel_says_nothing_of_flags(tmp_path: Path) -> None:
    path = tmp_path / "sglang-0.5.0-py3-none-any.whl"
    path.write_bytes(b"no zip")
    assert flags.elsewhere("--x", [(Version("0.5.0"), path)]) == ()


class Terminal:
    """A stderr that is watched."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError


def test_a_bar_is_drawn_only_for_long_work_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with stderr.Feedback() as feedback:
        feedback.progress("reading")(1, 2)
        assert terminal.text == ""
        monkeypatch.setattr(stderr, "PATIENCE_S", 0.0)
        feedback.progress("reading")(2, 2)
        assert "reading" in terminal.text
        feedback.notify("one line")
        assert terminal.text.endswith("sgl-audit: one line\n")
    with stderr.Feedback(bar=False) as feedback:
        before = terminal.text
        feedback.progress("reading")(2, 2)
        assert terminal.text == before


@pytest.mark.parametrize(
    ("variables", "asked", "expected"),
    [({}, "auto", "never"), ({"FORCE_COLOR": "1"}, "auto", "always"),
     ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, "auto", "never"), ({}, "always", "always")],
)  # fmt: skip
def test_colour(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], asked: str, expected: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    text = output.on_terminal(lambda c: c.print("x", style="red"), "-", asked)
    assert ("\x1b[" in text) is (expected == "always")


def sgl_audit_program(*words: str, **given: Any) -> subprocess.CompletedProcess[str]:
    """The program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "sgl_audit", *words],
        capture_output=True,
        text=True,
        check=False,
        **given,
    )


HEAVY = {"libcst", "networkx", "rich", "jinja2", "yaml", "sgl_audit_reports", "sgl_audit.evaluate"}


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["resolve", "-h"], ["audit", "-h"]])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    code = (
        "import sys\nfrom sgl_audit.cli.entry import run\n"
        f"code = run({words!r})\nprint(sorted(set(sys.modules) & {HEAVY!r}), code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[] 0"


def test_the_program_names_itself() -> None:
    done = sgl_audit_program("--version")
    assert done.stdout.startswith("sgl-audit 0.")
    assert "libcst 1." in done.stdout
    assert "python -m sgl_audit" in sgl_audit_program("-h").stdout


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    command = f"{sys.executable} -m sgl_audit facts {TREE} --format json"
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -c 1; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "{0\n"
    assert done.stderr == ""


def test_a_pipe_closed_during_a_batch_is_no_error(tmp_path: Path) -> None:
    row = {"id": "x" * 70_000, "arch": "sm120", "argv": ["--model-path", "a/b"]}
    file = tmp_path / "batch.jsonl"
    file.write_text(json.dumps(row) + "\n" + json.dumps(row) + "\n")
    words = f"resolve {TREE} --transformers none --batch {file}"
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m sgl_audit {words} | true; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "0\n"
    assert [line for line in done.stderr.splitlines() if "transformers" not in line] == []


def test_exit_codes_of_the_program() -> None:
    assert sgl_audit_program("facts", "/nowhere/at/all").returncode == 2
    assert sgl_audit_program("facts", TREE).returncode == 0
    assert sgl_audit_program("--arch").returncode == 2
