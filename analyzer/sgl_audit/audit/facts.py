"""The facts of a tree: places and guards from its syntax, values from evaluating its code."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from sgl_audit.answers import AnswerStore
from sgl_audit.audit.evaluated import Evaluated, Wanted, evaluated
from sgl_audit.evaluate.reading import EvaluatedOption
from sgl_audit.extract.tree import Extraction, coverage, extract
from sgl_audit.model.facts import (
    BackendEnum,
    Choice,
    ChoiceList,
    EnumMember,
    Facts,
    Flag,
    Gate,
    GateForm,
    Option,
    Scalar,
)
from sgl_audit.model.progress import Progress
from sgl_audit.model.report import Coverage
from sgl_audit.model.source import Place, SourceTree

# A file with this many gate functions is where the tree keeps its gates.
GATE_MODULE = 5
DEFINED = (GateForm.FUNCTION, GateForm.ALIAS)


@dataclass(frozen=True, slots=True)
class TreeFacts:
    """Facts with what rules need beside them."""

    facts: Facts
    extraction: Extraction
    coverage: Coverage


def read_facts(
    tree: SourceTree,
    *,
    capabilities: tuple[str, ...],
    jobs: int = 1,
    progress: Progress | None = None,
    store: AnswerStore | None = None,
) -> Facts:
    """The facts of a tree."""
    read = read_tree(tree, capabilities=capabilities, jobs=jobs, progress=progress, store=store)
    return read.facts


def read_tree(
    tree: SourceTree,
    *,
    capabilities: tuple[str, ...],
    jobs: int = 1,
    progress: Progress | None = None,
    store: AnswerStore | None = None,
) -> TreeFacts:
    """Facts, extraction and coverage of a tree.

    Args:
        capabilities: on which gates are evaluated.
        progress: told of steps done and steps in all.
        store: where what was read of files before is kept.
    """
    steps = len(capabilities) + 3
    say = progress or (lambda done, total: None)
    extraction = extract(tree, None, capabilities, jobs=jobs, store=store)
    say(1, steps)
    static = extraction.facts
    gate_files = gate_modules(static)
    wanted = Wanted(
        capabilities,
        tuple(item.name for item in static.choice_lists),
        tuple((enum.place.file, enum.name) for enum in static.enums),
        gate_files,
        tuple((g.place.file, g.name) for g in static.gates if is_defined(g, gate_files)),
    )
    values = evaluated(tree, wanted, store, jobs, lambda done: say(2 + done, steps))
    facts = replace(
        static,
        options=merge_options(static.options, values.options, tree),
        choice_lists=merge_choice_lists(static.choice_lists, values),
        enums=tuple(merge_enum(enum, values) for enum in static.enums),
        gates=merge_gates(static.gates, values, capabilities),
        platform=merge_platform(static.platform, values, capabilities),
        diagnostics=(*static.diagnostics, *values.diagnostics),
    )
    say(steps, steps)
    return TreeFacts(facts, extraction, coverage(facts))


def gate_modules(static: Facts) -> tuple[str, ...]:
    """The server's files that keep its gates, sorted."""
    counts = Counter(gate.place.file for gate in static.gates if gate.form in DEFINED)
    return tuple(
        file for file, count in sorted(counts.items()) if count >= GATE_MODULE and is_server(file)
    )


def is_defined(gate: Gate, files: tuple[str, ...]) -> bool:
    """Whether a gate is a function or a name of one of the files."""
    return gate.form in DEFINED and gate.place.file in files


def merge_options(
    static: tuple[Option, ...], evaluated: dict[str, EvaluatedOption], tree: SourceTree
) -> tuple[Option, ...]:
    """Options with evaluated flags, defaults and choices; without an evaluation as they stand."""
    known = {option.name: option for option in static}
    merged = [
        merge_option(known.get(name), option, tree) for name, option in sorted(evaluated.items())
    ]
    rest = [option for option in static if option.name not in evaluated]
    return tuple(sorted((*merged, *rest), key=lambda option: option.name))


def merge_option(static: Option | None, value: EvaluatedOption, tree: SourceTree) -> Option:
    """One option: its place, list and deprecation from the syntax, the rest as evaluated."""
    places = {flag.name: flag for flag in static.flags} if static is not None else {}
    flags = tuple(places.get(flag) or Flag(flag) for flag in value.flags)
    fallback = Place(f"{tree.info.package}/srt/server_args.py", 1)
    return Option(
        name=value.name,
        flags=flags,
        type=value.type or (static.type if static else None),
        default=value.default,
        default_known=value.default_known,
        choices=value.choices,
        choice_list=static.choice_list if static else None,
        help=value.help or (static.help if static else None),
        deprecated=value.deprecated or bool(static and static.deprecated),
        place=static.place if static is not None else fallback,
        backend=bool(static and static.backend),
    )


