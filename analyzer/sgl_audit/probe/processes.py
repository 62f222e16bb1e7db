"""The server as a process: started under a guard, watched, and ended with all its children."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil

from sgl_audit.errors import IncompleteError
from sgl_audit.probe import guard

_MIB = 1 << 20
_START_S = 20.0
_TICK_S = 0.1


@dataclass(frozen=True, slots=True)
class Usage:
    """What the family uses now. `stopped` is how many of its processes are stopped (state T)."""

    memory_mib: int
    cpu_s: float
    processes: int
    stopped: int


class Server:
    """A server process and all that it starts.

    The guard lives in a session of its own and dies with nobody: when this process goes, however
    it goes, the guard sees its input close and ends the family.
    """

    def __init__(
        self, command: Sequence[str], environment: dict[str, str], log: Path, folder: Path
    ) -> None:
        """Start the command.

        Raises:
            IncompleteError: the program cannot be started.
        """
        self._guard = subprocess.Popen(
            [sys.executable, "-I", guard.__file__, str(log), "--", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=folder,
            start_new_session=True,
        )
        self._exit: int | None = None
        self._cpu_of_dead = 0.0
        self._cpu: dict[int, float] = {}
        out = self._guard.stdout
        assert out is not None
        first = out.readline()
        if not first:
            assert self._guard.stderr is not None
            said = self._guard.stderr.read().decode("utf-8", "replace").strip().splitlines()
            self.close()
            raise IncompleteError(
                f"{command[0]} cannot be started: {said[-1] if said else 'no reason given'}"
            )
        self.pid: int = json.loads(first)["pid"]
        threading.Thread(target=self._listen, args=(out,), daemon=True).start()

    def _listen(self, out: IO[bytes]) -> None:
        with contextlib.suppress(ValueError, OSError):
            for line in out:
                self._exit = json.loads(line).get("exit", self._exit)
        if self._exit is None:
            # The guard is gone, and the kernel has killed the server with it.
            self._exit = -signal.SIGKILL

    def exit_code(self) -> int | None:
        """The server's exit code as Python gives it (-9 for SIGKILL), or None while it runs."""
        return self._exit

    def processes(self) -> list[psutil.Process]:
        """Everything below the guard: the server, its children, and theirs, also orphaned ones."""
        try:
            found = psutil.Process(self._guard.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []
        return [item for item in found if _alive(item)]

    def usage(self) -> Usage:
        """Memory, CPU time and state of the family."""
        memory, states = 0, []
        cpu: dict[int, float] = {}
        found = self.processes()
        for item in found:
            with contextlib.suppress(psutil.Error):
                memory += item.memory_info().rss
                times = item.cpu_times()
                cpu[item.pid] = times.user + times.system
                states.append(item.status())
        gone = set(self._cpu) - set(cpu)
        self._cpu_of_dead += sum(self._cpu[pid] for pid in gone)
        self._cpu = cpu
        stopped = sum(state == psutil.STATUS_STOPPED for state in states)
        spent = self._cpu_of_dead + sum(cpu.values())
        return Usage(memory // _MIB, spent, len(found), stopped)

    def terminate(self) -> None:
        """SIGTERM to the server, and SIGCONT to all so that a stopped one can act on it."""
        self._signal_group(signal.SIGTERM, only_leader=True)
        self._signal_group(signal.SIGCONT)

    def kill(self) -> None:
        """SIGKILL to the group and to whatever left it."""
        self._signal_group(signal.SIGKILL)

    def _signal_group(self, number: int, *, only_leader: bool = False) -> None:
        if only_leader:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if self._exit is None:
                    os.kill(self.pid, number)
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)
        for item in self.processes():
            with contextlib.suppress(psutil.Error):
                item.send_signal(number)

    def wait(self, seconds: float) -> int | None:
        """Wait for the server's own end; its exit code, or None where it is still there."""
        deadline = time.monotonic() + seconds
        while self._exit is None and time.monotonic() < deadline:
            time.sleep(_TICK_S)
        return self._exit

    def wait_family(self, seconds: float) -> int:
        """Wait until nothing of the family is left; how many processes are."""
        deadline = time.monotonic() + seconds
        while True:
            left = len(self.processes())
            if not left or time.monotonic() >= deadline:
                return left
            time.sleep(_TICK_S)

    def close(self) -> None:
        """Let the guard end what is left, and end it."""
        with contextlib.suppress(OSError, ValueError):
            if self._guard.stdin is not None:
                self._guard.stdin.close()
        try:
            self._guard.wait(_START_S)
        except subprocess.TimeoutExpired:
            self.kill()
            self._guard.kill()
            self._guard.wait()
        for stream in (self._guard.stdout, self._guard.stderr):
            if stream is not None:
                with contextlib.suppress(OSError, ValueError):
                    stream.close()


def _alive(item: psutil.Process) -> bool:
    try:
        return bool(item.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False
