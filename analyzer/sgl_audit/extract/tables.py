"""The machine table of a tree, kept with the files that it rests on."""

from __future__ import annotations

from collections.abc import Mapping

from sgl_audit.answers import AnswerStore, digest_of_value, traced
from sgl_audit.answers.traced import apart
from sgl_audit.extract.index_machine import MachineIndexer
from sgl_audit.extract.machine.outside import Machine
from sgl_audit.extract.machine.values import Entry
from sgl_audit.extract.machine.world import MachineTable
from sgl_audit.extract.names import bytes_or_nothing
from sgl_audit.model.source import SourceTree

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
        return _table(reading, asked) if jobs <= 1 else apart(_table, reading, asked)

    return traced(store, "machine table", (digest_of_value(asked),), tree, MachineTable, make)


def _table(tree: SourceTree, asked: Asked) -> MachineTable:
    files, machines, variables, seeds = asked
    indexer = MachineIndexer(files, lambda path: bytes_or_nothing(tree, path), machines, variables)
    return indexer.table(seeds)
