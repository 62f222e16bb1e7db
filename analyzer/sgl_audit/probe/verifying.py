"""SGLang's own resolver, asked in the interpreter that has it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sgl_audit.errors import IncompleteError
from sgl_audit.model.resolution import Launch
from sgl_audit.model.source import Distribution
from sgl_audit.probe import verify_child

_TIMEOUT_S = 900.0
# Distributions whose modules have another name than they do.
_ROOTS: Mapping[str, tuple[str, ...]] = {
    # The wheel holds the second one as a folder of plain Python.
    "sglang-kernel": ("sgl_kernel", "triton_kernels"),
    "sgl-kernel": ("sgl_kernel", "triton_kernels"),
    "sgl-deep-gemm": ("deep_gemm",),
    "flash-attn-4": ("flash_attn",),
    "flashinfer-python": ("flashinfer",),
    "nvidia-cutlass-dsl": ("cutlass",),
    "cuda-python": ("cuda",),
    "nvshmem4py-cu13": ("nvshmem",),
    "nvshmem4py-cu12": ("nvshmem",),
    "quack-kernels": ("quack",),
    "humming-kernels": ("humming",),
    "sgl-flash-mla": ("flash_mla",),
    "decord2": ("decord",),
    "pillow": ("PIL",),
    "av": ("av",),
    "smg-grpc-servicer": ("smg_grpc_servicer", "smg_grpc_proto"),
}
# What runs here is what is installed, whatever is pinned.
_REAL = ("transformers", "tokenizers", "huggingface-hub", "sglang")


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine to pretend."""

    capability: tuple[int, int]
    device_name: str
    memory_mib: int
    gpu_count: int
    cuda: str
    cudnn: str


@dataclass(frozen=True, slots=True)
class Real:
    """What SGLang's own resolver answered.

    Attributes:
        outcome: "ok", "rejected", or "failed" where the resolver itself could not be run.
    """

    outcome: str
    options: Mapping[str, Any]
    type: str = ""
    message: str = ""
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers in the order of the launches.

    Attributes:
        stubbed: modules that stood in for distributions that are not installed.
        called: what of them was called, so that an answer may rest on it.
    """

    real: tuple[Real, ...]
    stubbed: tuple[str, ...] = ()
    called: tuple[str, ...] = ()


def run_resolver(
    python: str,
    launches: Sequence[Launch],
    names: Sequence[str],
    distribution: Distribution,
    machine: Machine | None,
    packages: Mapping[str, str],
) -> Answers:
    """Resolve launches with SGLang itself.

    Args:
        names: fields to read.
        machine: the one to pretend, or None for the machine as it is.
        packages: what is installed in the interpreter.

    Raises:
        IncompleteError: SGLang's resolver cannot be imported or does not answer.
    """
    with tempfile.TemporaryDirectory(prefix="sgl-audit-verify-") as name:
        folder = Path(name)
        request, answers = folder / "request.json", folder / "answers.jsonl"
        fake = _fake(machine, distribution, packages) if machine is not None else None
        told = {"launches": [_launch(item) for item in launches], "names": list(names)}
        request.write_text(json.dumps({**told, "fake": fake}), encoding="utf-8")
        environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
        if machine is not None:
            _fake_smi(folder / "bin", machine)
            environment["PATH"] = f"{folder / 'bin'}:{environment.get('PATH', '')}"
        _run([python, verify_child.__file__, str(request), str(answers)], environment)
        lines = answers.read_text("utf-8").splitlines() if answers.exists() else []
    found = [json.loads(line) for line in lines]
    if len(found) != len(launches) + 1:
        raise IncompleteError("SGLang's resolver ended before it answered every launch")
    end = found[-1]
    return Answers(
        tuple(_real(item) for item in found[:-1]), tuple(end["stubbed"]), tuple(end["called"])
    )


def _run(command: Sequence[str], environment: Mapping[str, str]) -> None:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
            env=dict(environment),
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise IncompleteError(f"SGLang's resolver cannot be run: {error}") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        last = next((line for line in reversed(said) if line.strip()), "no reason given")
        raise IncompleteError(f"SGLang's resolver cannot be run there: {last[:300]}")


def _launch(launch: Launch) -> dict[str, object]:
    return {
        "id": launch.id,
        "argv": list(launch.argv),
        "environment": dict(launch.environment),
    }


def _fake(
    machine: Machine, distribution: Distribution, packages: Mapping[str, str]
) -> dict[str, object]:
    pins = {
        pin.name: pin.version
        for pin in distribution.requires
        if pin.version and pin.extra is None and pin.name not in _REAL
    }
    roots = {
        root
        for pin in distribution.requires
        if pin.extra is None and pin.name not in packages
        for root in roots_of(pin.name)
    }
    always = {"sgl_kernel", "torchvision", "torchaudio"}
    return {
        "capability": list(machine.capability),
        "device_name": machine.device_name,
        "memory_mib": machine.memory_mib,
        "gpu_count": machine.gpu_count,
        "cuda": machine.cuda,
        "cudnn": machine.cudnn,
        "torch": pins.get("torch") or packages.get("torch", "0").partition("+")[0],
        "pins": pins,
        "roots": sorted(roots | always),
    }


def roots_of(distribution: str) -> tuple[str, ...]:
    """The modules of a distribution, by the table or by its own name."""
    return _ROOTS.get(distribution, (re.sub(r"[-.]+", "_", distribution),))


def _fake_smi(folder: Path, machine: Machine) -> None:
    """A program in place of `nvidia-smi`: memory, capability and name, nothing else."""
    folder.mkdir()
    major, minor = machine.capability
    cases = (
        ("memory.total", str(machine.memory_mib)),
        ("compute_cap", f"{major}.{minor}"),
        ("name", machine.device_name),
    )
    body = "".join(
        f"  *{word}*) for i in $(seq {machine.gpu_count}); do echo '{text}'; done;;\n"
        for word, text in cases
    )
    program = folder / "nvidia-smi"
    program.write_text(f'#!/bin/sh\ncase "$*" in\n{body}  *) exit 1;;\nesac\n', encoding="utf-8")
    program.chmod(0o755)


def _real(item: Mapping[str, Any]) -> Real:
    return Real(
        item["outcome"],
        item.get("options") or {},
        item.get("type", ""),
        item.get("message", ""),
        item.get("file"),
        item.get("line"),
    )
