"""Where reports go."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sgl_audit.errors import UsageError
from sgl_audit_reports.output import write_report


def test_creates_the_folder_and_replaces_the_file(tmp_path: Path) -> None:
    target = tmp_path / "new" / "deep" / "report.html"
    assert write_report("one\n", str(target)) == target
    write_report("two é \ud800\n", str(target))
    assert target.read_text(encoding="utf-8") == "two é \\ud800\n"
    assert [path.name for path in target.parent.iterdir()] == ["report.html"]


def test_an_ordinary_file_has_ordinary_permissions(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    write_report("{}", str(target))
    (tmp_path / "plain").write_text("")
    assert target.stat().st_mode == (tmp_path / "plain").stat().st_mode
    target.chmod(0o600)
    write_report("{}", str(target))
    assert target.stat().st_mode & 0o777 == 0o600


def test_an_error_leaves_the_old_report_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "report.html"
    target.write_text("old")

    def full(self: Path, other: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UsageError, match=r"Cannot write the report to .*: No space left"):
        write_report("new", str(target))
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_folder_in_the_way_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="Cannot write the report"):
        write_report("x", str(tmp_path / "file" / "report.html"))
    with pytest.raises(UsageError, match="Cannot write the report"):
        write_report("x", str(tmp_path))


def test_dash_is_stdout(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert write_report("é\n", "-") is None
    assert capfdbinary.readouterr().out == "é\n".encode()


def test_a_closed_pipe_is_no_error() -> None:
    program = (
        "import sys; from sgl_audit_reports.output import write_report; "
        "sys.stdin.readline(); write_report('x' * 1_000_000, '-')"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert process.stdout and process.stdin and process.stderr
    process.stdout.close()
    process.stdin.write(b"\n")
    process.stdin.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(30) == 0
