"""The command that starts the server."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sgl_audit.errors import UsageError
from sgl_audit.probe.machine import free_port

LOOPBACK = "127.0.0.1"
# What listens on every address is asked on this machine's own.
_EVERYWHERE = {"0.0.0.0": LOOPBACK, "localhost": LOOPBACK, "::": "::1", "": LOOPBACK}
_MOST_PORT = 65535
CPU = "cpu"
CPU_ENGINE = "SGLANG_USE_CPU_ENGINE"
# Decides nothing and would make two equal launches look different.
_ADDRESS = ("--host", "--port")
_OURS = re.compile(r"^(?:SGLANG|SGL|FLASHINFER|TRITON|CUDA|NCCL|TORCH|VLLM|DG|HF)_")


@dataclass(frozen=True, slots=True)
class Command:
    """A server start.

    Attributes:
        argv: the server's arguments, completed with an address and the device.
        added: what of them, and of the environment, the launch did not have.
    """

    words: tuple[str, ...]
    argv: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    host: str
    port: int
    added: tuple[str, ...]

    @property
    def url(self) -> str:
        """Where the server will answer, as seen from this machine."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


def make_command(
    python: str,
    argv: Sequence[str],
    environment: Iterable[tuple[str, str]],
    device: str | None,
) -> Command:
    """The command of a launch: the interpreter asked for, a free port, the device.

    Raises:
        UsageError: the launch's port is no number, or it names another device.
    """
    words, variables, added = list(argv), dict(environment), []
    named = value_of(words, "--device")
    if device is not None and named not in (None, device):
        raise UsageError(f"--device {device} and the launch's --device {named} differ; drop one")
    if device is not None and named is None:
        words += ["--device", device]
        added.append(f"--device {device}")
    if (device or named) == CPU and CPU_ENGINE not in variables:
        # SGLang's own test for a CPU build reads this variable, not the flag.
        variables[CPU_ENGINE] = "1"
        added.append(f"{CPU_ENGINE}=1")
    host = value_of(words, "--host")
    if host is None:
        host = LOOPBACK
        words += ["--host", host]
    reached = _EVERYWHERE.get(host, host)
    port = _port(value_of(words, "--port"))
    if port == 0:
        port = free_port(reached)
        words = [*with_value(words, "--port", str(port))]
        added.append(f"--port {port}")
    return Command(
        (python, "-m", "sglang.launch_server", *words),
        tuple(words),
        tuple(variables.items()),
        reached,
        port,
        tuple(added),
    )


def _port(given: str | None) -> int:
    """The port of a launch, 0 where any will do."""
    if given is None:
        return 0
    if not (given.isascii() and given.isdigit()) or int(given[:6]) > _MOST_PORT:
        raise UsageError(f"the launch's --port {given} is no number from 0 to {_MOST_PORT}")
    return int(given)


def value_of(argv: Sequence[str], *flags: str) -> str | None:
    """The value of a flag as argparse would take it: the last one."""
    found = None
    for index, word in enumerate(argv):
        name, equals, value = word.partition("=")
        if name in flags:
            found = value if equals else next(iter(argv[index + 1 : index + 2]), None)
    return found


def with_value(argv: Sequence[str], flag: str, value: str) -> tuple[str, ...]:
    """The arguments with a flag set, in place of what it was."""
    kept: list[str] = []
    skip = False
    for word in argv:
        if skip:
            skip = False
        elif word == flag:
            skip = True
        elif not word.startswith(f"{flag}="):
            kept.append(word)
    return (*kept, flag, value)


def without_address(argv: Sequence[str]) -> tuple[str, ...]:
    """The arguments without host and port."""
    kept: list[str] = []
    skip = False
    for word in argv:
        if skip:
            skip = False
        elif word in _ADDRESS:
            skip = True
        elif word.partition("=")[0] not in _ADDRESS:
            kept.append(word)
    return tuple(kept)


def inherited(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables of this environment that the server reads: they count as part of the launch."""
    return {name: value for name, value in sorted(environment.items()) if _OURS.match(name)}


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
