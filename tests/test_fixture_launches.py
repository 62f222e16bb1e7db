"""Every recorded launch of our own miniature trees, resolved; what was recorded is what they do."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sgl_audit.audit.facts import read_facts
from sgl_audit.evaluate.resolver import Resolver
from sgl_audit.model.facts import Facts
from sgl_audit.model.resolution import Launch, Outcome, Refusal
from sgl_audit.source import open_source

ROOT = Path(__file__).resolve().parents[1]
EXPECTED = json.loads((ROOT / "fixtures" / "expected.json").read_text(encoding="utf-8"))
TREES: dict[str, Any] = EXPECTED["trees"]
ROWS = [(name, row) for name, tree in TREES.items() for row in tree["launches"]]
STAGES = ("quantization", "moe_method", "attention")


@cache
def resolver(name: str) -> Resolver:
    return Resolver(open_source(str(ROOT / TREES[name]["root"])))


@cache
def facts(name: str) -> Facts:
    tree = open_source(str(ROOT / TREES[name]["root"]))
    return read_facts(tree, capabilities=tuple(EXPECTED["capabilities"]))


def launch_of(row: dict[str, Any]) -> Launch:
    return Launch(
        id=row["id"],
        capability=row["arch"],
        argv=("--model-path", str(ROOT / "fixtures" / "models" / row["model"]), *row["flags"]),
        environment=tuple(row["env"].items()),
        assume=tuple((k, str(v)) for k, v in row["assume"].items()),
    )


@pytest.mark.parametrize(("name", "row"), ROWS, ids=[row["id"] for _, row in ROWS])
def test_a_recorded_launch(name: str, row: dict[str, Any]) -> None:
    answer = resolver(name).resolve(launch_of(row))
    if row["outcome"] == "rejected":
        assert answer.outcome is Outcome.REJECTED, answer.reason
        assert answer.rejection is not None
        place = answer.rejection.place
        found = (answer.rejection.type, place and place.file, place and place.line)
        want = row["rejection"]
        assert found == (want["type"], want["file"], want["line"])
        return
    assert answer.outcome is Outcome.OK, answer.reason or answer.rejection
    decided = {v.name: v.value for v in answer.options if v.decided}
    assert {k: decided.get(k, v) for k, v in row["options"].items()} == row["options"]
    shown = {v.name: v.value for v in answer.runtime if v.decided}
    assert {k: shown.get(k) for k in row.get("runtime", {})} == row.get("runtime", {})


@pytest.mark.parametrize(("name", "row"), ROWS, ids=[row["id"] for _, row in ROWS])
def test_what_loading_refuses(name: str, row: dict[str, Any]) -> None:
    if row["outcome"] == "rejected" or "late" not in row:
        pytest.skip("refused before loading")
    answer = resolver(name).resolve(launch_of(row))
    real = earliest([(r["stage"], r["file"], r["line"]) for r in row["late"]["refusals"]])
    if answer.late is None:
        pytest.skip("not told; never counted as accepted")
    assert earliest([stage_of(refusal) for refusal in answer.late]) == real


def stage_of(refusal: Refusal) -> tuple[str, str | None, int | None]:
    place = refusal.place
    return refusal.stage, place and place.file, place and place.line


def earliest(refusals: list[tuple[str, Any, Any]]) -> tuple[str, Any, Any] | None:
    listed = [item for item in refusals if item[0] in STAGES]
    return min(listed, key=lambda item: STAGES.index(item[0])) if listed else None


@pytest.mark.parametrize("name", TREES)
def test_facts_are_what_the_tree_defines(name: str) -> None:
    found = facts(name)
    want = TREES[name]["facts"]
    lists = {item.name: sorted(map(str, item.values)) for item in found.choice_lists}
    for key, values in want["choice_lists"].items():
        assert lists.get(key) == sorted(map(str, values)), key
    options = {option.name: option for option in found.options}
    for key, option in want["options"].items():
        assert sorted(flag.name for flag in options[key].flags) == sorted(option["flags"]), key
        if option["default"] is not None:
            assert options[key].default == option["default"], key
    enums = {e.name: {m.name: m.value for m in e.members if not m.alias_of} for e in found.enums}
    for key, members in want["enums"].items():
        assert enums.get(key) == members, key


@pytest.mark.parametrize("name", TREES)
def test_gates_hold_where_the_tree_says(name: str) -> None:
    want = TREES[name]["facts"]
    first: dict[str, dict[str, bool | None]] = {}
    for gate in facts(name).gates:
        first.setdefault(gate.name, dict(gate.holds))
    for key, capabilities in want["gates"].items():
        holds = first.get(key)
        assert holds is not None, key
        assert sorted(c for c, value in holds.items() if value) == sorted(capabilities), key
        assert None not in holds.values(), key
    platform = {gate.name: dict(gate.holds) for gate in facts(name).platform}
    for key, capabilities in want["platform"].items():
        held = sorted(c for c, value in platform[key].items() if value)
        assert held == sorted(capabilities), key
