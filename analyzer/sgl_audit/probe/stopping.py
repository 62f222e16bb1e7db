"""Ending a server so that nothing of it is left: processes, port, GPU memory."""

from __future__ import annotations

import time

from sgl_audit.model.evidence import Stopping
from sgl_audit.probe.gpus import used_mib
from sgl_audit.probe.machine import port_is_free
from sgl_audit.probe.processes import Server

_AFTER_KILL_S = 15.0
_FREE_S = 30.0
_TICK_S = 0.25
# Other programs use the GPU too; a server holds more than this.
_SLACK_MIB = 512


def stop(
    server: Server,
    host: str,
    port: int,
    patience: float,
    gpu_before: int | None,
    *,
    own_port: bool = True,
) -> Stopping:
    """SIGTERM, then SIGKILL to the whole group, then wait until port and memory are free again.

    Args:
        patience: seconds between the two.
        gpu_before: GPU memory in use before the start, or None without a GPU.
        own_port: False where another program has the port, which it will not give back.
    """
    start = time.monotonic()
    how, code = "ended by itself", server.exit_code()
    if code is None:
        server.terminate()
        how, code = "SIGTERM", server.wait(patience)
        if code is None:
            how = f"SIGKILL after {patience:.0f} s"
    if code is None or server.wait_family(2.0):
        server.kill()
        code = server.wait(_AFTER_KILL_S) if code is None else code
    left = server.wait_family(_AFTER_KILL_S)
    server.close()
    return Stopping(
        how=how,
        seconds=round(time.monotonic() - start, 1),
        exit_code=code,
        processes_left=left,
        port_free=_wait_port(host, port, _FREE_S if own_port else 0),
        gpu_memory_free=_wait_gpu(gpu_before),
    )


def _wait_port(host: str, port: int, patience: float) -> bool:
    deadline = time.monotonic() + patience
    while not port_is_free(host, port):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_TICK_S)
    return True


def _wait_gpu(before: int | None) -> bool | None:
    if before is None:
        return None
    deadline = time.monotonic() + _FREE_S
    while True:
        now = used_mib()
        if now is None:
            return None
        if now <= before + _SLACK_MIB:
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(_TICK_S)
