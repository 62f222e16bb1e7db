"""Ctrl-C and signals at any moment: the program ends soon, and nothing of it is left behind."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path

import psutil
import pytest

from sgl_audit.cli.signals import ending_signals

from .conftest import FIXTURES, TREE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")


def start(tmp_path: Path, *arguments: str) -> subprocess.Popen[str]:
    """The program on its own, with its temporary folders where they can be seen."""
    for name in ("tmp", "cache"):
        (tmp_path / name).mkdir(exist_ok=True)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "TMPDIR": str(tmp_path / "tmp"),
        "SGL_AUDIT_CACHE_DIR": str(tmp_path / "cache"),
    }
    return subprocess.Popen(
        [sys.executable, "-c", "from sgl_audit.cli import main; main()", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )


AUDIT = (TREE, "--arch", "sm120", "--offline", "--no-progress")


DIFF = ("diff", str(FIXTURES / "flat_2025"), TREE, "--arch", "sm120", "--offline", "--no-progress")


@pytest.mark.parametrize("command", [AUDIT, DIFF], ids=["audit", "diff"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("share", [0.2, 0.6])
def test_at_any_moment(tmp_path: Path, name: str, share: float, command: tuple[str, ...]) -> None:
    number = getattr(signal, name)
    program = start(tmp_path, *command, "--jobs", "4")
    # Once it stands in click it has been set up; how long that takes depends on the machine.
    children = psutil.Process(program.pid)
    while children.cpu_times().user < 0.35 + share and program.poll() is None:
        time.sleep(0.01)
    program.send_signal(number)
    out, err = program.communicate(timeout=60)
    assert program.returncode in (128 + number, 1), err
    assert "Traceback" not in err
    assert list((tmp_path / "tmp").iterdir()) == []
    if program.returncode != 1:
        assert out == ""


# As the program loads: nothing of it is up that could turn an exception into a sentence.
IMPORTING = """
import os, signal, sys
left = int(sys.argv.pop(1))
def hook(event, given):
    global left
    if event == "import":
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGINT)
from sgl_audit.cli import main
sys.addaudithook(hook)
main()
"""


@pytest.mark.parametrize("imports", [1, 2, 8, 30, 100])
def test_while_it_loads(imports: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTING, str(imports), "rules"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr


def test_no_half_written_report(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text("old")
    program = start(tmp_path, *AUDIT, "-o", str(report))
    time.sleep(random.Random(7).uniform(0.5, 1.0))
    program.send_signal(signal.SIGTERM)
    program.communicate(timeout=60)
    text = report.read_text()
    assert text == "old" or text.rstrip().endswith("}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "report.json", "tmp"]


def test_an_interruption_that_python_drops_comes_again() -> None:
    class Loud:
        pass

    def lose(_: object) -> None:
        # What a weak reference calls cannot raise: Python says so and goes on.
        signal.raise_signal(signal.SIGINT)

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), ending_signals() as came:
        loud = Loud()
        kept = weakref.ref(loud, lose)
        del loud
        assert kept() is None
        while time.monotonic() < began + 20:
            time.sleep(0.01)
    assert came == [signal.SIGINT]
    assert time.monotonic() < began + 15


def test_tidying_up_is_not_interrupted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sgl_audit.cli.signals._PATIENCE_SECONDS", 0.05)
    tidied = False
    with pytest.raises(KeyboardInterrupt), ending_signals():
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            time.sleep(0.4)
            tidied = True
    assert tidied


def test_handlers_are_left_as_they_were() -> None:
    before = signal.getsignal(signal.SIGTERM), sys.unraisablehook
    with ending_signals():
        assert signal.getsignal(signal.SIGTERM) is not before[0]
    assert (signal.getsignal(signal.SIGTERM), sys.unraisablehook) == before
