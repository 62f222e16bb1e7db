"""What names in tests stand for: enum members and predicates, named lists, the option's enum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sgl_audit.model.facts import BackendEnum, Facts, Option, Scalar

# A predicate of an enum, by enum and name: the members for which it holds, None where unknown.
Predicates = Mapping[tuple[str, str], frozenset[str] | None]
_PREFIXES = ("speculative_draft_", "speculative_", "prefill_", "decode_")
# With fewer values in common a name could be any enum's.
_ENOUGH = 3


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The words of one tree.

    Attributes:
        enums: by name, the server's own first where several share one.
        lists: named collections of allowed values.
        options: by name.
        enum_of: option name -> name of the enum that its values become.
        truths: what atoms were found to say, remembered.
    """

    enums: dict[str, BackendEnum]
    lists: dict[str, tuple[Scalar, ...]]
    options: dict[str, Option]
    enum_of: dict[str, str]
    predicates: Predicates = field(default_factory=dict)
    truths: dict[object, bool | None] = field(default_factory=dict)

    def member(self, enum: str, name: str) -> Scalar:
        """The value of a member, or the member's name where its value is no plain constant."""
        found = self.enums.get(enum)
        for member in found.members if found is not None else ():
            if member.name == name:
                return member.value if isinstance(member.value, (str, int, float)) else name
        return None

    def asks(self, option: str, predicate: str, value: Scalar) -> bool | None:
        """Whether `is_x()` of the option's enum holds for a value; None where that is unknown."""
        enum = self.enums.get(self.enum_of.get(option, ""))
        if enum is None:
            return None
        named = [m.name for m in enum.members if value in (m.value, m.name)]
        if not named:
            return None
        known = self.predicates.get((enum.name, predicate))
        if known is not None:
            return named[0] in known
        # Without its definition a predicate is trusted for the member it is called after only.
        own = predicate in enum.predicates and predicate.lower() == f"is_{named[0].lower()}"
        return True if own else None


def vocabulary(facts: Facts, predicates: Predicates | None = None) -> Vocabulary:
    """The words of a tree's facts."""
    enums: dict[str, BackendEnum] = {}
    for enum in sorted(facts.enums, key=lambda item: "/srt/" not in item.place.file):
        enums.setdefault(enum.name, enum)
    found = {option.name: enum_for(option, enums) for option in facts.options if option.choices}
    return Vocabulary(
        enums,
        {item.name: item.values for item in facts.choice_lists},
        {option.name: option for option in facts.options},
        {name: enum for name, enum in found.items() if enum is not None},
        predicates or {},
    )


def enum_for(option: Option, enums: Mapping[str, BackendEnum]) -> str | None:
    """The enum that values of an option become: by name, else by its values."""
    for prefix in ("", *_PREFIXES):
        plain = option.name.removeprefix(prefix).replace("_", "")
        named = [name for name in enums if name.lower() == plain]
        if named:
            return named[0]
    choices = {value for value in option.choices or () if isinstance(value, str)}
    best: tuple[int, str] | None = None
    for name, enum in sorted(enums.items()):
        values = {member.value for member in enum.members if isinstance(member.value, str)}
        common = len(choices & values)
        if choices <= values and common >= _ENOUGH and (best is None or common > best[0]):
            best = (common, name)
    return best[1] if best else None
