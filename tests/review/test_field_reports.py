"""Upgrades that surprised people in the field: each is reported by what `diff` is made of.

Entries are named as in the field reports. Families and gates are read for what an entry is about
alone, by the same functions that `diff` uses; a whole review of each pair would take minutes.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from sgl_audit import api
from sgl_audit.audit.facts import read_facts
from sgl_audit.audit.families import Family, family_row, resolve_families, served_families
from sgl_audit.kernels.advisories import load_advisories
from sgl_audit.model.facts import Facts
from sgl_audit.model.report import FamilyRow
from sgl_audit.model.review import Change, ChangeKind, ChangeSubject
from sgl_audit.review.architectures import architecture_changes, decided
from sgl_audit.review.families import changes_of, family_changes
from sgl_audit.review.known_faults import advisory_changes
from sgl_audit.review.launches import Side
from sgl_audit.review.machine import gate_changes
from sgl_audit.review.pins import pin_changes

pytestmark = pytest.mark.real
NO_FACTS = Facts((), (), (), (), (), (), (), ())


class Trees:
    """Releases, opened and read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.side = cache(self._side)
        self.facts = cache(self._facts)

    def _side(self, version: str) -> Side:
        tree = api.open_source(f"sglang=={version}", cache_dir=self.folder)
        return Side(tree, api.open_libraries(tree, cache_dir=self.folder)[0])

    def _facts(self, version: str, *capabilities: str) -> Facts:
        return read_facts(self.side(version).tree, capabilities=capabilities)

    def families(self, version: str, shape: str, capability: str, *flags: str) -> list[FamilyRow]:
        """What families of one shape become."""
        side = self.side(version)
        found: list[Family] = [
            family for family in served_families(side.tree, NO_FACTS) if family.group == shape
        ]
        assert found, shape
        answers = resolve_families(
            side.tree, tuple(found), (capability,), libraries=side.libraries, flags=flags
        )
        return [family_row(family, answer) for family, answer in answers]

    def settings(
        self, old: str, new: str, shape: str, capability: str, *flags: str
    ) -> list[Change]:
        """The changes that families of one shape show."""
        rows = [self.families(version, shape, capability, *flags) for version in (old, new)]
        names = frozenset(name for part in rows for row in part for name, _ in row.values)
        return list(changes_of(family_changes(*rows, {}, names, flags), 1))


@pytest.fixture(scope="module")
def trees(real_cache: Path) -> Trees:
    return Trees(real_cache)


def one(changes: list[Change], name: str) -> Change:
    """The only change of that name."""
    found = [change for change in changes if change.name == name]
    assert len(found) == 1, [change.text for change in changes]
    return found[0]


def test_e03_the_runner_of_gpt_oss_flips_on_sm12x(trees: Trees) -> None:
    for capability in ("sm120", "sm121"):
        first = one(trees.settings("0.5.4", "0.5.5", "MXFP4 MoE", capability), "moe_runner_backend")
        assert (first.before, first.after) == ("triton_kernel", "flashinfer_mxfp4")
        assert first.kind is ChangeKind.BEHAVIOUR
        back = one(trees.settings("0.5.9", "0.5.10", "MXFP4 MoE", capability), "moe_runner_backend")
        assert (back.before, back.after) == ("flashinfer_mxfp4", "triton_kernel")


def test_e07_fp4_gemm_leaves_cutlass_on_sm120(trees: Trees) -> None:
    flags = ("--quantization", "modelopt_fp4")
    changes = trees.settings("0.5.9", "0.5.10", "NVFP4 dense", "sm120", *flags)
    found = one(changes, "fp4_gemm_runner_backend")
    assert (found.before, found.after) == ("flashinfer_cutlass", "flashinfer_cudnn")


def test_e08_fp4_gemm_is_back_on_cutlass(trees: Trees) -> None:
    flags = ("--quantization", "modelopt_fp4")
    for capability in ("sm120", "sm121"):
        changes = trees.settings("0.5.10", "0.5.15", "NVFP4 dense", capability, *flags)
        found = one(changes, "fp4_gemm_runner_backend")
        assert (found.before, found.after) == ("flashinfer_cudnn", "flashinfer_cutlass")


def test_e14_a_gate_widened_under_its_name(trees: Trees) -> None:
    where = ("sm100", "sm120")
    changes = gate_changes(trees.facts("0.5.4", *where), trees.facts("0.5.5", *where), ("sm120",))
    found = [c for c in changes if c.subject is ChangeSubject.GATE and c.name == "is_blackwell"]
    assert [c.kind for c in found] == [ChangeKind.BEHAVIOUR]
    assert "now holds on sm120" in found[0].text


def test_e22_the_runner_of_deepseek_v4_on_sm120(trees: Trees) -> None:
    before, after = (
        decided(trees.side(v).tree, trees.facts(v, "sm120"), ("sm120",))
        for v in ("0.5.15", "0.5.17")
    )
    changes = [
        change
        for change in architecture_changes(before, after, {}, frozenset())
        if "DeepseekV4ForCausalLM" in change.families and change.name == "moe_runner_backend"
    ]
    assert len(changes) == 1
    assert "marlin" in changes[0].before
    assert "marlin" not in changes[0].after
    assert "flashinfer_mxfp4" in changes[0].after
    assert changes[0].old_place is not None
    assert (changes[0].old_place.file, changes[0].old_place.line) == (
        "sglang/srt/arg_groups/overrides.py",
        1334,
    )


def test_e32_a_gate_gains_sm110(trees: Trees) -> None:
    where = ("sm100", "sm110", "sm120")
    changes = gate_changes(
        trees.facts("0.5.8.post1", *where), trees.facts("0.5.9", *where), ("sm110",)
    )
    found = one([c for c in changes if c.kind is ChangeKind.BEHAVIOUR], "is_blackwell_supported")
    assert found.text == "is_blackwell_supported now holds on sm110"


def test_e43_the_pin_of_flashinfer_moves(trees: Trees) -> None:
    old, new = (trees.side(version).tree.info for version in ("0.5.11", "0.5.12"))
    found = one(list(pin_changes(old, new)), "flashinfer-python")
    assert (found.before, found.after) == ("0.6.8.post1", "0.6.11.post1")
    assert found.backend


def test_e61_the_pin_enters_a_range_of_nan_and_leaves_it(trees: Trees) -> None:
    def crossed(old: str, new: str) -> list[Change]:
        changes = advisory_changes(
            load_advisories(None)[0],
            trees.side(old).tree.info,
            trees.side(new).tree.info,
            read_options(trees, new),
            trees.families(new, "NVFP4 MoE", "sm100", "--quantization", "modelopt_fp4"),
            ("sm100", "sm103"),
        )
        return [c for c in changes if c.name == "trtllm-gen-nvfp4-nan-0.6.17"]

    entered = crossed("0.5.17", "0.5.18")
    assert any(c.kind is ChangeKind.BREAKING for c in entered), [c.text for c in entered]
    assert {c.capabilities for c in entered} == {("sm100", "sm103")}
    left = crossed("0.5.18", "0.5.19")
    assert {c.kind for c in left} == {ChangeKind.ADDITIVE}


def read_options(trees: Trees, version: str) -> Facts:
    """The options of a release."""
    from sgl_audit.review.declared import declared_facts

    return declared_facts(trees.side(version).tree)
