"""The whole extraction: index pass, per-file pass, merge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sgl_audit.answers import AnswerStore, by_content, digest_of_value, key_of
from sgl_audit.errors import SourceError
from sgl_audit.extract.files import FileFacts, read_file
from sgl_audit.extract.gates import GateSite, GateValues
from sgl_audit.extract.index import Index, build_index, machines_for, server_files
from sgl_audit.extract.machine.outside import Machine
from sgl_audit.extract.merge import choice_lists, options
from sgl_audit.extract.pool import lasts, read_files
from sgl_audit.extract.reads import ConditionalName
from sgl_audit.extract.rejections import choice_rejections
from sgl_audit.extract.relations import Relation, relations
from sgl_audit.extract.variables import environment
from sgl_audit.memory import uncollected, with_collections
from sgl_audit.model.capability import ALL_CAPABILITIES
from sgl_audit.model.facts import BackendEnum, Facts
from sgl_audit.model.report import Coverage
from sgl_audit.model.source import Diagnostic, Place, SourceTree

NO_OPTIONS = Diagnostic(
    "no option of the server was found: the class that holds them is missing or could not be read",
    Place("sglang/srt/server_args.py", 1),
)


@dataclass(frozen=True, slots=True)
class Extraction:
    """Everything read from a tree.

    Attributes:
        sites: every gate with the function it stands in.
        names: module-level names bound only under a condition, with their reads.
        relations: options read where another option is decided or refused.
        coverage: gates and decisions understood, of how many, and what was not.
    """

    facts: Facts
    sites: tuple[GateSite, ...]
    names: tuple[ConditionalName, ...]
    relations: tuple[Relation, ...]
    coverage: Coverage


def extract(
    tree: SourceTree,
    gate_values: GateValues | None = None,
    capabilities: Sequence[str] = ALL_CAPABILITIES,
    *,
    jobs: int = 1,
    cuda: str = "13.0",
    hip: str = "7.0.0",
    store: AnswerStore | None = None,
) -> Extraction:
    """Read every fact of a tree.

    Args:
        gate_values: an evaluator's answers for gates; None values fall back to this package's.
        jobs: worker processes; the result is the same for any number.
        cuda: CUDA version assumed on NVIDIA capabilities.
        hip: ROCm version assumed on AMD capabilities.
        store: where what was read of files before is kept.
    """
    files = server_files(tree)
    machines = machines_for(tree, capabilities, cuda, hip)
    with uncollected():
        index = build_index(tree, files, machines, store, jobs)
        contents, diagnostics = _contents(tree, files)
        diagnostics = [*(item for item in tree.info.diagnostics if item.place), *diagnostics]
        found = _read(contents, index, machines, gate_values, jobs, store)
        return _assembled(found, index, diagnostics)


def extract_facts(
    tree: SourceTree,
    gate_values: GateValues | None = None,
    capabilities: Sequence[str] = ALL_CAPABILITIES,
    *,
    jobs: int = 1,
) -> Facts:
    """The facts of a tree, without sites, relations and coverage."""
    return extract(tree, gate_values, capabilities, jobs=jobs).facts


def _contents(
    tree: SourceTree, files: Iterable[str]
) -> tuple[list[tuple[str, bytes]], list[Diagnostic]]:
    contents: list[tuple[str, bytes]] = []
    diagnostics: list[Diagnostic] = []
    for path in files:
        try:
            contents.append((path, tree.read(path)))
        except (KeyError, SourceError) as error:
            reason = str(error).rstrip(".")
            diagnostics.append(Diagnostic(f"cannot be read: {reason}", Place(path, 1)))
    return contents, diagnostics


def _read(
    contents: list[tuple[str, bytes]],
    index: Index,
    machines: tuple[Machine, ...],
    gate_values: GateValues | None,
    jobs: int,
    store: AnswerStore | None,
) -> list[FileFacts]:
    """The facts of the files that matter."""

    def make(new: Sequence[tuple[str, bytes]]) -> list[FileFacts | None]:
        relevant = [
            (path, data)
            for path, data in new
            if path in index.declaring or index.relevant.search(data)
        ]
        if jobs > 1 and gate_values is None:
            read = read_files(relevant, index, machines, jobs)
        else:
            read = [
                read_file(path, data, index, machines, gate_values)
                for path, data in with_collections(relevant)
            ]
        facts = {file.path: file for file in read}
        return [facts.get(path) for path, _ in new]

    if gate_values is not None or store is None:
        found = make(contents)
    else:
        key = key_of("facts of files", (digest_of_value((index, machines)),))
        found = by_content(store, key, contents, make, lasts)
    return [file for file in found if file is not None]


def _assembled(found: list[FileFacts], index: Index, diagnostics: list[Diagnostic]) -> Extraction:
    decisions = tuple(sorted((d for f in found for d in f.decisions), key=_decision_key))
    rejections = tuple(sorted((r for f in found for r in f.rejections), key=lambda r: r.place))
    sites = tuple(
        sorted((s for f in found for s in f.gates), key=lambda s: (s.gate.name, s.gate.place))
    )
    pairs = relations(decisions, rejections, index.backend_options)
    coupled = frozenset(pair.option for pair in pairs if pair.kind == "decision")
    declared = options(found, index.backend_options, coupled)
    refused = (*rejections, *choice_rejections(declared))
    if not declared:
        diagnostics = [*diagnostics, NO_OPTIONS]
    facts = Facts(
        choice_lists(found),
        declared,
        _enums(found),
        tuple(site.gate for site in sites if not site.attribute),
        tuple(site.gate for site in sites if site.attribute),
        environment(found),
        decisions,
        tuple(sorted(refused, key=lambda item: (item.place, item.kind, item.options))),
        (*diagnostics, *(d for f in found for d in f.diagnostics)),
    )
    names = tuple(name for file in found for name in file.names)
    return Extraction(facts, sites, names, pairs, coverage(facts))


def _decision_key(decision: object) -> tuple[Place, str, str]:
    place: Place = getattr(decision, "place")  # noqa: B009
    return place, getattr(decision, "option"), getattr(decision, "value")  # noqa: B009


def _enums(found: list[FileFacts]) -> tuple[BackendEnum, ...]:
    every = [enum for file in found for enum in file.enums]
    return tuple(sorted(every, key=lambda enum: (enum.name, enum.place)))


def coverage(facts: Facts) -> Coverage:
    """How many gates and decisions were understood, and what was not, with the reason."""
    gates = (*facts.gates, *facts.platform)
    missed = [
        Diagnostic(f"gate `{gate.name}`: {gate.reason}", gate.place)
        for gate in gates
        if not gate.understood
    ]
    missed += [
        Diagnostic(f"decision on {item.option}: {item.reason}", item.place)
        for item in facts.decisions
        if not item.understood
    ]
    return Coverage(
        sum(gate.understood for gate in gates),
        len(gates),
        sum(item.understood for item in facts.decisions),
        len(facts.decisions),
        tuple(missed),
    )
