"""The actual servers: where they are installed, their models, and a probe of one."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from sgl_audit.cli import entry

HERE = Path(__file__).resolve().parent
STANDIN = HERE / "standin"
FOLDER = os.environ.get("SGL_AUDIT_SERVERS", "")
MODELS = ("healthy", "nan", "latenan", "repeat", "mla")
SMALL = ("--max-total-tokens", "4096", "--max-running-requests", "4")
# Which of several sessions at once a server belongs to.
MARK = str(os.getpid())
HOW = (
    "the actual servers: tests/server/install.sh DIR, then SGL_AUDIT_SERVERS=DIR "
    "python3 -m pytest -q -m server tests/server"
)


@dataclass(frozen=True)
class Installed:
    """One release with its interpreter and models."""

    version: str
    python: str
    models: Path

    def model(self, name: str) -> str:
        return str(self.models / name)


def environment() -> dict[str, str]:
    """What the server's processes need beside the usual."""
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("SGL", "HF_"))}
    return {
        **kept,
        "PYTHONPATH": str(STANDIN),
        "SGLANG_USE_CPU_ENGINE": "1",
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "SERVER_TEST": MARK,
    }


def installed(version: str, base: Path) -> Installed:
    """A release that install.sh has put there, with models made on the spot."""
    python = str(Path(FOLDER) / version / "bin" / "python")
    models = base / version
    if not models.is_dir():
        words = [python, str(HERE / "make_models.py"), str(models), *MODELS]
        subprocess.run(words, env=environment(), check=True, capture_output=True, timeout=300)
    return Installed(version, python, models)


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def newer(base: Path) -> Installed:
    return installed("0.5.23", base)


@pytest.fixture(scope="session")
def older(base: Path) -> Installed:
    return installed("0.5.9", base)


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [n for n in os.environ if n.startswith(("SGL", "HF_"))]:
        monkeypatch.delenv(name)
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SGL_AUDIT_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """No process of a server is left, whatever a test did with it."""
    before = {item.pid for item in psutil.Process().children(recursive=True)}
    yield
    found = [p for p in psutil.Process().children(recursive=True) if p.pid not in before]
    found += [p for p in psutil.process_iter() if _of_a_server(p)]
    assert not found, [item.cmdline() for item in found]


def _of_a_server(item: psutil.Process) -> bool:
    """Whether a process was started by one of these tests: it has our stand-in on its path."""
    try:
        same = item.environ().get("PYTHONPATH") == str(STANDIN)
        return same and item.environ().get("SERVER_TEST") == MARK and item.pid != os.getpid()
    except psutil.Error:
        return False


Probe = Callable[..., dict[str, Any]]


@pytest.fixture
def probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Probe:
    """Probe one launch; gives its record."""

    def call(
        server: Installed,
        model: str,
        *options: str,
        launch: tuple[str, ...] = (),
        code: int | None = None,
        speed: int = 0,
    ) -> dict[str, Any]:
        folder = tmp_path / "evidence"
        measured = ("--concurrency", str(speed)) if speed else ("--no-speed",)
        words = ["probe", "--python", server.python, "--device", "cpu", *measured,
                 "--evidence", str(folder), *options, "--", "--model-path",
                 server.model(model), *SMALL, *launch]  # fmt: skip
        done = entry.run(words)
        record = read_records(folder)[-1]
        if code is not None:
            assert done == code, record["summary"]
        assert record["stopping"]["processes_left"] == 0
        return record

    return call


def read_records(folder: Path) -> list[dict[str, Any]]:
    """The records of a folder, oldest first."""
    return [json.loads(path.read_text()) for path in sorted(folder.glob("[0-9]*.json"))]


def verdicts(record: dict[str, Any]) -> dict[str, str]:
    """Subject -> agreement."""
    return {item["subject"]: item["agreement"] for item in record["compared"]}
