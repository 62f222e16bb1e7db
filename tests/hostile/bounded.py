"""The program on its own, with limits on time and memory that hold whatever it is given."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

WALL = 600
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended, and what it took: processor seconds, and MiB of memory at most."""

    code: int
    out: str
    err: str
    seconds: float
    mib: int

    def lines(self) -> list[str]:
        """What it said on stderr."""
        return self.err.splitlines()


# Linux counts what a process holds that starts another one to the other's peak; this one is small.
STARTER = """
import json, os, resource, signal, sys, time
limits, wall, words = json.loads(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
pid = os.fork()
if pid == 0:
    for name, value in limits.items():
        resource.setrlimit(getattr(resource, name), (value, value))
    os.execv(words[0], words)
until, found = time.monotonic() + wall, 0
while not found:
    found, status, used = os.wait4(pid, os.WNOHANG)
    if not found and time.monotonic() > until:
        os.kill(pid, signal.SIGKILL)
        until = float("inf")
    time.sleep(0.02)
took = {"seconds": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss}
with open("took.json", "w") as file:
    json.dump({"code": os.waitstatus_to_exitcode(status), **took}, file)
"""


def copy_of(folder: Path, name: str = "dataclass_2026") -> Path:
    """A fixture tree that may be broken."""
    return Path(shutil.copytree(FIXTURES / name, folder / "tree"))


def ended(
    folder: Path,
    *words: str | Path,
    seconds: float = 20,
    mib: int = 400,
    around: Mapping[str, str] | None = None,
    limits: Mapping[str, int] | None = None,
) -> Ended:
    """Run the command line to its end; fails where it took more than it may.

    Args:
        limits: of the system, by their names in `resource`.
    """
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
    given = json.dumps({"RLIMIT_CPU": int(seconds * 3), **(limits or {})})
    program = [sys.executable, "-m", "sgl_audit", *map(str, words)]
    out, err = folder / "out", folder / "err"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        subprocess.run(
            [sys.executable, "-I", "-S", "-c", STARTER, given, str(WALL), *program],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            check=True,
        )
    took = json.loads((folder / "took.json").read_text())
    done = Ended(
        took["code"],
        out.read_text(errors="replace"),
        err.read_text(errors="replace"),
        took["seconds"],
        took["peak"] // (1024 if sys.platform != "darwin" else 1024 * 1024),
    )
    assert "Traceback" not in done.err, done.err[-2000:]
    assert "internal error" not in done.err, done.err[-2000:]
    assert done.seconds <= seconds, f"{done.seconds:.1f} s of processor time"
    assert done.mib <= mib, f"{done.mib} MiB"
    return done
