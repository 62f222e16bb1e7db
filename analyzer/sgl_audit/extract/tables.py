"""The machine table of a tree, kept with the files that it rests on."""

from __future__ import annotations

from collections.abc import Mapping

from sgl_audit.answers import AnswerStore, digest_of_value, traced
from sgl_audit.answers.traced import note, noted
from sgl_audit.extract.index_machine import MachineIndexer
from sgl_audit.extract.machine.outside import Machine
from sgl_audit.extract.machine.values import Entry
from sgl_audit.extract.machine.world import MachineTable
from sgl_audit.extract.names import bytes_or_nothing
from sgl_audit.memory import uncollected
from sgl_audit.model.source import SourceTree
from sgl_audit.workers import at_work

Asked = tuple[tuple[str, ...], tuple[Machine, ...], Mapping[str, Entry], tuple[str, ...]]


def machine_table(
    tree: SourceTree,
    files: tuple[str, ...],
    machines: tuple[Machine, ...],
    variables: Mapping[str, Entry],
    seeds: tuple[str, ...],
    store: AnswerStore | None,
    jobs: int,
) -> MachineTable:
    """What names of the tree are on each machine.

    Args:
        seeds: the files to begin with; others are read where these lead.
        jobs: with more than one, a process of its own does it: the syntax of a thousand files then
            leaves memory with that process.
    """
    asked: Asked = (files, machines, variables, seeds)

    def make(reading: SourceTree) -> MachineTable:
        if jobs <= 1:
            return _table(reading, asked)
        with at_work(_table_with_notes, [(reading, asked)]) as results:
            table, read = next(results)
        note(reading, read)
        return table

    return traced(store, "machine table", (digest_of_value(asked),), tree, MachineTable, make)


def _table(tree: SourceTree, asked: Asked) -> MachineTable:
    files, machines, variables, seeds = asked
    indexer = MachineIndexer(files, lambda path: bytes_or_nothing(tree, path), machines, variables)
    return indexer.table(seeds)


def _table_with_notes(given: tuple[SourceTree, Asked]) -> tuple[MachineTable, dict[str, str]]:
    tree, asked = given
    with uncollected():
        return _table(tree, asked), noted(tree)
