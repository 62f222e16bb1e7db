"""The per-file pass in worker processes."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from sgl_audit.extract.files import FileFacts, read_file
from sgl_audit.extract.index import Index
from sgl_audit.extract.machine.outside import Machine
from sgl_audit.memory import uncollected, with_collections
from sgl_audit.model.source import Diagnostic, Place
from sgl_audit.workers import begin_worker, ended_with_work, worker_count

CHUNK = 24
_KILLED = "reading this file killed its worker process"
_STATE: list[tuple[Index, tuple[Machine, ...]]] = []


def read_files(
    contents: Sequence[tuple[str, bytes]],
    index: Index,
    machines: tuple[Machine, ...],
    jobs: int,
) -> list[FileFacts]:
    """The facts of every file, in the given order, whatever the number of workers.

    A file that kills its worker is read alone in a fresh one; if that dies too, the file becomes
    a diagnostic.
    """
    chunks = [contents[start : start + CHUNK] for start in range(0, len(contents), CHUNK)]
    found: list[FileFacts] = []
    broken: list[Sequence[tuple[str, bytes]]] = []
    results: list[list[FileFacts] | None] = []
    workers = worker_count(jobs, len(chunks))
    started = ProcessPoolExecutor(workers, initializer=_start, initargs=(index, machines))
    with started as pool, ended_with_work():
        futures: list[Future[list[FileFacts]]] = [pool.submit(_chunk, chunk) for chunk in chunks]
        for chunk, future in zip(chunks, futures, strict=True):
            try:
                results.append(future.result())
            except BrokenProcessPool:
                results.append(None)
                broken.append(chunk)
    for chunk, result in zip(chunks, results, strict=True):
        found += result if result is not None else _alone(chunk, index, machines)
    return found


def lasts(file: FileFacts | None) -> bool:
    """Whether facts would be the same another time: want of memory may have killed a worker."""
    return file is None or all(item.message != _KILLED for item in file.diagnostics)


def _alone(
    chunk: Sequence[tuple[str, bytes]], index: Index, machines: tuple[Machine, ...]
) -> list[FileFacts]:
    found: list[FileFacts] = []
    for path, data in chunk:
        with ProcessPoolExecutor(1, initializer=_start, initargs=(index, machines)) as pool:
            try:
                found += pool.submit(_chunk, [(path, data)]).result()
            except BrokenProcessPool:
                reason = Diagnostic(_KILLED, Place(path, 1))
                found.append(FileFacts(path, diagnostics=(reason,)))
    return found


def _start(index: Index, machines: tuple[Machine, ...]) -> None:
    begin_worker()
    _STATE.clear()
    _STATE.append((index, machines))


def _chunk(chunk: Sequence[tuple[str, bytes]]) -> list[FileFacts]:
    index, machines = _STATE[0]
    with uncollected():
        return [read_file(path, data, index, machines) for path, data in with_collections(chunk)]
