"""The GPUs of this machine: through NVML, else through `nvidia-smi`."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from sgl_audit.errors import UsageError
from sgl_audit.model.capability import parse_capability

_QUERY = "--query-gpu=compute_cap,name,memory.total,memory.used,driver_version"
_TIMEOUT_S = 10.0
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU. `capability` is "sm120", or "" where the tool does not know its number."""

    capability: str
    name: str
    memory_mib: int
    used_mib: int
    driver: str


def gpus() -> tuple[Gpu, ...]:
    """Every GPU here; empty where there is none or neither way can ask."""
    try:
        return tuple(_by_nvml())
    except Exception:
        # NVML raises errors of its own for no driver, no library, no permission.
        return tuple(_by_program())


def used_mib() -> int | None:
    """GPU memory in use over all GPUs, or None where there is none."""
    found = gpus()
    return sum(gpu.used_mib for gpu in found) if found else None


def _by_nvml() -> Iterator[Gpu]:
    import pynvml

    pynvml.nvmlInit()
    try:
        driver = _text(pynvml.nvmlSystemGetDriverVersion())
        for index in range(pynvml.nvmlDeviceGetCount()):
            handle = pynvml.nvmlDeviceGetHandleByIndex(index)
            major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(handle)
            memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
            yield Gpu(
                _capability(f"{major}.{minor}"),
                _text(pynvml.nvmlDeviceGetName(handle)),
                int(memory.total) // _MIB,
                int(memory.used) // _MIB,
                driver,
            )
    finally:
        pynvml.nvmlShutdown()


def _by_program() -> Iterator[Gpu]:
    program = shutil.which("nvidia-smi")
    if program is None:
        return
    try:
        done = subprocess.run(
            [program, _QUERY, "--format=csv,noheader,nounits"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return
    if done.returncode == 0:
        for line in done.stdout.decode("utf-8", "replace").splitlines():
            gpu = read_line(line)
            if gpu is not None:
                yield gpu


def read_line(line: str) -> Gpu | None:
    """One line of `nvidia-smi`, or None where it is no GPU's."""
    parts = [part.strip() for part in line.split(",")]
    if len(parts) != 5 or not parts[0].replace(".", "", 1).isdigit():
        return None
    total, used = (int(text) if text.isdigit() else 0 for text in parts[2:4])
    return Gpu(_capability(parts[0]), parts[1], total, used, parts[4])


def _capability(number: str) -> str:
    try:
        return parse_capability(number)[0].name
    except UsageError:
        return ""


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
