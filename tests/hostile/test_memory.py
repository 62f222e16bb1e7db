"""All processes of a run together stay within a bound: what they share is counted once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from .bounded import FIXTURES

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts shared pages")
MIB = 1024 * 1024


def peak(*words: str, cache: Path | None = None) -> tuple[int, int, int]:
    """Exit code, MiB of all processes at once, and how many there were."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    if cache is not None:
        environment["SGL_AUDIT_CACHE_DIR"] = str(cache)
    program = psutil.Popen(
        [sys.executable, "-m", "sgl_audit", *words, "--no-progress"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    most = count = 0
    while program.poll() is None:
        now = []
        for process in (program, *_children(program)):
            try:
                now.append(process.memory_full_info().pss)
            except psutil.Error:
                continue
        most, count = max(most, sum(now)), max(count, len(now))
        time.sleep(0.05)
    return program.returncode, most // MIB, count


def _children(program: psutil.Process) -> list[psutil.Process]:
    try:
        return program.children(recursive=True)
    except psutil.Error:
        return []


def test_an_audit(tmp_path: Path) -> None:
    tree = str(FIXTURES / "dataclass_2026")
    words = ("audit", tree, "--arch", "sm120", "--offline", "--jobs", "2")
    code, mib, count = peak(*words, cache=tmp_path)
    assert code == 1
    assert count > 1
    assert 20 < mib < 300
