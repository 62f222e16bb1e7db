"""Which device a run is on."""

from __future__ import annotations

from sgl_audit.errors import UsageError
from sgl_audit.model.evidence import Device
from sgl_audit.probe.gpus import gpus

CPU, CUDA = "cpu", "cuda"


def find_device(wanted: str | None, arch: str | None) -> Device:
    """The device: what was asked for, else the GPU of this machine.

    Args:
        wanted: "cpu" or "cuda" as `--device` or the launch says, or None.
        arch: a capability that the user names, or None to take what is found.

    Raises:
        UsageError: there is no GPU and the CPU was not asked for, or the GPU is another one.
    """
    if wanted == CPU:
        if arch is not None:
            raise UsageError(f"--arch {arch} and the device cpu differ; drop one of them")
        return Device(CPU, CPU)
    found = gpus()
    if not found:
        if arch is not None and wanted == CUDA:
            # Nothing here can ask the GPU, and the user knows it.
            return Device(CUDA, arch)
        raise UsageError(
            "no GPU is found here by NVML or nvidia-smi; probe the CPU with --device cpu, or say "
            "--device cuda --arch X where there is one all the same"
        )
    first = found[0]
    capability = arch or first.capability
    if not capability:
        raise UsageError(f"{first.name} has a capability that sgl-audit does not know; give --arch")
    if first.capability and capability != first.capability:
        raise UsageError(
            f"--arch {arch}, but the GPU here is {first.name} ({first.capability}); a run here "
            "proves nothing for another one"
        )
    return Device(CUDA, capability, first.name, first.memory_mib, first.driver, len(found))
