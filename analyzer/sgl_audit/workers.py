"""How many worker processes to start, and how they end: never later than the program."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

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


def begin_in(folder: str) -> None:
    """As `begin_worker`, with temporary files in a folder that the program itself removes.

    A worker that is ended at once removes nothing.
    """
    import tempfile

    begin_worker()
    tempfile.tempdir = folder


def _end_with(wait: Callable[[], None]) -> None:
    wait()
    os._exit(1)


@contextmanager
def pool_of(
    count: int, begin: Callable[..., None] = begin_worker, given: tuple[object, ...] = ()
) -> Iterator[ProcessPoolExecutor]:
    """Processes that end with the work, however that ends.

    Args:
        begin: called first in each, with what is `given`; it has to call `begin_worker`.
    """
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(count, initializer=begin, initargs=given) as pool, ended_with_work():
        yield pool


@contextmanager
def at_work(
    work: Callable[[_Task], _Result],
    tasks: Iterable[_Task],
    count: int = 1,
    begin: Callable[..., None] = begin_worker,
    given: tuple[object, ...] = (),
) -> Iterator[Iterator[_Result]]:
    """Processes that work on tasks while the program does other things; the results, in order.

    Args:
        count: of processes; begin, given: as for `pool_of`.
    """
    with pool_of(count, begin, given) as pool:
        yield pool.map(work, tasks)
