"""Families of models with nothing set: verdicts, and the flags to pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from sgl_audit.answers.traced import note, noted
from sgl_audit.audit.families import Family, model_folders
from sgl_audit.audit.verdicts.knowledge import Knowledge
from sgl_audit.audit.verdicts.recommend import Adviser
from sgl_audit.evaluate.resolver import Resolver
from sgl_audit.memory import tidied
from sgl_audit.model.progress import Progress
from sgl_audit.model.report import Advice
from sgl_audit.model.resolution import Launch, Resolution
from sgl_audit.model.source import SourceTree
from sgl_audit.model.verdict import Recommendation, ValueVerdict
from sgl_audit.workers import at_work, begin_worker, worker_count


@dataclass(frozen=True, slots=True)
class JudgedFamily:
    """One family on one capability with nothing set."""

    family: Family
    resolution: Resolution
    verdicts: tuple[ValueVerdict, ...]
    advice: Advice


@dataclass(frozen=True, slots=True)
class Task:
    """Families that are judged one after the other: what helped one is tried first for the next.

    Tasks are the same for any number of workers, so the answers are too.
    """

    capability: str
    members: tuple[tuple[Family, str], ...]
    assume: tuple[tuple[str, str], ...]
    card: str | None = None


@contextmanager
def started_judging(
    tree: SourceTree,
    families: tuple[Family, ...],
    capabilities: tuple[str, ...],
    knowledge: Knowledge,
    *,
    libraries: tuple[SourceTree, ...] = (),
    assume: tuple[tuple[str, str], ...] = (),
    cards: Mapping[str, str] | None = None,
    jobs: int = 1,
) -> Iterator[Callable[[Progress | None], list[JudgedFamily]]]:
    """Families that are resolved, followed and judged meanwhile, where there are processes for it.

    Flags are looked for where one is not known to work.

    Args:
        cards: capability -> the card whose memory and name count.
    """
    kinds = dict.fromkeys(family.quantization for family in families)
    with model_folders(families) as folders:
        tasks = [
            Task(
                name,
                tuple((f, folders[f]) for f in families if f.quantization == kind),
                assume,
                (cards or {}).get(name),
            )
            for name in capabilities
            for kind in kinds
        ]

        def finish(progress: Progress | None) -> list[JudgedFamily]:
            found: dict[tuple[str, Family], JudgedFamily] = {}
            for judged in results:
                found.update({(item.advice.capability, item.family): item for item in judged})
                if progress is not None:
                    progress(len(found), len(families) * len(capabilities))
            return [found[name, family] for name in capabilities for family in families]

        with _each(tree, libraries, knowledge, tasks, jobs) as results:
            yield finish


@contextmanager
def _each(
    tree: SourceTree,
    libraries: tuple[SourceTree, ...],
    knowledge: Knowledge,
    tasks: Sequence[Task],
    jobs: int,
) -> Iterator[Iterator[list[JudgedFamily]]]:
    workers = worker_count(jobs, len(tasks))
    if workers <= 1:
        yield _here(tree, libraries, knowledge, tasks)
        return
    bare = replace(knowledge, _reader=None, _known={})
    # No worker is then left with the largest alone at the end.
    largest_first = sorted(tasks, key=lambda task: -len(task.members))
    with at_work(_work, largest_first, workers, _start, (tree, libraries, bare)) as results:
        yield _gathered(tree, results)


def _here(
    tree: SourceTree,
    libraries: tuple[SourceTree, ...],
    knowledge: Knowledge,
    tasks: Sequence[Task],
) -> Iterator[list[JudgedFamily]]:
    resolver = Resolver(tree, libraries)
    for task in tasks:
        yield judged_together(resolver, knowledge, task)


def _gathered(
    tree: SourceTree, results: Iterator[tuple[list[JudgedFamily], dict[str, str]]]
) -> Iterator[list[JudgedFamily]]:
    for judged, read in results:
        note(tree, read)
        yield judged


_worker: list[tuple[Resolver, Knowledge]] = []


def _start(tree: SourceTree, libraries: tuple[SourceTree, ...], knowledge: Knowledge) -> None:
    begin_worker()
    _worker[:] = [(Resolver(tree, libraries), knowledge)]


def _work(task: Task) -> tuple[list[JudgedFamily], dict[str, str]]:
    resolver, knowledge = _worker[0]
    judged = judged_together(resolver, knowledge, task)
    return judged, {**noted(knowledge.tree), **noted(resolver.tree)}


def judged_together(resolver: Resolver, knowledge: Knowledge, task: Task) -> list[JudgedFamily]:
    """The families of one task."""
    adviser = Adviser(resolver, knowledge, thorough=False)
    found = []
    for family, folder in tidied(task.members):
        launch = Launch(
            id=f"{family.name} on {task.capability}",
            capability=task.capability,
            argv=("--model-path", folder),
            assume=task.assume,
            card=task.card,
        )
        made = adviser.recommend(launch)
        answer = adviser.answer(launch)
        found.append(JudgedFamily(family, answer, made.before, advice_of(made, family)))
    return found


def advice_of(made: Recommendation, family: Family) -> Advice:
    """A recommendation as the audit's advice."""
    bad = any(row.verdict.bad for row in made.after)
    safe = True if made.complete else False if bad and not made.flags else None
    return Advice(
        made.capability,
        family.name,
        tuple(word for item in made.flags for word in (item.flag, item.value)),
        tuple(
            f"{item.flag} {item.value}: without it {item.reason}"
            + (f" ({item.place})" if item.place else "")
            for item in made.flags
        )
        or made.remaining,
        safe,
    )
