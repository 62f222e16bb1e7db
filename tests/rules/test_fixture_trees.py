"""The story of the fixture trees, told by the rules."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sgl_audit.audit.facts import read_tree
from sgl_audit.model.capability import ALL_CAPABILITIES as ALL
from sgl_audit.model.report import Finding
from sgl_audit.rules import RuleContext, check_rules
from sgl_audit.source import open_source

REPOSITORY = Path(__file__).resolve().parents[2]
TREES: dict[str, Any] = json.loads((REPOSITORY / "fixtures/expected.json").read_text("utf-8"))[
    "trees"
]
# What the story calls a place, the rule that must speak of it, and for which capability.
TOLD = (
    ("hybrid_gdn_refusal", "SGA101", "sm120"),
    ("selection_gate_mxfp4", "SGA102", "sm120"),
    ("marlin_member", "SGA107", "sm120"),
)
STORY = [
    pytest.param(tree, part, rule, capability, id=f"{tree}-{part}")
    for tree, row in TREES.items()
    for part, rule, capability in TOLD
    if part in row["story"]
]


@cache
def findings_of(name: str) -> tuple[Finding, ...]:
    tree = open_source(str(REPOSITORY / TREES[name]["root"]))
    read = read_tree(tree, capabilities=ALL)
    result = check_rules(RuleContext(tree, read.facts, read.extraction, ALL))
    assert not result.diagnostics
    return result.findings


@pytest.mark.parametrize(("tree", "part", "rule", "capability"), STORY)
def test_the_story_is_told(tree: str, part: str, rule: str, capability: str) -> None:
    place = TREES[tree]["story"][part]
    linked = [
        (link.place.file, link.place.line)
        for item in findings_of(tree)
        if item.rule == rule and capability in item.capabilities
        for link in item.chain
        if link.place is not None
    ]
    near = [line for file, line in linked if file == place["file"]]
    assert any(0 <= line - place["line"] <= 1 for line in near), linked


@pytest.mark.parametrize(
    "tree", [name for name, row in TREES.items() if "choice_without_member" in row["story"]]
)
def test_a_choice_without_member_is_told(tree: str) -> None:
    found = [item for item in findings_of(tree) if item.rule == "SGA107"]
    assert ("fp8_gemm_runner_backend", "aiter") in [(item.option, item.value) for item in found]


@pytest.mark.parametrize("tree", TREES)
def test_findings_are_few(tree: str) -> None:
    assert 3 <= len(findings_of(tree)) <= 12


@pytest.mark.parametrize("folder", ("syntax_error", "missing_file", "cyclic_import", "undecodable"))
def test_broken_trees_stop_no_rule(folder: str) -> None:
    tree = open_source(str(REPOSITORY / "fixtures/broken" / folder))
    read = read_tree(tree, capabilities=ALL)
    assert not check_rules(RuleContext(tree, read.facts, read.extraction, ALL)).diagnostics
