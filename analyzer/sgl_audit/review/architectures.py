"""What decisions that name a model architecture make of options, where that differs.

Families are resolved; there are more architectures than can be. For the rest the decisions that
name one are compared: they say what an option can become for it, not that nothing else decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sgl_audit.audit.deciding import ground
from sgl_audit.audit.ground import Setting
from sgl_audit.audit.notes import read_notes
from sgl_audit.audit.wording import value_text
from sgl_audit.model.facts import Facts
from sgl_audit.model.guard import And, Atom, Guard, Not, Or, holds_on
from sgl_audit.model.review import Change, ChangeKind, ChangeSubject, Rename
from sgl_audit.model.source import Place, SourceTree

# As the source writes a class name, and as conditions made of registrations name it.
_NAME = re.compile(r"\b[A-Z][A-Za-z0-9_]*(?:For[A-Z][A-Za-z]+|LMHeadModel)\b")
_UNLIKE = re.compile(r"!=|\bnot in\b|\bis not\b")
Key = tuple[str, str, str]


@dataclass(slots=True)
class Decided:
    """The values that decisions give, each with a place, and whether all of them are constants."""

    places: dict[str, Place] = field(default_factory=dict)
    known: bool = True

    @property
    def values(self) -> set[str]:
        """The values alone."""
        return set(self.places)

    def place_beside(self, other: Decided) -> Place:
        """Where a value is given that the other does not have, else any place."""
        own = sorted(self.values - other.values) or sorted(self.values)
        return self.places[own[0]]


def decided(tree: SourceTree, facts: Facts, capabilities: tuple[str, ...]) -> dict[Key, Decided]:
    """(option, architecture, capability) -> what decisions that name the architecture choose."""
    base = ground(facts, read_notes(tree, facts))
    backends = {option.name for option in facts.options if option.backend}
    found: dict[Key, Decided] = {}
    for option in sorted(backends & base.settings.keys()):
        for setting in base.settings[option]:
            if setting.early:
                _add(found, option, setting, capabilities)
    return found


def _add(
    found: dict[Key, Decided], option: str, setting: Setting, capabilities: tuple[str, ...]
) -> None:
    names = named(setting.guard)
    for capability in capabilities if names else ():
        if holds_on(setting.guard, capability) is False:
            continue
        for name in names:
            entry = found.setdefault((option, name, capability), Decided())
            entry.known &= setting.known
            entry.places.setdefault(value_text(setting.value), setting.decision.place)


def named(guard: Guard, holds: bool = True) -> frozenset[str]:
    """Architectures that a guard asks for, not those that it excludes."""
    match guard:
        case Atom(text=text):
            wanted = holds != bool(_UNLIKE.search(text))
            return frozenset(_NAME.findall(text)) if wanted else frozenset()
        case Not(part):
            return named(part, not holds)
        case And(parts) | Or(parts):
            return frozenset(name for part in parts for name in named(part, holds))


def architecture_changes(
    old: Mapping[Key, Decided],
    new: Mapping[Key, Decided],
    renamed: Mapping[str, Rename],
    resolved: frozenset[str],
) -> Iterator[Change]:
    """Options that decisions give other values for an architecture than before.

    Args:
        resolved: architectures of the families that were resolved, which say more.
    """
    groups: dict[tuple[str, str, str], list[tuple[Key, Decided, Decided]]] = {}
    for (option, name, capability), was in old.items():
        heir = renamed[option].new if option in renamed else option
        now = new.get((heir, name, capability))
        if now is None or name in resolved or not (was.known and now.known):
            continue
        if was.values != now.values:
            before, after = (" or ".join(sorted(item.values)) for item in (was, now))
            key = (heir, before, after)
            groups.setdefault(key, []).append(((heir, name, capability), was, now))
    for (option, before, after), members in groups.items():
        names = tuple(dict.fromkeys(key[1] for key, _, _ in members))
        yield Change(
            ChangeKind.BEHAVIOUR,
            ChangeSubject.FAMILY,
            option,
            f"decisions that name {', '.join(names)} set {option} to {after}, before to {before}",
            before=before,
            after=after,
            option=option,
            capabilities=tuple(dict.fromkeys(key[2] for key, _, _ in members)),
            families=names,
            old_place=members[0][1].place_beside(members[0][2]),
            new_place=members[0][2].place_beside(members[0][1]),
            backend=True,
            weight=4,
        )
