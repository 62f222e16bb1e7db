"""The parts that every JSON report shares."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import TypeAlias

from sgl_audit.model.facts import JsonValue
from sgl_audit.model.report import Excerpt
from sgl_audit.model.resolution import Assumption, Case
from sgl_audit.model.source import Diagnostic, Place, SourceInfo

FORMAT_VERSION = 1

JsonObject: TypeAlias = dict[str, JsonValue]


def dump(value: JsonValue, *, indent: int | None = 2) -> str:
    """JSON text: keys sorted, ASCII only, so that any terminal, log or editor carries it."""
    return json.dumps(value, indent=indent, sort_keys=True, ensure_ascii=True, allow_nan=False)


def plain(value: JsonValue) -> JsonValue:
    """The value in strict JSON, which has no infinity: such a number becomes its name."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def place_json(place: Place) -> JsonObject:
    """`file` relative to the folder that holds the package, 1-based `line`, 0-based `column`."""
    return {"file": place.file, "line": place.line, "column": place.column}


def maybe_place(place: Place | None) -> JsonValue:
    """The place, or null."""
    return None if place is None else place_json(place)


def strings(items: Iterable[str]) -> list[JsonValue]:
    """A JSON list of strings, in order."""
    return list(items)


def case_json(case: Case) -> JsonObject:
    """One possible value and its condition."""
    return {"when": case.guard, "value": plain(case.value)}


def excerpt_json(excerpt: Excerpt | None) -> JsonValue:
    """Source lines around a place, or null."""
    if excerpt is None:
        return None
    return {"first": excerpt.first, "lines": strings(excerpt.lines)}


def assumption_json(assumption: Assumption) -> JsonObject:
    """Something taken as given."""
    return {
        "name": assumption.name,
        "value": assumption.value,
        "source": assumption.source,
        "decided": strings(assumption.decided),
    }


def diagnostic_json(diagnostic: Diagnostic) -> JsonObject:
    """Something that could not be read or understood."""
    return {"message": diagnostic.message, "where": maybe_place(diagnostic.place)}


def source_json(info: SourceInfo) -> JsonObject:
    """What was analysed."""
    return {
        "kind": info.kind.value,
        "label": info.label,
        "package": info.package,
        "version": info.distribution.version,
        "commit": info.commit,
        "upstream": info.upstream,
        "requires": [
            {
                "name": pin.name,
                "specifier": pin.specifier,
                "version": pin.version,
                "extra": pin.extra,
            }
            for pin in info.distribution.requires
        ],
    }
