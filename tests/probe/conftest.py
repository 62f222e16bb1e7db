"""A stand-in for an installed SGLang, and a count of processes that must not be left."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from sgl_audit.cli import entry

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parents[1] / "fixtures"
MODEL = str(FIXTURES / "models" / "dense_bf16")


@dataclass(frozen=True)
class Probed:
    """How a probe ended, and its records, oldest first."""

    code: int
    out: str
    err: str
    records: tuple[dict[str, Any], ...]

    @property
    def record(self) -> dict[str, Any]:
        """The only record."""
        (found,) = self.records
        return found


Probe = Callable[..., Probed]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on PYTHONPATH with a small SGLang tree whose server is the stand-in."""
    folder = tmp_path / "site"
    shutil.copytree(FIXTURES / "dataclass_2026", folder)
    shutil.copy(HERE / "fake_launch_server.py", folder / "sglang" / "launch_server.py")
    _with_requirements(folder)
    _with_device(folder / "sglang" / "srt" / "server_args.py")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    for name in [name for name in os.environ if name.startswith(("SGL_AUDIT", "SGLANG"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SGL_AUDIT_CACHE_DIR", str(tmp_path / "cache"))
    return folder


def _with_requirements(folder: Path) -> None:
    """What the tree pins, as installed: only names and versions, which is all that is asked."""
    metadata = next(folder.glob("sglang-*.dist-info")) / "METADATA"
    pins = re.findall(r"^Requires-Dist: ([\w-]+)==([\w.]+)", metadata.read_text(), re.MULTILINE)
    assert pins
    for name, version in pins:
        info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def _with_device(path: Path) -> None:
    """The tree of the fixture knows GPUs only; actual releases have this flag and field."""
    text = path.read_text()
    flag = '        parser.add_argument("--page-size", type=int, default=ServerArgs.page_size)\n'
    field = "    page_size: Optional[int] = None\n"
    assert text.count(flag) == text.count(field) == 1
    text = text.replace(flag, f'{flag}        parser.add_argument("--device", default=None)\n')
    path.write_text(text.replace(field, f"{field}    device: Optional[str] = None\n"))


def read_records(folder: Path) -> tuple[dict[str, Any], ...]:
    """The records of a folder, oldest first."""
    return tuple(json.loads(path.read_text()) for path in sorted(folder.glob("[0-9]*.json")))


def family() -> set[int]:
    """Every process below this one."""
    return {item.pid for item in psutil.Process().children(recursive=True)}


@pytest.fixture
def probe(
    installed: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Probe:
    """Run `sgl-audit probe` on the CPU with the stand-in in one of its cases."""

    def call(case: str, *options: str, launch: tuple[str, ...] = ()) -> Probed:
        monkeypatch.setenv("FAKE", case)
        folder = tmp_path / "evidence"
        capfd.readouterr()
        code = entry.run(
            ["probe", "--device", "cpu", "--evidence", str(folder), *options, "--",
             "--model-path", MODEL, *launch]
        )  # fmt: skip
        out, err = capfd.readouterr()
        return Probed(code, out, err, read_records(folder) if folder.is_dir() else ())

    return call


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Whatever a test starts is gone when it ends."""
    before = family()
    yield
    left = family() - before
    names = [psutil.Process(pid).cmdline() for pid in left if psutil.pid_exists(pid)]
    assert not left, names
