"""Many launches in one run: grouped by what must be loaded for them, spread over processes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

from sgl_audit.answers.traced import note, noted
from sgl_audit.evaluate.resolver import Resolver
from sgl_audit.model.progress import Progress
from sgl_audit.model.resolution import Launch, Resolution
from sgl_audit.model.source import SourceTree
from sgl_audit.workers import begin_worker, ended_with_work, worker_count

CHUNK = 40

_WORKER: dict[str, Resolver] = {}


def group_key(launch: Launch) -> tuple[object, ...]:
    """Launches with equal keys share loaded modules."""
    return (launch.capability, launch.card or "", launch.assume, launch.environment)


def resolve_many(
    tree: SourceTree,
    libraries: tuple[SourceTree, ...],
    launches: tuple[Launch, ...],
    jobs: int = 1,
    progress: Progress | None = None,
) -> Iterator[Resolution]:
    """Resolve launches and give the answers in the order asked.

    The answers do not depend on the number of processes: nothing of a launch survives it.
    """
    order = sorted(range(len(launches)), key=lambda i: (repr(group_key(launches[i])), i))
    answers: dict[int, Resolution] = {}
    given = 0
    for index, answer in _answers(tree, libraries, launches, order, jobs):
        answers[index] = answer
        if progress is not None:
            progress(len(answers), len(launches))
        while given in answers:
            yield answers[given]
            given += 1


def _answers(
    tree: SourceTree,
    libraries: tuple[SourceTree, ...],
    launches: tuple[Launch, ...],
    order: list[int],
    jobs: int,
) -> Iterator[tuple[int, Resolution]]:
    if jobs <= 1 or len(order) <= CHUNK:
        resolver = Resolver(tree, libraries)
        for index in order:
            yield index, resolver.resolve(launches[index])
        return
    chunks = _chunks(order, launches)
    workers = worker_count(jobs, len(chunks))
    started = ProcessPoolExecutor(workers, initializer=_start, initargs=(tree, libraries))
    with started as pool, ended_with_work():
        for chunk, (results, read) in zip(
            chunks, pool.map(_work, [[launches[i] for i in chunk] for chunk in chunks]), strict=True
        ):
            note(tree, read)
            yield from zip(chunk, results, strict=True)


def _chunks(order: list[int], launches: tuple[Launch, ...]) -> list[list[int]]:
    """Runs of launches that share modules, long enough to be worth a load."""
    chunks: list[list[int]] = []
    for index in order:
        last = chunks[-1] if chunks else None
        fits = last is not None and group_key(launches[last[0]]) == group_key(launches[index])
        if last is not None and fits and len(last) < CHUNK * 4:
            last.append(index)
        else:
            chunks.append([index])
    return chunks


def _start(tree: SourceTree, libraries: tuple[SourceTree, ...]) -> None:
    begin_worker()
    _WORKER["resolver"] = Resolver(tree, libraries)


def _work(launches: list[Launch]) -> tuple[list[Resolution], dict[str, str]]:
    resolver = _WORKER["resolver"]
    return [resolver.resolve(launch) for launch in launches], noted(resolver.tree)
