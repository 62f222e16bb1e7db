"""What is checked before a server is started: its port, memory, disk, and the kernel's counts."""

from __future__ import annotations

import errno
import shutil
import socket
from pathlib import Path

import psutil

from sgl_audit.errors import UsageError

_GIB = 1 << 30
_LEAST_DISK = 1 * _GIB
_LEAST_MEMORY = 2 * _GIB


def free_port(host: str) -> int:
    """A port that nobody has now.

    Raises:
        UsageError: no server can listen on that host.
    """
    try:
        with _bound(host, 0) as probe:
            port: int = probe.getsockname()[1]
            return port
    except OSError as error:
        raise UsageError(_unusable(host, 0, error)) from error


def port_is_free(host: str, port: int) -> bool:
    """Whether a server could take the port: SGLang sets SO_REUSEADDR, so this does too."""
    try:
        _bound(host, port).close()
    except OSError:
        return False
    return True


def check_port(host: str, port: int) -> None:
    """Refuse a port that is taken: a server there would answer in place of the one started.

    Raises:
        UsageError: it is taken, or this user or machine cannot have it.
    """
    try:
        _bound(host, port).close()
    except OSError as error:
        raise UsageError(_unusable(host, port, error)) from error


def _bound(host: str, port: int) -> socket.socket:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, kind, protocol, _, address = found[0]
    probe = socket.socket(family, kind, protocol)
    try:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(address)
    except BaseException:
        probe.close()
        raise
    return probe


def _unusable(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {port} on {host} is taken, and what answers there would be judged in place of "
            "the server; free it or give the launch another --port"
        )
    what = f"port {port} on {host}" if port else f"host {host}"
    return (
        f"no server can listen on {what} here ({error.strerror}); give the launch another --host "
        "or --port"
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


def usable_memory() -> int:
    """Bytes of memory that processes here may use: the machine's, or less in a container."""
    total: int = psutil.virtual_memory().total
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
    except OSError:
        return total
    # "max" stands for no limit.
    return min(total, int(limit)) if limit.isdigit() else total


def numa_memory(folder: Path = Path("/sys/devices/system/node")) -> tuple[int, ...]:
    """MiB of each NUMA node, in order; nothing where the kernel does not say. Linux only."""
    found: list[int] = []
    while True:
        path = folder / f"node{len(found)}" / "meminfo"
        try:
            first = path.read_text(encoding="ascii").split("\n", 1)[0]
            found.append(int(first.split()[3]) >> 10)
        except (OSError, ValueError, IndexError):
            return tuple(found)
