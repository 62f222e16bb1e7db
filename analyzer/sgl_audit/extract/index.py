"""The cheap first pass: names that every later file needs, and nothing else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sgl_audit.answers import AnswerStore
from sgl_audit.extract.choices import RawList
from sgl_audit.extract.enums import names_backends
from sgl_audit.extract.machine.outside import Machine
from sgl_audit.extract.machine.portable import touches
from sgl_audit.extract.machine.values import Entry, TableFunction
from sgl_audit.extract.machine.world import MachineTable
from sgl_audit.extract.names import FileNames, names_of_files, seeds_of
from sgl_audit.extract.options import RawOption
from sgl_audit.extract.tables import machine_table
from sgl_audit.model.capability import BY_NAME
from sgl_audit.model.facts import BackendEnum
from sgl_audit.model.source import SourceTree, program_of
from sgl_audit.syntax.prefilter import (
    CAPABILITY_LITERALS,
    INDEXED_LITERALS,
    literal_pattern,
)

# Folders whose code never runs in a server.
_OUTSIDE = re.compile(r"/(?:tests?|benchmarks?|examples?|third_party)/")
# Which modules a distribution brings under another name than its own.
_MODULES = {
    "flashinfer_python": ("flashinfer",),
    "sgl_kernel": ("sgl_kernel", "deep_gemm"),
    "sglang_kernel": ("sgl_kernel", "deep_gemm"),
}
# How a function says that it refuses or sets something, in a file that is worth reading anyway.
_ACTIONS = (
    b"nsupported",
    b"not support",
    b"scheme",
    b"equires ",
    b"server_args.",
    b"overrides[",
    b"declared[",
    b"return {",
    b"setattr(",
)
_OPTION_WORDS = ("backend", "quantization", "kv_cache_dtype", "moe_runner")


@dataclass(frozen=True, slots=True)
class Index:
    """Names of the whole tree, small enough to hand to every worker.

    Attributes:
        options: every server option of the main package; flags: its spellings -> its name.
        backend_options: those that select a backend or a format.
        values: choice values of backend options and backend enums.
        enums: enum name -> member names; backend_enums: those whose members are backends.
        predicates: `is_x` method of a backend enum -> the member it asks for.
        bag_getters: functions that return the server's arguments or a part of them.
        declaring: files that declare options, choices or environment variables.
    """

    machines: MachineTable
    options: frozenset[str]
    flags: Mapping[str, str]
    backend_options: frozenset[str]
    option_classes: frozenset[str]
    values: frozenset[str]
    enums: Mapping[str, Mapping[str, str | None]]
    backend_enums: frozenset[str]
    predicates: Mapping[str, str]
    choice_lists: frozenset[str]
    bag_getters: frozenset[str]
    declaring: frozenset[str]
    relevant: re.Pattern[bytes]
    acting: re.Pattern[bytes]
    machine_names: re.Pattern[bytes]


def server_files(tree: SourceTree) -> tuple[str, ...]:
    """The files that can run in a server."""
    return tuple(path for path in tree.files() if not _OUTSIDE.search(path))


def machines_for(
    tree: SourceTree, capabilities: Iterable[str], cuda: str, hip: str
) -> tuple[Machine, ...]:
    """The machines to read on, with what the distribution pins as installed packages."""
    packages: dict[str, str | None] = {}
    for pin in tree.info.distribution.requires:
        # Older releases pin what a server needs in an extra.
        name = pin.name.replace("-", "_")
        for module in (name, *_MODULES.get(name, ())):
            if packages.get(module) is None:
                packages[module] = pin.version
    return tuple(Machine(BY_NAME[name], cuda, hip, packages) for name in capabilities)


def build_index(
    tree: SourceTree,
    files: tuple[str, ...],
    machines: tuple[Machine, ...],
    store: AnswerStore | None = None,
    jobs: int = 1,
) -> Index:
    """Read the names of a tree.

    Args:
        store: where what was read of files before is kept.
        jobs: worker processes.
    """
    names = names_of_files(tree, files, store)
    variables = {item.name: item.value for file in names for item in file.variables}
    table = machine_table(tree, files, machines, variables, seeds_of(names), store, jobs)
    return _assemble(names, table)


def _assemble(files: tuple[FileNames, ...], table: MachineTable) -> Index:
    declared = [option for file in files for option in file.options]
    enums = [enum for file in files for enum in file.enums]
    options = main_options(declared)
    listed = {item.name: item for file in files for item in file.lists}
    backend_options = frozenset(
        option.name
        for option in options
        if any(word in option.name for word in _OPTION_WORDS)
        or (option.choice_list is not None and "BACKEND" in option.choice_list)
    )
    values = _values(declared, listed, backend_options)
    backends = [enum for enum in enums if names_backends(enum, values)]
    members = {m.value for enum in backends for m in enum.members if isinstance(m.value, str)}
    named = {o.choice_list for o in options if o.choice_list and o.choice_list.isupper()}
    lists = frozenset(listed) | named
    words = _words(backend_options, backends, lists) | _known(table, _asks_capability)
    return Index(
        table,
        frozenset(option.name for option in options),
        {flag.name: option.name for option in options for flag in option.flags},
        backend_options,
        frozenset(name for file in files for name in file.classes),
        values | members,
        {
            enum.name: {m.name: m.value if isinstance(m.value, str) else None for m in enum.members}
            for enum in enums
        },
        frozenset(enum.name for enum in backends),
        _predicates(backends),
        lists,
        frozenset({"get_exec", "get_server_args", "get_global_server_args", "resolving_view"}),
        frozenset(file.path for file in files if file.declares),
        literal_pattern(words),
        literal_pattern((*words, *_ACTIONS)),
        _machine_names(table),
    )


def _predicates(backends: list[BackendEnum]) -> dict[str, str]:
    found: dict[str, str] = {}
    for enum in backends:
        by_name = {member.name.lower(): member.name for member in enum.members}
        for name in enum.predicates:
            if name not in _AMBIGUOUS:
                found[name] = by_name.get(name.removeprefix("is_"), "")
    return found


def main_options(options: Iterable[RawOption]) -> list[RawOption]:
    """The options of the server, and those of other programs in the tree with a telling name."""
    every = list(options)
    counts = Counter(program_of(option.place.file) for option in every)
    main = max(sorted(counts), key=lambda name: counts[name], default="")
    return [
        item for item in every if program_of(item.place.file) == main or item.name.count("_") > 0
    ]


# Predicates that tensors and platforms have as well.
_AMBIGUOUS = frozenset({"is_cuda", "is_cpu", "is_hip", "is_npu", "is_xpu", "is_none"})


def _values(
    declared: Iterable[RawOption],
    listed: Mapping[str, RawList],
    backend_options: frozenset[str],
) -> frozenset[str]:
    found: set[str] = set()
    for option in declared:
        if option.name in backend_options:
            found |= {item for item in option.choices or () if isinstance(item, str)}
    for item in listed.values():
        if "BACKEND" in item.name or "QUANT" in item.name or "CHOICES" in item.name:
            found |= {part.value for part in item.parts if isinstance(part.value, str)}
    return frozenset(found)


def _machine_names(table: MachineTable) -> re.Pattern[bytes]:
    """Names whose mention makes a definition worth evaluating."""
    return literal_pattern({*INDEXED_LITERALS, *_known(table, touches)})


def _known(table: MachineTable, wanted: Callable[[Entry], bool]) -> frozenset[bytes]:
    return frozenset(
        name.encode()
        for names in table.exports.values()
        for name, entries in names.items()
        if _telling(name) and any(wanted(entry) for entry in entries)
    )


def _telling(name: str) -> bool:
    """Whether a name is no word that files use for anything."""
    return len(name) > 7 and "_" in name.strip("_")


def _asks_capability(entry: Entry) -> bool:
    value = entry.value
    inner = isinstance(value, TableFunction) and _asks_capability(value.entry)
    return inner or "capability" in entry.flags


def _words(
    backend_options: frozenset[str],
    backends: list[BackendEnum],
    lists: frozenset[str],
) -> frozenset[bytes]:
    """What makes a file or a function worth reading."""
    words = {name.encode() for name in backend_options if "_" in name}
    for name in backend_options:
        # A name that is a plain word counts only where it is asked, set or a key.
        words |= {f".{name} {mark}".encode() for mark in ("=", "in", "not", "!", "is")}
        words |= {f'"{name}"'.encode()}
    words |= {name.encode() + mark for name in _names(backends) for mark in (b".", b"(")}
    words |= {name.encode() for enum in backends for name in enum.predicates if len(name) > 8}
    words |= {name.encode() for name in lists if "_" in name}
    words |= {b"torch.version.", b"def add_cli_args", *CAPABILITY_LITERALS}
    return frozenset(words)


def _names(enums: list[BackendEnum]) -> list[str]:
    return [enum.name for enum in enums]
