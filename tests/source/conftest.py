"""Small SGLang-like trees in every form a SOURCE can have."""

from __future__ import annotations

import os
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

PACKAGE = {
    "sglang/__init__.py": b"",
    "sglang/version.py": b'__version__ = "0.5.9"\n',
    "sglang/srt/__init__.py": b"",
    "sglang/srt/server_args.py": b'CHOICES = ["auto"]\n',
    "sglang/srt/configs/x.json": b'{"a": 1}',
}
PYTHON = tuple(sorted(path for path in PACKAGE if path.endswith(".py")))
METADATA = b"""\
Metadata-Version: 2.4
Name: sglang
Version: 0.5.9
Requires-Dist: flashinfer_python[cu13]==0.6.3
Requires-Dist: torch==2.9.1
Requires-Dist: sgl-kernel==0.3.21
"""
PYPROJECT = b"""\
[project]
name = "sglang"
version = "0.5.9"
dependencies = ["flashinfer_python==0.6.3", "torch==2.9.1"]
[project.optional-dependencies]
diffusion_all = ["diffusers==0.37.0"]
"""
WHEEL = {**PACKAGE, "sglang-0.5.9.dist-info/METADATA": METADATA}

WriteFiles = Callable[[Path, Mapping[str, bytes]], Path]
MakeWheel = Callable[..., Path]
Git = Callable[..., str]


@pytest.fixture
def write_files() -> WriteFiles:
    """Writes files below a folder and returns the folder."""

    def write(root: Path, files: Mapping[str, bytes]) -> Path:
        for path, data in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
        return root

    return write


@pytest.fixture
def checkout(tmp_path: Path, write_files: WriteFiles) -> Path:
    """A repository root with `python/sglang` and its pyproject.toml."""
    files = {f"python/{path}": data for path, data in PACKAGE.items()}
    return write_files(tmp_path / "repo", {**files, "python/pyproject.toml": PYPROJECT})


@pytest.fixture
def make_wheel(tmp_path: Path) -> MakeWheel:
    """Writes a wheel from names (or ready ZipInfos) and bytes."""

    def make(
        extra: Mapping[str | zipfile.ZipInfo, bytes] | None = None,
        *,
        base: Mapping[str, bytes] = WHEEL,
        name: str = "sglang-0.5.9-py3-none-any.whl",
    ) -> Path:
        path = tmp_path / name
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, data in [*base.items(), *(extra or {}).items()]:
                archive.writestr(member, data)
        return path

    return make


@pytest.fixture
def git() -> Git:
    """Runs the real git with an identity and without the user's configuration."""

    def run(directory: Path, *arguments: str) -> str:
        environment = {key: value for key, value in os.environ.items() if key[:4] != "GIT_"}
        environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        command = ["git", *identity, "-C", str(directory), *arguments]
        done = subprocess.run(command, env=environment, check=True, capture_output=True)
        return done.stdout.decode().strip()

    return run


@pytest.fixture
def repository(checkout: Path, git: Git) -> Path:
    """The checkout, committed and tagged v0.5.9, with a later change in the working tree."""
    git(checkout, "init", "-q", "-b", "main")
    git(checkout, "add", ".")
    git(checkout, "commit", "-q", "-m", "release")
    git(checkout, "tag", "v0.5.9")
    (checkout / "python/sglang/srt/server_args.py").write_bytes(b"CHOICES = []\n")
    return checkout
