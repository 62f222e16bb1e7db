"""What lies outside the program: the machine, packages, environment and model files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sgl_audit.model.capability import (
    BY_NAME,
    CARD_DEVICE_NAME,
    CARD_MEMORY_MIB,
    HOST,
    Capability,
    Vendor,
)
from sgl_audit.model.resolution import Assumption
from sgl_audit.model.source import Distribution

DEFAULT_CUDA = "13.0"
DEFAULT_ROCM = "7.0"
DEFAULT_CUDNN = "9.16.0"


@dataclass(slots=True)
class World:
    """Answers to the questions the program asks of its machine.

    Attributes:
        memory_mib: memory of one GPU in MiB; of the host where there is no GPU.
        numa_mib: memory of each NUMA node of the host in MiB; empty for one node with all of it.
        environment: the variables as they are now; `start` as they were when the launch began.
        asked: assumption name -> how often an answer rested on it.
    """

    capability: Capability
    distribution: Distribution
    cuda: str = DEFAULT_CUDA
    cudnn: str = DEFAULT_CUDNN
    gpu_count: int = 8
    memory_mib: int = 0
    numa_mib: tuple[int, ...] = ()
    device_name: str = ""
    driver: str | None = None
    packages: dict[str, str | None] = field(default_factory=dict)
    start: dict[str, str] = field(default_factory=dict)
    environment: Any = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)
    late_modules: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def is_cuda(self) -> bool:
        """Whether the device is NVIDIA's."""
        return self.capability.vendor is Vendor.NVIDIA

    @property
    def is_rocm(self) -> bool:
        """Whether the device is AMD's."""
        return self.capability.vendor is Vendor.AMD

    @property
    def has_gpu(self) -> bool:
        """Whether there is a device at all."""
        return self.capability.vendor is not Vendor.NONE

    @property
    def has_metadata(self) -> bool:
        """Whether the distribution says what it requires."""
        return bool(self.distribution.requires)

    @property
    def numa_nodes(self) -> int:
        """How many NUMA nodes the host has."""
        return len(self.numa_mib) or 1

    def numa_node_mib(self, node: int) -> int | None:
        """The memory of one NUMA node in MiB; None where it is not known, or no such node."""
        if not 0 <= node < self.numa_nodes:
            return None
        if self.numa_mib:
            self.ask("numa_memory_mib")
            return self.numa_mib[node]
        if self.has_gpu or not self.memory_mib:
            return None
        self.ask("gpu_memory_mib")
        return self.memory_mib

    def ask(self, name: str) -> None:
        """Note that an answer rests on an assumption."""
        self.asked[name] = self.asked.get(name, 0) + 1

    def package_version(self, name: str) -> str | None:
        """The version of an installed distribution, or None where it is not installed."""
        if name in self.packages:
            return self.packages[name]
        return self.distribution.pin(name)

    @contextmanager
    def start_environment(self) -> Iterator[None]:
        """Modules that load late see the environment as it was at the start."""
        environment = self.environment
        if environment == self.start:
            yield
            return
        later = dict(environment)
        environment.clear()
        environment.update(self.start)
        try:
            yield
        finally:
            written = {k: v for k, v in environment.items() if self.start.get(k) != v}
            environment.clear()
            environment.update(later)
            environment.update(written)

    def assumptions(self) -> tuple[Assumption, ...]:
        """Every assumption with its value, the given ones marked."""
        values = {
            "cuda": self.cuda if self.is_cuda else "none",
            **({"rocm": self.given.get("rocm", DEFAULT_ROCM)} if self.is_rocm else {}),
            "gpu_count": str(self.gpu_count),
            "gpu_memory_mib": str(self.memory_mib),
            "device_name": self.device_name,
            "cudnn": self.cudnn if self.is_cuda else "none",
            "driver": self.driver or "not reported",
        }
        listed = [
            Assumption(name, value, "given" if name in self.given else "default")
            for name, value in values.items()
        ]
        packages = "as pinned by the distribution, all installed"
        if not self.has_metadata:
            packages = "all installed, versions unknown: the source has no metadata"
        listed.append(Assumption("packages", packages, "default"))
        listed += [
            Assumption(name, value, "given")
            for name, value in sorted(self.given.items())
            if name not in values
        ]
        return tuple(listed)


def make_world(
    capability: str,
    distribution: Distribution,
    assume: tuple[tuple[str, str], ...] = (),
    environment: tuple[tuple[str, str], ...] = (),
    card: str | None = None,
) -> World:
    """A world for one capability: defaults, then the card's own figures, then what was given."""
    device = HOST if capability == HOST.name else BY_NAME[capability]
    world = World(
        device, distribution, memory_mib=device.memory_mib, device_name=device.device_name
    )
    if not world.has_gpu:
        world.gpu_count = 0
    if card is not None:
        world.memory_mib = CARD_MEMORY_MIB.get(card, device.memory_mib)
        world.device_name = CARD_DEVICE_NAME.get(card, device.device_name)
    variables = dict(environment)
    for name, value in assume:
        world.given[name] = value
        if name.startswith("env."):
            variables[name[4:]] = value
        else:
            _apply(world, name, value)
    world.start = variables
    world.environment.update(variables)
    return world


def _apply(world: World, name: str, value: str) -> None:
    match name:
        case "cuda":
            world.cuda = value
        case "cudnn":
            world.cudnn = value
        case "gpu_count":
            world.gpu_count = int(value)
        case "gpu_memory_mib":
            world.memory_mib = int(value)
        case "numa_memory_mib":
            world.numa_mib = tuple(int(part) for part in value.split(","))
        case "device_name":
            world.device_name = value
        case "driver":
            world.driver = None if value == "none" else value
        case _:
            package = name.removeprefix("package.").replace("_", "-").lower()
            absent = value.lower() in ("none", "absent")
            world.packages[package] = None if absent else value
            if package == "flashinfer":
                world.packages["flashinfer-python"] = None if absent else value
