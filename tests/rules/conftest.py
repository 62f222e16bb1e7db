"""Fixtures: trees made of a few files in memory, and what the rules find in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sgl_audit.extract.tree import extract
from sgl_audit.kernels.advisories import load_advisories
from sgl_audit.model.capability import ALL_CAPABILITIES as ALL
from sgl_audit.model.capability import CAPABILITIES
from sgl_audit.model.report import Finding
from sgl_audit.model.requirements import (
    BackendSupport,
    FunctionRequirements,
    KernelRequirements,
    Support,
)
from sgl_audit.model.source import Distribution, Place, SourceInfo, SourceKind
from sgl_audit.rules import RuleContext, check_rules
from sgl_audit.source import open_source
from sgl_audit.syntax.excerpt import excerpt


@dataclass(frozen=True)
class MiniTree:
    """A SourceTree over texts."""

    texts: Mapping[str, str]
    info: SourceInfo = field(
        default=SourceInfo(SourceKind.CHECKOUT, "mini", "sglang", Distribution("sglang", "0.0.1"))
    )

    def files(self) -> tuple[str, ...]:
        return tuple(sorted(self.texts))

    def has(self, path: str) -> bool:
        return path in self.texts

    def read(self, path: str) -> bytes:
        return self.texts[path].encode()


PLACE = Place("flashinfer/gemm.py", 1)
KERNELS = KernelRequirements(
    version="0.0.1",
    numbers=tuple(item.number for item in CAPABILITIES),
    functions=(
        FunctionRequirements(
            "flashinfer.gemm.mm_fp4",
            PLACE,
            Support((100, 103, 120, 121), PLACE),
            declared=True,
            backends=(
                BackendSupport("cudnn", Support((100, 103, 120, 121), PLACE)),
                BackendSupport("trtllm", Support((100, 103), PLACE)),
            ),
        ),
    ),
)
FindReal = Callable[[str], tuple[Finding, ...]]
FindIn = Callable[[Mapping[str, str], str], tuple[Finding, ...]]


def context_of(texts: Mapping[str, str]) -> RuleContext:
    tree = MiniTree(texts)
    extraction = extract(tree)
    return RuleContext(
        tree,
        extraction.facts,
        extraction,
        ALL,
        advisories=load_advisories(None)[0],
        kernels=KERNELS,
        excerpt=lambda place: excerpt(tree, place),
    )


@pytest.fixture
def find_in() -> FindIn:
    """Run one rule over a tree given as texts."""

    def find(texts: Mapping[str, str], rule: str) -> tuple[Finding, ...]:
        result = check_rules(context_of(texts), select=[rule])
        assert not result.diagnostics
        return result.findings

    return find


@pytest.fixture
def make_context() -> Callable[[Mapping[str, str]], RuleContext]:
    """The rules' view of a tree given as texts."""
    return context_of


@pytest.fixture(scope="session")
def find_real(real_cache: Path) -> FindReal:
    """The findings of one release, once per session."""
    known: dict[str, tuple[Finding, ...]] = {}

    def find(version: str) -> tuple[Finding, ...]:
        if version not in known:
            tree = open_source(f"sglang=={version}", cache_dir=real_cache)
            read = extract(tree)
            advisories = load_advisories(None)[0]
            result = check_rules(RuleContext(tree, read.facts, read, ALL, advisories=advisories))
            assert not result.diagnostics
            known[version] = result.findings
        return known[version]

    return find
