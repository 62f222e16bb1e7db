"""What lies outside the tree, as far as conditions on the machine need it.

Assumed, and said in reports: the CUDA or ROCm version, that pinned packages are installed, that no
environment variable is set, an x86 Linux host. Facts of torch: its documented API of
`torch.cuda` and `torch.version`, which answers for ROCm too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from packaging.version import InvalidVersion, Version

from sgl_audit.extract.machine.values import (
    UNKNOWN,
    Entry,
    External,
    Record,
    Value,
    VersionText,
    Wrapper,
)
from sgl_audit.model.capability import Capability, Vendor

PLATFORM = frozenset({"platform"})
CAPABILITY = frozenset({"platform", "capability"})
ENVIRONMENT = frozenset({"environment"})
PACKAGES = frozenset({"packages"})
VERSION = frozenset({"version"})
HOST = frozenset({"host"})
NOTHING: frozenset[str] = frozenset()
NOT_THERE = ("npu", "hpu", "musa", "xpu", "mps", "mlu", "backends.mps")


@dataclass(frozen=True, slots=True)
class Machine:
    """One capability with what is assumed around it. `packages`: import name -> version."""

    capability: Capability
    cuda: str = "13.0"
    hip: str = "7.0.0"
    packages: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def nvidia(self) -> bool:
        """Whether the device is NVIDIA's."""
        return self.capability.vendor is Vendor.NVIDIA

    @property
    def pair(self) -> tuple[int, int]:
        """(major, minor)."""
        return self.capability.major, self.capability.minor


def external_value(name: str, machine: Machine) -> Entry | None:
    """The value of a dotted name outside the tree, or None where it is only a name so far."""
    if name == "torch.version.cuda":
        return Entry(VersionText(machine.cuda) if machine.nvidia else None, PLATFORM)
    if name == "torch.version.hip":
        return Entry(None if machine.nvidia else VersionText(machine.hip), PLATFORM)
    if name in ("torch.version.musa", "torch.version.xpu"):
        return Entry(None, PLATFORM)
    if name == "sys.platform":
        return Entry("linux", HOST)
    if name.endswith(".__version__"):
        version = machine.packages.get(name.partition(".")[0])
        return Entry(UNKNOWN if version is None else VersionText(version), PACKAGES)
    return None


def has_attribute(name: str, attribute: str) -> Entry | None:
    """`hasattr(torch, "npu")` and its like."""
    if name == "torch" and attribute in ("cuda", "version", "cpu", "ops", "xpu", "backends"):
        return Entry(True)
    if name == "torch" and attribute in NOT_THERE:
        # torch.mps exists everywhere and is never available off a Mac.
        return Entry(attribute == "mps", PLATFORM)
    if name == "torch.version" and attribute in ("cuda", "hip", "xpu"):
        return Entry(True, PLATFORM)
    if name == "torch.version" and attribute in NOT_THERE:
        return Entry(False, PLATFORM)
    return None


def call_external(name: str, arguments: tuple[Value, ...], machine: Machine) -> Entry:
    """What a call of a name outside the tree returns."""
    handler = _CALLS.get(name) or _CALLS.get(name.rpartition(".")[2])
    if handler is not None:
        return handler(name, arguments, machine)
    if name.endswith(".is_available") and name[len("torch.") : -len(".is_available")] in NOT_THERE:
        return Entry(False, PLATFORM)
    return Entry(UNKNOWN)


Handler = Callable[[str, tuple[Value, ...], Machine], Entry]


def _capability(name: str, arguments: tuple[Value, ...], machine: Machine) -> Entry:
    if name.startswith("torch.") and not name.startswith("torch.cuda."):
        return Entry(UNKNOWN)
    return Entry(machine.pair, CAPABILITY)


def _properties(name: str, arguments: tuple[Value, ...], machine: Machine) -> Entry:
    capability = machine.capability
    known: list[tuple[str, Value]] = [
        ("major", capability.major),
        ("minor", capability.minor),
        ("name", capability.device_name),
        ("total_memory", capability.memory_mib * 1024 * 1024),
        ("warp_size", 32 if machine.nvidia else 64),
    ]
    # On NVIDIA the field holds the device's name, which matches no gfx target.
    gcn = capability.device_name if machine.nvidia else capability.name
    known.append(("gcnArchName", gcn))
    fields = tuple((key, Entry(value, CAPABILITY)) for key, value in known)
    return Entry(Record("device properties", fields), CAPABILITY)


