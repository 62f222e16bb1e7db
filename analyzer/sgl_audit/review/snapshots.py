"""What one release holds of every backend option, small enough to keep."""

from __future__ import annotations

from pathlib import Path

from sgl_audit.answers import AnswerStore, key_of, tree_key
from sgl_audit.audit.facts import read_tree
from sgl_audit.audit.families import family_row, resolve_families, served_families
from sgl_audit.audit.wording import value_text
from sgl_audit.memory import uncollected
from sgl_audit.model.capability import ALL_CAPABILITIES
from sgl_audit.model.facts import Facts
from sgl_audit.model.guard import AtomKind, atoms
from sgl_audit.model.history import Aspect, Entry
from sgl_audit.review.launches import Side

NOWHERE = "nowhere"

Snapshot = dict[str, tuple[Entry, ...]]


def snapshot(
    side: Side, capabilities: tuple[str, ...], cache_dir: Path | None, anew: bool = False
) -> Snapshot:
    """Option -> what the release holds of it; as it was kept where it was made before.

    Args:
        anew: make it anyway, and keep nothing.
    """
    if anew:
        return _made(side, capabilities)
    parts = (*capabilities, *(tree_key(tree) for tree in (side.tree, *side.libraries)))
    made: Snapshot = AnswerStore(cache_dir).once(
        key_of("history", parts), dict, lambda: _made(side, capabilities)
    )
    return made


def _made(side: Side, capabilities: tuple[str, ...]) -> Snapshot:
    with uncollected():
        return _make(side, capabilities)


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
