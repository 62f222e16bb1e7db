"""How many worker processes to start, and how they end: never later than the program."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


def usable_cpus() -> int:
    """The CPUs that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def worker_count(asked: int, items: int) -> int:
    """As many as asked, but no more than have work and a CPU: each takes its own memory."""
    return max(1, min(asked, items, usable_cpus()))


@contextmanager
def ended_with_work() -> Iterator[None]:
    """End the workers at once where their results are not wanted any more (Ctrl-C, an error)."""
    try:
        yield
    except BaseException:
        from multiprocessing import active_children

        for worker in active_children():
            worker.terminate()
        raise


@contextmanager
def at_work(
    count: int,
    begin: Callable[..., None],
    given: tuple[object, ...],
    work: Callable[[_Task], _Result],
    tasks: Iterable[_Task],
) -> Iterator[Iterator[_Result]]:
    """Processes that work on tasks while the program does other things; the results, in order.

    Args:
        begin: called first in each process, with what is `given`.
    """
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(count, initializer=begin, initargs=given) as pool, ended_with_work():
        yield pool.map(work, tasks)


def begin_worker() -> None:
    """To be called first in each worker: the program alone decides how it ends.

    A worker that waits for work would outlive a program that is killed.
    """
    from multiprocessing import parent_process
    from threading import Thread

    # Ctrl-C in a terminal reaches the workers too.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    program = parent_process()
    if program is not None:
        Thread(target=_end_with, args=(program.join,), daemon=True).start()


def _end_with(wait: Callable[[], None]) -> None:
    wait()
    os._exit(1)
