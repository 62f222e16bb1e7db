"""Broken variants of the fixture trees: read without a crash, and never called any safer."""

from __future__ import annotations

from pathlib import Path

import pytest

from sgl_audit.evaluate.resolver import Resolver
from sgl_audit.extract.files import FileFacts, read_file
from sgl_audit.extract.index import build_index, machines_for, server_files
from sgl_audit.model.resolution import Launch, Outcome
from sgl_audit.source import open_source
from sgl_audit.syntax import parse_file

from .mutating import MutantTree, mutant_of
from .standing import audited, claims, gained

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
# More of them: scripts/fuzz.py.
READ, LAUNCHED, AUDITED = 300, 40, 10


@pytest.mark.parametrize("name", ["flat_2025", "dataclass_2026", "arg_groups_2026"])
def test_reading(name: str) -> None:
    tree = open_source(str(FIXTURES / name))
    files = server_files(tree)
    machines = machines_for(tree, ("sm90", "sm120"), "13.0", "7.0.0")
    index = build_index(tree, files, machines)
    unread = 0
    for seed in range(READ // 3):
        for path, data in mutant_of(tree, files, seed).changed.items():
            if data is None:
                continue
            facts = read_file(path, data, index, machines)
            if not hasattr(parse_file(path, data), "tree"):
                unread += 1
                assert facts == FileFacts(path, diagnostics=facts.diagnostics)
                assert len(facts.diagnostics) == 1
    assert unread > READ // 12


def test_a_refused_launch_is_not_accepted_where_less_can_be_read() -> None:
    tree = open_source(str(FIXTURES / "dataclass_2026"))
    model = str(FIXTURES / "models/nvfp4_moe_hybrid")
    launch = Launch("one", "sm120", ("--model-path", model, "--quantization", "modelopt_fp4"))

    def refused(answer: object) -> bool:
        return answer.outcome is Outcome.REJECTED or bool(answer.late)  # type: ignore[attr-defined]

    assert refused(Resolver(tree).resolve(launch))
    broken = 0
    for seed in range(LAUNCHED):
        mutant = mutant_of(tree, tree.files(), seed)
        answer = Resolver(MutantTree(tree, mutant.changed)).resolve(launch)
        if mutant.broken:
            broken += 1
            assert refused(answer) or answer.outcome is Outcome.UNKNOWN, mutant
    assert broken > LAUNCHED // 3


@pytest.mark.parametrize(("name", "capability"), [("dataclass_2026", "sm120")])
def test_a_broken_tree_is_called_no_safer(name: str, capability: str) -> None:
    tree = open_source(str(FIXTURES / name))
    before = claims(audited(tree, capability))
    for seed in range(AUDITED):
        mutant = mutant_of(tree, tree.files(), seed)
        after = claims(audited(MutantTree(tree, mutant.changed), capability))
        if mutant.broken:
            assert gained(before, after) == [], mutant


def test_the_same_seed_is_the_same_mutant() -> None:
    tree = open_source(str(FIXTURES / "flat_2025"))
    assert [mutant_of(tree, tree.files(), seed) for seed in range(20)] == [
        mutant_of(tree, tree.files(), seed) for seed in range(20)
    ]


def test_a_gain_is_seen() -> None:
    family, choice = ("family", "x", "sm120"), ("choice", "o", "v", "sm120")
    assert gained({family: -1}, {family: 1}) == ["family x sm120: -1 -> 1"]
    assert gained({}, {choice: 2}) == ["choice o v sm120: 0 -> 2"]
    assert gained({family: -1}, {family: 0}) == []
    assert gained({family: 2}, {family: 2}) == []
