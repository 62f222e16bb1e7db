"""Facts as JSON, in the form that the shared checks and other tools read."""

from __future__ import annotations

from collections.abc import Iterable

from sgl_audit.model.facts import (
    BackendEnum,
    Choice,
    ChoiceList,
    Decision,
    EnvironmentVariable,
    Facts,
    Gate,
    GateForm,
    JsonValue,
    Option,
    Rejection,
)
from sgl_audit.model.guard import ALWAYS, text_of
from sgl_audit_reports.json.encode import (
    FORMAT_VERSION,
    JsonObject,
    diagnostic_json,
    dump,
    maybe_place,
    place_json,
    plain,
    strings,
)


def facts_to_json(facts: Facts, version: str | None) -> str:
    """Everything read from one tree; where a name is defined twice, the first one has the name."""
    return dump(facts_object(facts, version)) + "\n"


def facts_object(facts: Facts, version: str | None) -> JsonObject:
    """The facts as a JSON value."""
    named = [gate for gate in facts.gates if gate.form is not GateForm.INLINE]
    return {
        "format": FORMAT_VERSION,
        "sglang": {"version": version},
        "choice_lists": _by_name((item.name, _choice_list(item)) for item in facts.choice_lists),
        "options": _by_name((item.name, _option(item)) for item in facts.options),
        "enums": _first((item.name, _members(item)) for item in facts.enums),
        "enum_details": _by_name((item.name, _enum(item)) for item in facts.enums),
        "gates": _first((gate.name, dict(gate.holds)) for gate in named),
        "platform": _first((gate.name, dict(gate.holds)) for gate in facts.platform),
        "gate_details": [_gate(gate) for gate in (*facts.gates, *facts.platform)],
        "environment": _by_name((item.name, _environment(item)) for item in facts.environment),
        "decisions": [_decision(item) for item in facts.decisions],
        "rejections": [_rejection(item) for item in facts.rejections],
        "diagnostics": [diagnostic_json(item) for item in facts.diagnostics],
    }


def _first(items: Iterable[tuple[str, JsonObject]]) -> JsonObject:
    result: JsonObject = {}
    for name, value in items:
        result.setdefault(name, value)
    return result


def _by_name(items: Iterable[tuple[str, JsonObject]]) -> JsonObject:
    result: dict[str, JsonObject] = {}
    others: dict[str, list[JsonValue]] = {}
    for name, value in items:
        if name in result:
            others.setdefault(name, []).append(value)
        else:
            result[name] = value
    return {
        name: {**value, "also": others[name]} if name in others else value
        for name, value in result.items()
    }


def _choice_list(item: ChoiceList) -> JsonObject:
    return {
        "values": [plain(value) for value in item.values],
        "ordered": item.ordered,
        "where": place_json(item.place),
        "choices": [_choice(choice) for choice in item.choices],
        "extension_points": [
            {"name": point.name, "where": place_json(point.place)}
            for point in item.extension_points
        ],
        "exported_from": strings(item.exported_from),
    }


def _choice(choice: Choice) -> JsonObject:
    found: JsonObject = {"value": plain(choice.value), "where": maybe_place(choice.place)}
    if choice.note:
        found["note"] = choice.note
    if choice.guard != ALWAYS:
        found["when"] = text_of(choice.guard)
    return found


def _option(item: Option) -> JsonObject:
    return {
        "default": plain(item.default),
        "default_known": item.default_known,
        "flags": strings(flag.name for flag in item.flags),
        "deprecated_flags": strings(flag.name for flag in item.flags if flag.deprecated),
        "choices": None if item.choices is None else [plain(value) for value in item.choices],
        "choice_list": item.choice_list,
        "type": item.type,
        "help": item.help,
        "deprecated": item.deprecated,
        "backend": item.backend,
        "where": place_json(item.place),
    }


def _members(item: BackendEnum) -> JsonObject:
    return {member.name: plain(member.value) for member in item.members if member.alias_of is None}


def _enum(item: BackendEnum) -> JsonObject:
    return {
        "members": strings(member.name for member in item.members),
        "aliases": {m.name: m.alias_of for m in item.members if m.alias_of is not None},
        "predicates": strings(item.predicates),
        "has_missing": item.has_missing,
        "where": place_json(item.place),
    }


def _gate(gate: Gate) -> JsonObject:
    return {
        "name": gate.name,
        "form": gate.form.value,
        "holds": dict(gate.holds),
        "reason": gate.reason,
        "where": place_json(gate.place),
    }


def _environment(item: EnvironmentVariable) -> JsonObject:
    return {
        "default": item.default,
        "deprecated": item.deprecated,
        "replacement": item.replacement,
        "overrides": strings(item.overrides),
        "reads": [place_json(place) for place in item.reads],
        "note": item.note,
        "where": place_json(item.place),
    }


def _decision(item: Decision) -> JsonObject:
    return {
        "option": item.option,
        "value": item.value,
        "literal": plain(item.literal),
        "kind": item.kind.value,
        "when": text_of(item.guard),
        "function": item.function,
        "understood": item.understood,
        "reason": item.reason,
        "where": place_json(item.place),
    }


def _rejection(item: Rejection) -> JsonObject:
    return {
        "options": strings(item.options),
        "kind": item.kind.value,
        "exception": item.exception,
        "message": item.message,
        "when": text_of(item.guard),
        "function": item.function,
        "understood": item.understood,
        "reason": item.reason,
        "where": place_json(item.place),
    }
