"""What is said beside the report: notices, and a progress bar where a person is watching."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress

# Work that ends before this needs no bar.
PATIENCE_S = 1.0
_REDRAW_S = 0.1


def say(text: str) -> None:
    """One line to stderr; control characters of foreign text are spelled out."""
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    with contextlib.suppress(OSError, ValueError):
        encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
        line = f"sgl-audit: {safe}\n".encode(encoding, "backslashreplace").decode(encoding)
        sys.stderr.write(line)
        sys.stderr.flush()


class Feedback:
    """Notices and progress of one command, to stderr.

    The bar is redrawn only when work reports progress: a refreshing thread would be forked into
    the worker processes.
    """

    def __init__(self, *, bar: bool = True) -> None:
        """Args: bar: False for none at all; without a terminal there is none anyway."""
        self._wanted = bar and sys.stderr.isatty()
        self._start = time.monotonic()
        self._drawn = 0.0
        self._bar: Progress | None = None
        self._said: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.clear()

    def notify(self, text: str) -> None:
        """Say one line, above no leftover of a bar, and none twice."""
        if text in self._said:
            return
        self._said.add(text)
        self.clear()
        say(text)

    def progress(self, label: str) -> Callable[[int, int], None]:
        """A function of (done, total) that draws the bar once the work takes a while."""

        def update(done: int, total: int) -> None:
            now = time.monotonic()
            late = now - self._start >= PATIENCE_S
            if self._wanted and late and (now - self._drawn >= _REDRAW_S or done >= total):
                self._drawn = now
                self._draw(label, done, total)

        return update

    def clear(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _draw(self, label: str, done: int, total: int) -> None:
        if self._bar is None:
            self._bar = _make_bar()
            self._bar.start()
        task = next((item.id for item in self._bar.tasks if item.description == label), None)
        if task is None:
            task = self._bar.add_task(label, total=total)
        self._bar.update(task, completed=done, total=total, refresh=True)


def _make_bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Remaining())
    console = Console(stderr=True, markup=False, force_jupyter=False)
    return Progress(*columns, console=console, transient=True, auto_refresh=False)
