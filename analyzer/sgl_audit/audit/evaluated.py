"""What evaluating a tree's own code says of its facts, kept with the files it rests on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sgl_audit.answers import AnswerStore, traced
from sgl_audit.answers.traced import apart
from sgl_audit.evaluate.reading import EvaluatedOption, Reader
from sgl_audit.model.facts import JsonValue, Scalar
from sgl_audit.model.source import Diagnostic, Place, SourceTree

Cells = dict[str, bool | None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to evaluate of a tree.

    Attributes:
        lists: names of choice lists of which the syntax shows the place.
        enums: (file, name).
        gate_files: files whose gates are called; gates: (file, name) of those with a known place.
    """

    capabilities: tuple[str, ...]
    lists: tuple[str, ...] = ()
    enums: tuple[tuple[str, str], ...] = ()
    gate_files: tuple[str, ...] = ()
    gates: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Evaluated:
    """Values as the code gives them.

    Attributes:
        lists: name -> (values, whether they have an order).
        enums: (file, name) -> member -> value; None where the class cannot be evaluated.
        gates: (file, name) -> capability -> value; platform: attribute -> capability -> value.
        places: of lists and gates that only the evaluation found, by name or (file, name).
    """

    options: dict[str, EvaluatedOption] = field(default_factory=dict)
    lists: dict[str, tuple[tuple[Scalar, ...], bool]] = field(default_factory=dict)
    enums: dict[tuple[str, str], dict[str, JsonValue] | None] = field(default_factory=dict)
    gates: dict[tuple[str, str], Cells] = field(default_factory=dict)
    platform: dict[str, Cells] = field(default_factory=dict)
    places: dict[str | tuple[str, str], Place] = field(default_factory=dict)
    platform_place: Place | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


def evaluated(
    tree: SourceTree,
    wanted: Wanted,
    store: AnswerStore | None,
    jobs: int,
    say: Callable[[int], None],
) -> Evaluated:
    """Evaluate what is wanted, or find it where its files are the same as before.

    Args:
        jobs: with more than one, a process with memory of its own does it.
        say: told of capabilities done.
    """

    def make(reading: SourceTree) -> Evaluated:
        if jobs <= 1:
            return _evaluate(reading, wanted, say)
        return apart(_evaluate_silently, reading, wanted)

    return traced(store, "evaluated facts", (wanted,), tree, Evaluated, make)


def _evaluate_silently(tree: SourceTree, wanted: Wanted) -> Evaluated:
    return _evaluate(tree, wanted, lambda done: None)


def _evaluate(tree: SourceTree, wanted: Wanted, say: Callable[[int], None]) -> Evaluated:
    reader = Reader(tree)
    found = Evaluated(options=reader.options())
    _add_lists(found, reader, wanted)
    for file, name in wanted.enums:
        found.enums[file, name] = reader.enum_members(reader.name_of_file(file), name)
    say(0)
    _add_gates(found, reader, wanted, say)
    problems = tuple(Diagnostic(text) for text in reader.problems)
    found.diagnostics = (*problems, *reader.program.diagnostics)
    return found


def _add_lists(found: Evaluated, reader: Reader, wanted: Wanted) -> None:
    root = reader.program.root
    modules = [f"{root}.srt.server_args", f"{root}.srt.arg_groups.choices"]
    for name, (module, values, ordered) in reader.choice_lists(modules).items():
        found.lists[name] = values, ordered
        if name not in wanted.lists:
            found.places[name] = reader.place_of(module, name)


def _add_gates(
    found: Evaluated, reader: Reader, wanted: Wanted, say: Callable[[int], None]
) -> None:
    names = {file: reader.gate_names(file) for file in wanted.gate_files}
    for done, capability in enumerate(wanted.capabilities, 1):
        for file, listed in names.items():
            for name in listed:
                cell = found.gates.setdefault((file, name), {})
                cell[capability] = reader.gate(file, name, capability)
        for name, value in reader.platform(capability).items():
            found.platform.setdefault(name, {})[capability] = value
        say(done)
    known = frozenset(wanted.gates)
    for file, name in found.gates:
        if (file, name) not in known:
            found.places[file, name] = reader.place_of(reader.name_of_file(file), name)
    module = f"{reader.program.root}.srt.runtime_context"
    found.platform_place = reader.place_of(module, "get_platform")
