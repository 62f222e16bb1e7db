"""Many launches in one run: grouped by what must be loaded for them, spread over processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sgl_audit.answers.traced import note, noted
from sgl_audit.evaluate.resolver import Resolver
from sgl_audit.model.progress import Progress
from sgl_audit.model.resolution import Launch, Resolution
from sgl_audit.model.source import SourceTree
from sgl_audit.workers import at_work, begin_worker, worker_count

CHUNK = 40

_WORKER: dict[str, Resolver] = {}


def group_key(launch: Launch) -> tuple[object, ...]:
    """Launches with equal keys share loaded modules."""
    return (launch.capability, launch.card or "", launch.assume, launch.environment)


Finish = Callable[[Progress | None], Iterator[Resolution]]


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
    with started_many(tree, libraries, launches, jobs) as finish:
        yield from finish(progress)


@contextmanager
def started_many(
    tree: SourceTree, libraries: tuple[SourceTree, ...], launches: tuple[Launch, ...], jobs: int
) -> Iterator[Finish]:
    """Launches that are resolved meanwhile, where there are processes for them.

    What is yielded gives the answers in the order asked.
    """
    order = sorted(range(len(launches)), key=lambda i: (repr(group_key(launches[i])), i))
    if jobs <= 1 or len(order) <= CHUNK:
        yield lambda progress: _in_order(_here(tree, libraries, launches, order), order, progress)
        return
    chunks = _chunks(order, launches)
    asked = [[launches[index] for index in chunk] for chunk in chunks]
    count = worker_count(jobs, len(chunks))
    with at_work(_work, asked, count, _start, (tree, libraries)) as results:
        yield lambda progress: _in_order(_gathered(tree, chunks, results), order, progress)


def _in_order(
    found: Iterator[tuple[int, Resolution]], order: list[int], progress: Progress | None
) -> Iterator[Resolution]:
    answers: dict[int, Resolution] = {}
    given = 0
    for index, answer in found:
        answers[index] = answer
        if progress is not None:
            progress(len(answers), len(order))
        while given in answers:
            yield answers[given]
            given += 1


def _here(
    tree: SourceTree,
    libraries: tuple[SourceTree, ...],
    launches: tuple[Launch, ...],
    order: list[int],
) -> Iterator[tuple[int, Resolution]]:
    resolver = Resolver(tree, libraries)
    for index in order:
        yield index, resolver.resolve(launches[index])


def _gathered(
    tree: SourceTree,
    chunks: list[list[int]],
    results: Iterator[tuple[list[Resolution], dict[str, str]]],
) -> Iterator[tuple[int, Resolution]]:
    for chunk, (answers, read) in zip(chunks, results, strict=True):
        note(tree, read)
        yield from zip(chunk, answers, strict=True)


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
