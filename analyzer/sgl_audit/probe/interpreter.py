"""What a Python interpreter has installed, asked in a process of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sgl_audit.errors import UsageError

_TIMEOUT_S = 180.0
# Nothing of SGLang is imported: only where it lies and what is installed beside it.
_SCRIPT = """
import importlib.metadata as m, importlib.util as u, json, platform, sys
found = {}
for item in m.distributions():
    name = item.metadata["Name"]
    if name:
        found.setdefault(name.lower().replace("_", "-"), item.version)
def where(name):
    spec = u.find_spec(name)
    found = list(spec.submodule_search_locations or []) if spec else []
    return found[0] if found else None
print(json.dumps({"version": platform.python_version(), "platform": platform.platform(),
                  "packages": found, "sglang": where("sglang"),
                  "transformers": where("transformers")}))
"""
# What decides which kernels there are; the rest of an environment is noise in a record.
_NAMED = (
    "sglang", "torch", "triton", "transformers", "flashinfer-python", "flashinfer-cubin",
    "flashinfer-jit-cache", "sgl-kernel", "sglang-kernel", "sgl-deep-gemm", "deep-gemm",
    "deep-ep", "xgrammar", "flash-attn-4", "nvidia-cutlass-dsl", "nvidia-cudnn-cu12",
    "nvidia-cudnn-cu13", "nvidia-cublas", "nvidia-cublas-cu12", "nvidia-nccl-cu12",
    "nvidia-nccl-cu13", "tilelang", "quack-kernels", "numpy", "cuda-python", "torchao",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Interpreter:
    """One interpreter.

    Attributes:
        packages: normalised distribution name -> version, everything installed.
        tree: folder of the SGLang package, or None where there is none.
        transformers: folder of that package, or None.
    """

    path: str
    version: str
    platform: str
    packages: Mapping[str, str]
    tree: Path | None
    transformers: Path | None = None

    @property
    def sglang(self) -> str | None:
        """The version of SGLang, where it is installed."""
        return self.packages.get("sglang")

    def named(self) -> tuple[tuple[str, str], ...]:
        """The versions that belong into a record."""
        return tuple((name, self.packages[name]) for name in _NAMED if name in self.packages)


def ask(python: str, environment: Mapping[str, str] | None = None) -> Interpreter:
    """Ask an interpreter.

    Raises:
        UsageError: there is no such program, or it is no Python that answers.
    """
    program = shutil.which(python)
    if program is None:
        raise UsageError(
            f"--python {python} is no program here; give a path such as venv/bin/python"
        )
    try:
        done = subprocess.run(
            [program, "-c", _SCRIPT],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
            env=dict(environment) if environment is not None else None,
        )
        told = json.loads(done.stdout.decode("utf-8", "replace").strip().splitlines()[-1])
        tree, beside = (Path(told[n]) if told[n] else None for n in ("sglang", "transformers"))
        return Interpreter(
            program, told["version"], told["platform"], told["packages"], tree, beside
        )
    except subprocess.TimeoutExpired as error:
        raise UsageError(
            f"--python {python} gave no answer within {_TIMEOUT_S:.0f} s; try it again, or give "
            "another one"
        ) from error
    except (OSError, subprocess.SubprocessError, ValueError, LookupError, TypeError) as error:
        raise UsageError(
            f"--python {python} does not answer as a Python interpreter; give one of Python 3"
        ) from error
