"""What is shown while a server runs: one live line on a terminal, one line a phase elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from sgl_audit.cli.stderr import say
from sgl_audit.model.evidence import Phase
from sgl_audit.probe.watch import Progress

_REDRAW_S = 0.25


class Display:
    """Shows the progress of runs on stderr."""

    def __init__(self, *, live: bool) -> None:
        """Args: live: False for lines even on a terminal."""
        self._live: Live | None = None
        self._wanted = live and sys.stderr.isatty()
        self._phase: Phase | None = None
        self._drawn = 0.0
        self.name = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.clear()

    def begin(self, name: str) -> None:
        """A new run."""
        self.name, self._phase = name, None

    def show(self, progress: Progress) -> None:
        """Draw the state of a run."""
        if self._wanted:
            self._draw(progress)
        elif progress.phase is not self._phase:
            say(f"{self.name}: {progress.phase} after {progress.elapsed_s:.0f} s")
        self._phase = progress.phase

    def say(self, text: str) -> None:
        """One line, above no leftover."""
        self.clear()
        say(text)

    def clear(self) -> None:
        """Remove the live line."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _draw(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._drawn < _REDRAW_S and progress.phase is self._phase:
            return
        self._drawn = now
        if self._live is None:
            console = Console(stderr=True, markup=False, highlight=False)
            self._live = Live(console=console, transient=True, auto_refresh=False)
            self._live.start()
        head = (
            f"{self.name}  {progress.phase}  {progress.elapsed_s:.0f} s  {progress.memory_mib} MiB"
        )
        last = Text(progress.last_line, style="dim", no_wrap=True, overflow="ellipsis")
        self._live.update(Text.assemble((head, "bold"), "\n", last, no_wrap=True), refresh=True)
