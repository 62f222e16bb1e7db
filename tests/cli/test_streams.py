"""Standard streams that are closed or full: one sentence and an exit code, never a traceback."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import TREE

FULL = Path("/dev/full")


def shell(arguments: str, redirection: str) -> subprocess.CompletedProcess[str]:
    """The program with its streams as a shell redirects them."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    line = f"{shlex.quote(sys.executable)} -m sgl_audit {arguments} {redirection}"
    return subprocess.run(
        line, shell=True, capture_output=True, text=True, env=environment, check=False
    )


@pytest.mark.parametrize(
    "arguments", [f"{TREE} --arch sm120 --offline", "rules", "--help", "cache info", "--version"]
)
@pytest.mark.parametrize("redirection", [">&-", ">/dev/full"])
def test_stdout_that_takes_nothing(arguments: str, redirection: str) -> None:
    if redirection.endswith("full") and not FULL.exists():
        pytest.skip("this system has no /dev/full")
    done = shell(arguments, redirection)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "cannot be written" in done.stderr or "Cannot write" in done.stderr
    assert "internal error" not in done.stderr


def test_a_report_in_a_file_needs_no_stdout(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    done = shell(f"{TREE} --arch sm120 --offline -o {shlex.quote(str(file))}", ">&-")
    assert done.returncode == 1
    assert file.read_text().startswith("{")
    assert "wrote" in done.stderr


@pytest.mark.parametrize("arguments", ["/nope", "--bogus"])
def test_the_exit_code_needs_no_stderr(arguments: str) -> None:
    assert shell(arguments, "2>&-").returncode == 2


def test_a_report_is_not_written_into_what_was_stderr() -> None:
    done = shell(f"{TREE} --arch sm120 --offline --no-progress", "2>&-")
    assert done.returncode == 1
    assert done.stdout.startswith("sgl-audit")
