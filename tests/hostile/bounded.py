"""The program on its own, with limits on time and memory that hold whatever it is given."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended, and what it took: processor seconds, and MiB of memory at most.

    Linux counts what the process that starts another one holds at that moment to the other's peak.
    """

    code: int
    out: str
    err: str
    seconds: float
    mib: int

    def lines(self) -> list[str]:
        """What it said on stderr."""
        return self.err.splitlines()


def copy_of(folder: Path, name: str = "dataclass_2026") -> Path:
    """A fixture tree that may be broken."""
    return Path(shutil.copytree(FIXTURES / name, folder / "tree"))


def ended(
    folder: Path,
    *words: str | Path,
    seconds: float = 20,
    mib: int = 400,
    around: Mapping[str, str] | None = None,
    before: Callable[[], None] | None = None,
) -> Ended:
    """Run the command line to its end; fails where it took more than it may."""
    for name in ("tmp", "cache", "home"):
        (folder / name).mkdir(exist_ok=True)
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "SGL_AUDIT_CACHE_DIR": str(folder / "cache"),
        "HF_HUB_CACHE": str(folder / "hub"),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        **(around or {}),
    }

    def limit() -> None:
        import resource

        most = int(seconds * 3)
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
        if before is not None:
            before()

    out, err = folder / "out", folder / "err"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        program = subprocess.Popen(
            [sys.executable, "-m", "sgl_audit", *map(str, words)],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            preexec_fn=limit,
        )
        status, used = _waited(program.pid, 600)
    program.returncode = os.waitstatus_to_exitcode(status)
    done = Ended(
        program.returncode,
        out.read_text(errors="replace"),
        err.read_text(errors="replace"),
        used.ru_utime + used.ru_stime,
        used.ru_maxrss // (1024 if sys.platform != "darwin" else 1024 * 1024),
    )
    assert "Traceback" not in done.err, done.err[-2000:]
    assert "internal error" not in done.err, done.err[-2000:]
    assert done.seconds <= seconds, f"{done.seconds:.1f} s of processor time"
    assert done.mib <= mib, f"{done.mib} MiB"
    return done


def _waited(pid: int, wall: float) -> tuple[int, Any]:
    """Wait for one process and what it used; end it where it blocks."""
    until = time.monotonic() + wall
    while time.monotonic() < until:
        found, status, used = os.wait4(pid, os.WNOHANG)
        if found:
            return status, used
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    _, status, used = os.wait4(pid, 0)
    return status, used
