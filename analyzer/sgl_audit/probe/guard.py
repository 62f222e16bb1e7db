"""The parent of a probed server: it ends the server's whole family when the tool is gone.

Run by path in a bare interpreter, so it imports the standard library only. The tool holds the
other end of its standard input; when that closes, for whatever reason, nothing may be left.

    python -I guard.py LOG_FILE -- COMMAND...

Writes one JSON object a line to stdout: {"pid": N}, later {"exit": CODE}.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

_SET_PDEATHSIG = 1
_SET_CHILD_SUBREAPER = 36
_TICK_S = 0.1
_POLITE_S = 3.0


def family(root: int) -> list[int]:
    """Every process below `root`, found through /proc; empty where there is none."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                stat = (entry / "stat").read_text()
                parent = int(stat.rpartition(")")[2].split()[1])
                parents.setdefault(parent, []).append(int(entry.name))
    found: list[int] = []
    todo = [root]
    while todo:
        below = parents.get(todo.pop(), [])
        found += below
        todo += below
    return found


def _prctl(option: int, value: int) -> None:
    # Not on every system; the closed pipe ends the family even so.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _before_exec() -> None:
    _prctl(_SET_PDEATHSIG, signal.SIGKILL)


def _send(pids: list[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def end_family(patience: float = _POLITE_S) -> None:
    """SIGTERM to all below this process, then SIGKILL to what is left."""
    me = os.getpid()
    _send(family(me), signal.SIGTERM)
    # A stopped process acts on nothing but SIGKILL until it goes on.
    _send(family(me), signal.SIGCONT)
    deadline = time.monotonic() + patience
    while family(me) and time.monotonic() < deadline:
        _reap()
        time.sleep(_TICK_S)
    for _ in range(50):
        left = family(me)
        if not left:
            return
        _send(left, signal.SIGKILL)
        time.sleep(_TICK_S)
        _reap()


def _tell(**said: int | None) -> None:
    with contextlib.suppress(OSError):
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


def main(arguments: list[str]) -> int:
    """Start the command, wait for it and for the tool, leave nothing behind."""
    log, _, *command = arguments
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    _prctl(_SET_CHILD_SUBREAPER, 1)
    with Path(log).open("ab") as out:
        server = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            # Ignored signals are inherited; the server must see its own.
            preexec_fn=_restore,
        )
    _tell(pid=server.pid)
    told = False
    while True:
        code = server.poll()
        if code is not None and not told:
            told = True
            _tell(exit=code)
        ready, _, _ = select.select([0], [], [], _TICK_S)
        if ready and not os.read(0, 4096):
            end_family()
            return 0


def _restore() -> None:
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    _before_exec()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
