"""Where reports go."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sgl_audit.errors import UsageError
from sgl_audit_reports.output import write_report


def test_replaces_the_file(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    assert write_report("one\n", str(target)) == target
    write_report("two é \ud800\n", str(target))
    assert target.read_text(encoding="utf-8") == "two é \\ud800\n"
    assert [path.name for path in target.parent.iterdir()] == ["report.html"]


def test_makes_no_folder_that_may_be_mistyped(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the folder .*/new does not exist; make it first"):
        write_report("x", str(tmp_path / "new" / "report.html"))
    assert not (tmp_path / "new").exists()


def test_a_link_is_written_through(tmp_path: Path) -> None:
    target, link, dangling = tmp_path / "target", tmp_path / "link", tmp_path / "dangling"
    target.write_text("old")
    link.symlink_to("target")
    dangling.symlink_to("made")
    write_report("new", str(link))
    assert link.is_symlink()
    assert target.read_text() == "new"
    write_report("first", str(dangling))
    assert dangling.is_symlink()
    assert (tmp_path / "made").read_text() == "first"


def test_other_names_of_the_file_see_the_report(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("old")
    (tmp_path / "two").hardlink_to(tmp_path / "one")
    write_report("new", str(tmp_path / "one"))
    assert (tmp_path / "two").read_text() == "new"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    # Open at both ends, so that neither side waits for the other.
    handle = os.open(pipe, os.O_RDWR)
    try:
        write_report("told", str(link))
        assert os.read(handle, 100) == b"told"
        write_report("again", f"/dev/fd/{handle}")
        assert os.read(handle, 100) == b"again"
    finally:
        os.close(handle)
    assert pipe.is_fifo()
    assert link.is_symlink()


def test_a_write_protected_file_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    target.write_text("mine")
    target.chmod(0o400)
    with pytest.raises(UsageError, match="is write-protected"):
        write_report("{}", str(target))
    assert target.read_text() == "mine"


def test_the_file_that_stdout_goes_to_is_stdout(tmp_path: Path) -> None:
    file = tmp_path / "out"
    program = (
        "from sgl_audit_reports.output import write_report; print('head', flush=True); "
        f"write_report('report\\n', {str(file)!r}); print('tail')"
    )
    with file.open("wb") as stdout:
        subprocess.run([sys.executable, "-c", program], stdout=stdout, env=_environment())
    assert file.read_text() == "head\nreport\ntail\n"


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
    with pytest.raises(UsageError, match="is a file, not a folder"):
        write_report("x", str(tmp_path / "file" / "report.html"))
    with pytest.raises(UsageError, match="is a folder; name a file in it"):
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
        env=_environment(),
    )
    assert process.stdout and process.stdin and process.stderr
    process.stdout.close()
    process.stdin.write(b"\n")
    process.stdin.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(30) == 0


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
