"""Ctrl-C, SIGTERM and SIGHUP end the program soon, and after it has tidied up."""

from __future__ import annotations

import signal
import sys
from _thread import interrupt_main
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from types import FrameType
from typing import Any

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_PATIENCE_SECONDS = 3.0
_AT_ONCE_SECONDS = 0.02


@contextmanager
def ending_signals() -> Iterator[list[int]]:
    """Let each of them raise KeyboardInterrupt: folders made for a while go, and workers end.

    Python drops an exception that is raised while it collects garbage, so that it is raised again
    where the program goes on nonetheless. Gives the numbers of the signals that came.
    """
    came: list[int] = []
    timers: list[Timer] = []
    due: list[bool] = []

    def remind(seconds: float) -> None:
        # A thread, because it works on every system; the main thread handles what it causes.
        timers.append(Timer(seconds, again))
        timers[-1].daemon = True
        timers[-1].start()

    def again() -> None:
        due.append(True)
        interrupt_main()

    def end(number: int, frame: FrameType | None) -> None:
        remind(_PATIENCE_SECONDS)
        if not due:
            came.append(number)
        elif due.pop() and _tidying_up():
            return
        raise KeyboardInterrupt

    def dropped(lost: sys.UnraisableHookArgs) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            remind(_AT_ONCE_SECONDS)
        else:
            hook(lost)

    before = _handled_by(end)
    hook, sys.unraisablehook = sys.unraisablehook, dropped
    try:
        yield came
    finally:
        for timer in timers:
            timer.cancel()
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


def _tidying_up() -> bool:
    """Whether the exception is on its way out: what it passes on its way may take its time."""
    error = sys.exc_info()[1]
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _handled_by(end: Any) -> dict[int, Any]:
    """Set the handler; gives what was there before."""
    before: dict[int, Any] = {}
    for name in _NAMES:
        number = getattr(signal, name, None)
        # nohup ignores SIGHUP, a shell ignores SIGINT for what runs in the background: so it stays.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            try:
                before[number] = signal.signal(number, end)
            except ValueError:
                # Only the main thread may; whoever runs us in another deals with signals.
                break
    return before