def merge_choice_lists(static: tuple[ChoiceList, ...], values: Evaluated) -> tuple[ChoiceList, ...]:
    """Choice lists with evaluated values, in evaluated order."""
    known = {item.name: item for item in static}
    merged = dict(known)
    for name, (listed, ordered) in values.lists.items():
        merged[name] = merge_list(known.get(name), name, listed, ordered, values)
    return tuple(merged[name] for name in sorted(merged))


def merge_list(
    static: ChoiceList | None,
    name: str,
    values: tuple[Scalar, ...],
    ordered: bool,
    found: Evaluated,
) -> ChoiceList:
    """One list: notes and places of the choices from the syntax, where it shows them."""
    notes = {choice.value: choice for choice in static.choices} if static is not None else {}
    choices = tuple(notes.get(value) or Choice(value) for value in values)
    if static is not None:
        return replace(static, choices=choices, ordered=ordered)
    return ChoiceList(name, choices, ordered, found.places[name])


def merge_enum(enum: BackendEnum, values: Evaluated) -> BackendEnum:
    """An enum with evaluated member values; aliases stay as the syntax shows them."""
    members = values.enums[enum.place.file, enum.name]
    if members is None:
        return enum
    known = {member.name: member for member in enum.members}
    merged = [
        replace(known[name], value=value) if name in known else EnumMember(name, value)
        for name, value in members.items()
    ]
    aliases = [m for m in enum.members if m.name not in members and m.alias_of is not None]
    return replace(enum, members=(*merged, *aliases))


def is_server(file: str) -> bool:
    """Whether a file belongs to the language-model server."""
    parts = file.split("/")
    return len(parts) > 1 and parts[1] == "srt"


def merge_gates(
    static: tuple[Gate, ...], values: Evaluated, capabilities: tuple[str, ...]
) -> tuple[Gate, ...]:
    """Gates of the syntax with evaluated values, and those only evaluation found."""
    merged: list[Gate] = []
    seen: set[tuple[str, str]] = set()
    for gate in static:
        key = (gate.place.file, gate.name)
        if gate.form in DEFINED and key in values.gates:
            seen.add(key)
            gate = with_values(gate, values.gates[key])
        merged.append(gate)
    for key, cells in sorted(values.gates.items()):
        if key not in seen and any(v is not None for v in cells.values()):
            holds = tuple((capability, cells.get(capability)) for capability in capabilities)
            place = values.places[key]
            merged.append(Gate(key[1], GateForm.FUNCTION, holds, place, reason_of(holds)))
    return tuple(sorted(merged, key=gate_key))


def gate_key(gate: Gate) -> tuple[str, int, Place]:
    """By name; the server's own definition first, its utilities before anything else."""
    utilities = "/srt/utils" in gate.place.file
    rank = 0 if utilities else 1 if is_server(gate.place.file) else 2
    return gate.name, rank, gate.place


def with_values(gate: Gate, cells: dict[str, bool | None]) -> Gate:
    """A gate with evaluated values where there are any."""
    holds = tuple(
        (name, cells[name] if cells.get(name) is not None else value) for name, value in gate.holds
    )
    return replace(gate, holds=holds, reason=reason_of(holds) and gate.reason)


def reason_of(holds: tuple[tuple[str, bool | None], ...]) -> str | None:
    """A reason where a value is missing."""
    missing = [name for name, value in holds if value is None]
    return (
        f"its value on {', '.join(missing)} depends on more than the capability"
        if missing
        else None
    )


def merge_platform(
    static: tuple[Gate, ...], values: Evaluated, capabilities: tuple[str, ...]
) -> tuple[Gate, ...]:
    """Attributes of the platform object: evaluated where the tree has such an object."""
    known = {gate.name: gate for gate in static}
    for name, cells in values.platform.items():
        holds = tuple((capability, cells.get(capability)) for capability in capabilities)
        if all(value is None for _, value in holds):
            continue
        assert values.platform_place is not None
        gate = known.get(name) or Gate(name, GateForm.ATTRIBUTE, holds, values.platform_place)
        known[name] = replace(gate, holds=holds, reason=reason_of(holds))
    return tuple(known[name] for name in sorted(known))
