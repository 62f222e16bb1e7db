"""What one release holds of every backend option, small enough to keep."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path

from sgl_audit.audit.facts import read_tree
from sgl_audit.audit.families import family_row, resolve_families, served_families
from sgl_audit.audit.wording import value_text
from sgl_audit.memory import uncollected
from sgl_audit.model.capability import ALL_CAPABILITIES
from sgl_audit.model.facts import Facts
from sgl_audit.model.guard import AtomKind, atoms
from sgl_audit.model.history import Aspect, Entry
from sgl_audit.model.source import SourceTree
from sgl_audit.review.launches import Side
from sgl_audit.source.cache import cache_root
from sgl_audit.source.key import content_key

NOWHERE = "nowhere"
_PACKAGE = Path(__file__).resolve().parents[1]

Snapshot = dict[str, tuple[Entry, ...]]


def snapshot(side: Side, capabilities: tuple[str, ...], cache_dir: Path | None) -> Snapshot:
    """Option -> what the release holds of it; read from the cache where it was made before."""
    path = _path(side, capabilities, cache_dir)
    known = _load(path)
    if known is not None:
        return known
    with uncollected():
        made = _make(side, capabilities)
    _store(path, made)
    return made


def _make(side: Side, capabilities: tuple[str, ...]) -> Snapshot:
    read = read_tree(side.tree, capabilities=ALL_CAPABILITIES)
    families = served_families(side.tree, read.facts)
    answers = resolve_families(side.tree, families, capabilities, libraries=side.libraries)
    rows = [family_row(family, answer) for family, answer in answers]
    found: Snapshot = {}
    for option in read.facts.options:
        if not option.backend:
            continue
        choices = ", ".join(str(choice) for choice in option.choices or ())
        default = value_text(option.default) if option.default_known else "computed"
        entries = [
            Entry(Aspect.DEFAULT, "", "", default),
            Entry(Aspect.FLAGS, "", "", " ".join(flag.name for flag in option.flags)),
            *([Entry(Aspect.CHOICES, "", "", choices)] if choices else []),
            *_gates(read.facts, option.name),
        ]
        for row in rows:
            name = row.group or row.family
            value = dict(row.values).get(option.name, "unset")
            entries.append(Entry(Aspect.BECOMES, name, row.capability, value))
            entries.append(Entry(Aspect.LAUNCH, name, row.capability, row.outcome))
        found[option.name] = tuple(entries)
    return found


def _gates(facts: Facts, option: str) -> list[Entry]:
    """The gates that decisions about an option ask, with the capabilities on which each holds."""
    found: dict[str, str] = {}
    for decision in facts.decisions:
        if decision.option == option:
            for atom in atoms(decision.guard):
                named = atom.kind in (AtomKind.GATE, AtomKind.PLATFORM)
                if named and atom.capabilities is not None:
                    holds = [name for name in ALL_CAPABILITIES if name in atom.capabilities]
                    found[" ".join(atom.text.split())[:120]] = " ".join(holds) or NOWHERE
    return [Entry(Aspect.GATE, name, "", value) for name, value in sorted(found.items())]


@lru_cache
def _tool() -> str:
    """Changes whenever the code that makes snapshots does."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _path(side: Side, capabilities: tuple[str, ...], cache_dir: Path | None) -> Path:
    trees: tuple[SourceTree, ...] = (side.tree, *side.libraries)
    parts = [_tool(), *capabilities, *(content_key(tree) for tree in trees)]
    name = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return cache_root(cache_dir) / "results" / "history" / f"{name}.json"


def _load(path: Path) -> Snapshot | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return {
            option: tuple(Entry(Aspect(a), name, where, value) for a, name, where, value in rows)
            for option, rows in data.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        # A missing or damaged entry is made anew.
        return None


def _store(path: Path, made: Snapshot) -> None:
    data = {
        option: [[e.aspect.value, e.name, e.capability, e.value] for e in entries]
        for option, entries in made.items()
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        staging = path.with_suffix(".part")
        staging.write_text(json.dumps(data), encoding="utf-8")
        staging.replace(path)
    except OSError:
        # The cache only saves time; an answer must not end for want of it.
        return
