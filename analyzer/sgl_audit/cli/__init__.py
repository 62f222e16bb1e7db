"""The command line. Nothing is imported here that `--help` and `--version` do not need."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main"]

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None, program: str = "sgl-audit") -> NoReturn:
    """Run the command line and exit."""
    try:
        # Imported here, so that Ctrl-C while it loads is no traceback.
        from sgl_audit.cli.entry import run

        sys.exit(run(arguments, program))
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
