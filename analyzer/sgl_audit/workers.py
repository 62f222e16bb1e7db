"""How many worker processes to start."""

from __future__ import annotations

import os


def usable_cpus() -> int:
    """The CPUs that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def worker_count(asked: int, items: int) -> int:
    """As many as asked, but no more than have work and a CPU: each takes its own memory."""
    return max(1, min(asked, items, usable_cpus()))
