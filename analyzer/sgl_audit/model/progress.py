"""How long work tells of itself."""

from __future__ import annotations

from collections.abc import Callable

# Told of steps done and steps in all.
Progress = Callable[[int, int], None]
