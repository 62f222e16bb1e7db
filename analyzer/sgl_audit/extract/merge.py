"""Facts of files joined into facts of the tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sgl_audit.extract.choices import Part, RawList
from sgl_audit.extract.files import FileFacts
from sgl_audit.extract.options import RawOption
from sgl_audit.model.facts import Choice, ChoiceList, ExtensionPoint, Flag, Option
from sgl_audit.model.guard import all_of
from sgl_audit.model.source import Place, program_of

_DEPTH = 6


def choice_lists(files: Iterable[FileFacts]) -> tuple[ChoiceList, ...]:
    """Every list of choices, spliced, with later additions and extension points."""
    ordered = list(files)
    lists = _first_definitions(ordered)
    points: dict[str, list[ExtensionPoint]] = {}
    for file in ordered:
        for item in file.extensions:
            point = ExtensionPoint(item.name, item.target, item.place)
            points.setdefault(item.target, []).append(point)
    result: list[ChoiceList] = []
    for name, raw in sorted(lists.items()):
        exported = tuple(
            file.path for file in ordered if name in file.exports and file.path != raw.place.file
        )
        result.append(
            ChoiceList(
                name,
                tuple(_spliced(raw.parts, lists, _DEPTH)),
                raw.ordered,
                raw.place,
                tuple(sorted(points.get(name, []), key=lambda point: point.place)),
                exported,
            )
        )
    return tuple(result)


def _first_definitions(files: list[FileFacts]) -> dict[str, RawList]:
    lists: dict[str, RawList] = {}
    for file in files:
        for item in file.lists:
            known = lists.get(item.name)
            # Packages keep lists of the same name; the server's own come first.
            if known is None or (_rank(item.place), item.place) < (_rank(known.place), known.place):
                lists[item.name] = item
    changed = dict(lists)
    for file in files:
        for change in file.changes:
            if change.name in changed:
                raw = changed[change.name]
                changed[change.name] = replace(raw, parts=(*raw.parts, *change.parts))
    return changed


def _rank(place: Place) -> int:
    parts = place.file.split("/")
    return 0 if len(parts) > 1 and parts[1] == "srt" else 1


def _spliced(parts: Iterable[Part], lists: Mapping[str, RawList], depth: int) -> list[Choice]:
    choices: list[Choice] = []
    for part in parts:
        if part.splice is None:
            choices.append(Choice(part.value, part.place, part.note, part.guard))
        elif part.splice in lists and depth:
            inner = _spliced(lists[part.splice].parts, lists, depth - 1)
            choices += [replace(item, guard=all_of(part.guard, item.guard)) for item in inner]
    return choices


@dataclass(slots=True)
class _Merging:
    field: RawOption | None = None
    arguments: list[RawOption] | None = None


def options(
    files: Iterable[FileFacts], backend: frozenset[str], coupled: frozenset[str]
) -> tuple[Option, ...]:
    """Every option of the server: fields joined with the arguments that fill them."""
    merged: dict[str, _Merging] = {}
    for file in _option_files(files):
        for raw in file.options.options:
            slot = merged.setdefault(raw.name, _Merging())
            if raw.is_field and slot.field is None:
                slot.field = raw
            elif not raw.is_field:
                slot.arguments = [*(slot.arguments or []), raw]
    return tuple(
        _option(name, slot, name in backend or name in coupled)
        for name, slot in sorted(merged.items())
    )


def _option_files(files: Iterable[FileFacts]) -> list[FileFacts]:
    """The files of the package whose server has the most options."""
    holders = [file for file in files if file.options.options]
    counts: dict[str, int] = {}
    for file in holders:
        top = program_of(file.path)
        counts[top] = counts.get(top, 0) + len(file.options.options)
    if not counts:
        return []
    largest = max(sorted(counts), key=lambda top: counts[top])
    return [file for file in holders if program_of(file.path) == largest]


def _option(name: str, slot: _Merging, backend: bool) -> Option:
    arguments = slot.arguments or []
    first = slot.field or arguments[0]
    every = [first, *(item for item in arguments if item is not first)]
    flags: dict[str, Flag] = {}
    for item in every:
        for flag in item.flags:
            flags.setdefault(flag.name, flag)
    return Option(
        name,
        tuple(flags.values()),
        next((item.type for item in every if item.type), None),
        first.default,
        first.default_known,
        next((item.choices for item in every if item.choices is not None), None),
        next((item.choice_list for item in every if item.choice_list is not None), None),
        next((item.help for item in every if item.help), None),
        bool(every) and all(item.deprecated for item in (arguments or [first])),
        first.place,
        backend,
    )
