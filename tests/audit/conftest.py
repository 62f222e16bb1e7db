"""Fixtures: our own trees with facts and notes, read once, and trees made of a few texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import pytest

from sgl_audit.audit.deciding import ground
from sgl_audit.audit.facts import read_facts
from sgl_audit.audit.ground import Ground
from sgl_audit.audit.notes import TreeNotes, read_notes
from sgl_audit.model.capability import ALL_CAPABILITIES as ALL
from sgl_audit.model.facts import Facts
from sgl_audit.model.source import Distribution, SourceInfo, SourceKind, SourceTree
from sgl_audit.source import open_source

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


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


@dataclass(frozen=True)
class Read:
    """A tree with everything the answers are made from."""

    tree: SourceTree
    facts: Facts
    notes: TreeNotes

    def ground(self) -> Ground:
        return ground(self.facts, self.notes)


@lru_cache
def read_source(spec: str, capabilities: tuple[str, ...] = ALL, cache: str | None = None) -> Read:
    tree = open_source(spec, offline=cache is None, cache_dir=Path(cache) if cache else None)
    facts = read_facts(tree, capabilities=capabilities)
    return Read(tree, facts, read_notes(tree, facts))


@pytest.fixture(scope="session")
def read_fixture() -> Callable[[str], Read]:
    """Read one of our own trees."""
    return lambda name: read_source(str(FIXTURES / name))


@pytest.fixture(scope="session")
def read_texts() -> Callable[[Mapping[str, str]], Read]:
    """Read a tree given as path -> text."""

    def read(texts: Mapping[str, str]) -> Read:
        tree = MiniTree(texts)
        facts = read_facts(tree, capabilities=ALL)
        return Read(tree, facts, read_notes(tree, facts))

    return read
