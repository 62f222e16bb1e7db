"""The command line. Nothing is imported here that `--help` and `--version` do not need."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

__all__ = ["main"]

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None, program: str = "sgl-audit") -> NoReturn:
    """Run the command line and exit."""
    _leave_on_interrupt()
    try:
        # Imported here, so that Ctrl-C while it loads is no traceback.
        from sgl_audit.cli.entry import run

        sys.exit(run(arguments, program))
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)


def _leave_on_interrupt() -> None:
    """While the program loads, and once it is done, Ctrl-C is the end: nothing has to be tidied.

    An exception would be lost or shown with its traceback by whatever it comes to pass through.
    """
    # Of the interpreter itself, because to import `signal` takes a third of the time in question.
    signals: Any = __import__("_signal")
    try:
        if signals.getsignal(signals.SIGINT) is signals.default_int_handler:
            signals.signal(signals.SIGINT, lambda number, frame: os._exit(_INTERRUPTED))
    except ValueError:
        # Only the main thread may; whoever runs us in another deals with signals.
        pass
