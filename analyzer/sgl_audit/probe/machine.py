"""What is checked before a server is started: its port, memory, disk, and the kernel's counts."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

import psutil

from sgl_audit.errors import UsageError

_GIB = 1 << 30
_LEAST_DISK = 1 * _GIB
_LEAST_MEMORY = 2 * _GIB


def free_port(host: str) -> int:
    """A port that nobody has now."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port


def port_is_free(host: str, port: int) -> bool:
    """Whether a server could take the port: SGLang sets SO_REUSEADDR, so this does too."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True


def check_port(host: str, port: int) -> None:
    """Refuse a port that is taken: a server there would answer in place of the one started.

    Raises:
        UsageError: it is taken.
    """
    if not port_is_free(host, port):
        raise UsageError(
            f"port {port} on {host} is taken, and what answers there would be judged in place of "
            "the server; free it or give the launch another --port"
        )


def shortages(folder: Path) -> tuple[str, ...]:
    """What is short on this machine, one sentence each."""
    found = []
    memory = psutil.virtual_memory().available
    if memory < _LEAST_MEMORY:
        found.append(f"only {memory / _GIB:.1f} GiB of memory are free")
    disk = shutil.disk_usage(folder if folder.is_dir() else folder.parent).free
    if disk < _LEAST_DISK:
        found.append(f"only {disk / _GIB:.1f} GiB of disk are free in {folder}")
    return tuple(found)


def oom_kills() -> int:
    """How many processes the kernel has killed for want of memory since it started; Linux only."""
    try:
        text = Path("/proc/vmstat").read_text(encoding="ascii")
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("oom_kill "))
