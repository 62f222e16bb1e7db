"""The command line run in this process, on fixtures, away from the user's own settings."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from sgl_audit.cli import entry, machine

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
TREE = str(FIXTURES / "dataclass_2026")
MODELS = FIXTURES / "models"


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings, caches or GPUs of this machine."""
    for name in [name for name in os.environ if name.startswith("SGL_AUDIT")]:
        monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SGL_AUDIT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("SGL_AUDIT_NO_CACHE", "1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(machine, "local_gpus", lambda: ())


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Run the command line; gives its exit code and what it wrote."""

    def call(*arguments: str | Path) -> Done:
        capfd.readouterr()
        code = entry.run([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return Done(code, out, err)

    return call
