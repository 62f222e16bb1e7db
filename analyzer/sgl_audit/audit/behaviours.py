"""What each backend option is on each capability with nothing set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sgl_audit.audit.deciding import ground
from sgl_audit.audit.ground import Ground, Setting
from sgl_audit.audit.notes import TreeNotes
from sgl_audit.audit.readers import Reader, scalar_default, silent_readers
from sgl_audit.audit.rewriting import mentions
from sgl_audit.audit.wording import condition_text, value_text
from sgl_audit.model.facts import DecisionKind, Facts, JsonValue, Option, Scalar
from sgl_audit.model.guard import ALWAYS, NEVER, AtomKind, Guard, any_of, atoms
from sgl_audit.model.reduce import reduced, size
from sgl_audit.model.report import FamilyRow, OptionBehaviour
from sgl_audit.model.resolution import Case
from sgl_audit.model.source import Place

UNDECIDED = "auto"
OTHERWISE = "otherwise"
_ROUNDS = 4
_NAMED = 4


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """One decision that an option can meet on a capability, and what remains to be true for it.

    Attributes:
        start: the value it changes.
    """

    setting: Setting
    guard: Guard
    start: Scalar

    @property
    def value(self) -> JsonValue:
        """What the option becomes; source text in brackets where that is computed."""
        if self.setting.known:
            return self.setting.value
        if self.setting.elsewhere:
            return f"(chosen in {self.setting.decision.function})"
        return f"(computed: {self.setting.decision.value})"


def option_behaviours(
    facts: Facts,
    capabilities: tuple[str, ...],
    families: tuple[FamilyRow, ...] = (),
    *,
    notes: TreeNotes | None = None,
    base: Ground | None = None,
) -> tuple[OptionBehaviour, ...]:
    """The behaviour of every backend option that has choices or decisions.

    Args:
        families: model families resolved with nothing set, where that was done.
        notes: what `read_notes` found in the tree; without it conditions of callers are unknown.
        base: the same facts prepared before, for callers that ask more of them.
    """
    base = base or ground(facts, notes)
    return tuple(
        behaviour(base, option, capability, families)
        for option in facts.options
        if shown(base, option)
        for capability in capabilities
    )


def shown(base: Ground, option: Option) -> bool:
    """Whether an option is one that reports speak of."""
    if not option.backend or not option.default_known:
        return False
    return bool(option.choices) or bool(base.settings.get(option.name))


def ways(base: Ground, option: Option, capability: str) -> list[Way]:
    """Every decision an option can meet on a capability, starting at its default."""
    key = ("ways", option.name, capability)
    known: list[Way] | None = base.memory.get(key)
    if known is None:
        known = base.memory[key] = _ways(base, option, capability)
    return known


def _ways(base: Ground, option: Option, capability: str) -> list[Way]:
    default = scalar_default(option)
    reached: list[Scalar] = [default]
    found: list[Way] = []
    met: set[int] = set()
    for _ in range(_ROUNDS):
        before = len(found)
        for setting in base.settings.get(option.name, ()):
            if id(setting) in met or setting.decision.value == option.name:
                continue
            for start in reached:
                guard = base.narrowed(setting.guard, capability, {option.name: (start,)})
                if guard != NEVER and not (setting.known and setting.value == start):
                    met.add(id(setting))
                    found.append(Way(setting, guard, start))
                    break
        values = [way.setting.value for way in found[before:] if way.setting.known]
        reached += [value for value in dict.fromkeys(values) if value not in reached]
        if len(found) == before:
            break
    return sorted(found, key=lambda way: (way.start != default, size(way.guard), _place(way)))


def _place(way: Way) -> Place:
    return way.setting.decision.place


def behaviour(
    base: Ground, option: Option, capability: str, families: Iterable[FamilyRow] = ()
) -> OptionBehaviour:
    """What one option is on one capability."""
    found = ways(base, option, capability)
    default = scalar_default(option)
    rows = [row for row in families if row.capability == capability]
    cases = [*family_cases(option, rows), *written_cases(option, found)]
    met = [
        way
        for way in found
        if way.start == default and (way.setting.early or _runs(way, option.name))
    ]
    settled = reduced(any_of(*(way.guard for way in met))) == ALWAYS
    if not settled:
        cases.append(Case(OTHERWISE if cases else "always", option.default))
    auto = default == UNDECIDED and not settled
    silent = silent_readers(base, option, capability) if auto else ()
    return OptionBehaviour(
        option.name,
        capability,
        value_text(option.default),
        tuple(dict.fromkeys(cases)) if all(_hashable(c) for c in cases) else tuple(cases),
        bool(silent),
        explanation(option, capability, found, settled, silent, rows),
        tuple(dict.fromkeys([*(_place(way) for way in found), *(r.place for r in silent)]))
        or (option.place,),
    )


def _runs(way: Way, option: str) -> bool:
    """Whether a decision stands where older trees still resolve arguments when a server starts.

    Such a one asks what the option is. A part of the server that only some launches start, like a
    worker for drafts, sets options for itself without asking.
    """
    decision = way.setting.decision
    layer = "/layers/" in decision.place.file or "/models/" in decision.place.file
    asks = mentions(way.setting.guard, option)
    return decision.kind is DecisionKind.ASSIGNMENT and asks and not layer


def _hashable(case: Case) -> bool:
    return not isinstance(case.value, (list, dict))


def family_cases(option: Option, rows: Iterable[FamilyRow]) -> list[Case]:
    """What the option became in launches that were resolved, families of one value together."""
    named: dict[str, list[str]] = {}
    for row in rows:
        for name, value in row.values:
            if name == option.name:
                named.setdefault(value, []).append(row.family)
    return [Case(_listed(names), value) for value, names in named.items()]


def _listed(names: list[str]) -> str:
    if len(names) <= _NAMED:
        return ", ".join(names)
    return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"


def written_cases(option: Option, found: Iterable[Way]) -> list[Case]:
    """What decisions make of the option, the smallest condition first."""
    return [Case(way_text(option, way), way.value) for way in found]


def way_text(option: Option, way: Way) -> str:
    """The condition of one way, with where it stands and what it changes."""
    text = condition_text(way.guard)
    if not way.setting.early:
        function = way.setting.decision.function
        text = f"in {function}" if text == "always" else f"{text} (in {function})"
    if way.start != scalar_default(option):
        text = f"once it is {value_text(way.start)}: {text}"
    return text


def explanation(
    option: Option,
    capability: str,
    found: list[Way],
    settled: bool,
    silent: tuple[Reader, ...],
    rows: list[FamilyRow],
) -> str:
    """One line: who decides, or that nobody does."""
    unread = unread_gates(found)
    if unread:
        return f"unknown: the gate {unread[0]} on the way to a decision was not understood"
    if silent:
        return undecided_text(option, capability, silent, rows)
    default = value_text(option.default)
    if not found and option.default == UNDECIDED:
        return f"stays auto when arguments are resolved on {capability}; what uses it was not read"
    if not found:
        return f"no decision changes the default {default} on {capability}"
    early = [way for way in found if way.setting.early]
    where = f"{_place(found[0])}"
    if not early:
        return f"stays {default} when arguments are resolved; layers choose at run time ({where})"
    count = f"{len(found)} decision{'s' if len(found) > 1 else ''}"
    if settled:
        return f"always decided: {count}, first {where}"
    return f"{count} under conditions, first {where}; else it stays {default}"


def undecided_text(
    option: Option, capability: str, silent: tuple[Reader, ...], rows: list[FamilyRow]
) -> str:
    """Who is left with `auto`."""
    labels = list(dict.fromkeys(reader.label for reader in silent))
    first = silent[0]
    asked = ", ".join(first.values) or "other values"
    text = (
        f"{UNDECIDED} survives to run time and nobody decides for {', '.join(labels)} on "
        f"{capability}: {first.function} asks only for {asked} ({first.place})"
    )
    left = [row.family for row in rows if (option.name, UNDECIDED) in row.values]
    return f"{text}; left so for {_listed(left)}" if left else text


def unread_gates(found: Iterable[Way]) -> list[str]:
    """Machine tests on the way that were not understood."""
    kinds = (AtomKind.GATE, AtomKind.PLATFORM)
    return [
        atom.text
        for way in found
        for atom in atoms(way.guard)
        if atom.kind in kinds and atom.capabilities is None
    ]