def _triton_target(name: str, arguments: tuple[Value, ...], machine: Machine) -> Entry:
    arch: Value = machine.capability.number if machine.nvidia else machine.capability.name
    fields = (
        ("arch", Entry(arch, CAPABILITY)),
        ("backend", Entry("cuda" if machine.nvidia else "hip", PLATFORM)),
    )
    return Entry(Record("triton target", fields), PLATFORM)


def _getenv(name: str, arguments: tuple[Value, ...], machine: Machine) -> Entry:
    return Entry(arguments[1] if len(arguments) > 1 else None, ENVIRONMENT)


def _bool_variable(name: str, arguments: tuple[Value, ...], machine: Machine) -> Entry:
    default = arguments[1] if len(arguments) > 1 else "false"
    if not isinstance(default, (str, bool)):
        return Entry(UNKNOWN, ENVIRONMENT)
    return Entry(str(default).lower() in ("true", "1"), ENVIRONMENT)


def _int_variable(name: str, arguments: tuple[Value, ...], machine: Machine) -> Entry:
    return Entry(arguments[1] if len(arguments) > 1 else 0, ENVIRONMENT)


def _find_spec(name: str, arguments: tuple[Value, ...], machine: Machine) -> Entry:
    wanted = arguments[0] if arguments else UNKNOWN
    known = isinstance(wanted, str) and wanted.partition(".")[0] in machine.packages
    return Entry(Record("module spec") if known else UNKNOWN, PACKAGES)


def _parse_version(name: str, arguments: tuple[Value, ...], machine: Machine) -> Entry:
    text = arguments[0] if arguments else UNKNOWN
    if not isinstance(text, str):
        return Entry(UNKNOWN, VERSION)
    try:
        return Entry(Version(text), VERSION)
    except InvalidVersion:
        return Entry(UNKNOWN, VERSION)


def _installed_version(name: str, arguments: tuple[Value, ...], machine: Machine) -> Entry:
    wanted = arguments[0] if arguments else UNKNOWN
    version = None
    if isinstance(wanted, str):
        version = machine.packages.get(wanted.replace("-", "_"))
    return Entry(UNKNOWN if version is None else VersionText(version), PACKAGES | VERSION)


def _run(name: str, arguments: tuple[Value, ...], machine: Machine) -> Entry:
    command = arguments[0] if arguments else None
    words = " ".join(map(str, command)) if isinstance(command, (list, tuple)) else str(command)
    if "compute_cap" not in words or not machine.nvidia:
        return Entry(UNKNOWN)
    major, minor = machine.pair
    output = Entry(f"{major}.{minor}\n", CAPABILITY)
    return Entry(Record("process", (("stdout", output),)), CAPABILITY)


def _constant(value: Value, flags: frozenset[str]) -> Handler:
    return lambda name, arguments, machine: Entry(value, flags)


def _wrap(name: str, arguments: tuple[Value, ...], machine: Machine) -> Entry:
    first = arguments[0] if arguments else UNKNOWN
    return Entry(Wrapper() if first is UNKNOWN or isinstance(first, (int, External)) else first)


_CALLS: dict[str, Handler] = {
    "torch.cuda.is_available": _constant(True, PLATFORM),
    "torch.cuda.is_initialized": _constant(True, NOTHING),
    "torch.cpu.is_available": _constant(True, NOTHING),
    "torch.cuda.get_device_capability": _capability,
    "torch.cuda.get_device_properties": _properties,
    "nvmlDeviceGetCudaComputeCapability": _capability,
    "torch.cuda.get_device_name": lambda n, a, m: Entry(m.capability.device_name, CAPABILITY),
    "triton.runtime.driver.active.get_current_target": _triton_target,
    "os.getenv": _getenv,
    "os.environ.get": _getenv,
    "get_bool_env_var": _bool_variable,
    "get_int_env_var": _int_variable,
    "importlib.util.find_spec": _find_spec,
    "importlib.metadata.version": _installed_version,
    "packaging.version.parse": _parse_version,
    "packaging.version.Version": _parse_version,
    "subprocess.run": _run,
    "platform.machine": _constant("x86_64", HOST),
    "platform.system": _constant("Linux", HOST),
    "functools.lru_cache": _wrap,
    "functools.cache": _wrap,
    "functools.wraps": _wrap,
    "torch.compiler.disable": _wrap,
}
