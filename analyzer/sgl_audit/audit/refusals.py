"""What refuses a value of an option on a capability, and what must hold besides."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

from sgl_audit.audit.expressions import parsed
from sgl_audit.audit.given import Values, truth_of
from sgl_audit.audit.ground import Ground, Refusing
from sgl_audit.audit.places import hands_over
from sgl_audit.model.facts import Option, RejectionKind, Scalar
from sgl_audit.model.guard import ALWAYS, NEVER, And, Atom, AtomKind, Guard, Not, Or, atoms

# A rejection of a greater part of the choices is about something else than the choice.
_MOST = 0.6
_MACHINE = (AtomKind.GATE, AtomKind.PLATFORM)


@dataclass(frozen=True, slots=True, eq=False)
class Refused:
    """One rejection that a value can meet on a capability.

    Attributes:
        guard: what must hold besides, with every other option as it is without its flag.
        whole: the same whatever the other options are.
        broad: whether it refuses most choices, and so says something of its condition, not of
            this value.
        machine: whether the capability decides about it.
    """

    source: Refusing
    guard: Guard
    whole: Guard
    broad: bool
    machine: bool

    @property
    def certain(self) -> bool:
        """Whether nothing else decides, not even another flag or which layer is used."""
        function = self.source.rejection.function
        return self.whole == ALWAYS and (self.source.early or hands_over(function))

    @property
    def of_class(self) -> bool:
        """Whether it stands in a class of some layer, which a launch may never make."""
        return not self.source.early and "." in self.source.rejection.function

    @property
    def telling(self) -> bool:
        """Whether it says something of this value on this capability."""
        return not self.broad or (self.machine and not self.of_class)

    @property
    def possible(self) -> bool:
        """Whether it can happen with this flag alone."""
        return self.guard != NEVER

    @property
    def unread(self) -> Atom | None:
        """A machine test on the way that was not understood."""
        return next(
            (a for a in atoms(self.guard) if a.kind in _MACHINE and a.capabilities is None), None
        )


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """Choices that a rejection cannot tell apart, with its condition for them.

    Attributes:
        machine: whether the capability is asked.
    """

    values: tuple[Scalar, ...]
    whole: Guard
    alone: Guard
    machine: bool


def refusals(base: Ground, option: Option, value: Scalar, capability: str) -> list[Refused]:
    """The rejections that a value of an option can meet on a capability, the most telling first."""
    found: list[tuple[int, Refused]] = []
    own = own_words(base, option)
    for source, met in met_on(base, option, capability):
        mine, whole = next(pair for pair in met if value in pair[0].values)
        if whole == NEVER:
            continue
        # What a rejection does to most choices is its background: a value is refused for what it
        # is where it fares differently, or where some other value is let through.
        common = max(met, key=lambda pair: len(pair[0].values))[1]
        singled = whole != common or any(other == NEVER for _, other in met)
        asserted = isinstance(value, str) and value in own and _asserts(whole, value)
        if (not singled and not asserted) or sanity(source, option, value):
            continue
        count = sum(len(kind.values) for kind, guard in met if guard != NEVER)
        count = 1 if asserted else count
        broad = count > _MOST * len(option.choices or ())
        alone = base.there(mine.alone, capability)
        found.append((count, Refused(source, alone, whole, broad, mine.machine)))
    return [item for _, item in sorted(found, key=lambda pair: pair[0])]


def sanity(source: Refusing, option: Option, value: Scalar) -> bool:
    """Whether a rejection is a layer checking its own tensors, not a setting."""
    rejection = source.rejection
    if source.early or rejection.kind is not RejectionKind.ASSERT:
        return False
    flags = [flag.name for flag in option.flags]
    named = any(word in rejection.message for word in (option.name, str(value), *flags))
    return not named and not any(a.capabilities is not None for a in atoms(source.guard))


Met = list[tuple[Refusing, list[tuple[Kind, Guard]]]]


def met_on(base: Ground, option: Option, capability: str) -> Met:
    """The rejections that any value of an option can meet on a capability."""
    key = ("met", option.name, capability)
    known: Met | None = base.memory.get(key)
    if known is None:
        known = []
        for source in concerning(base, option):
            every = [
                (kind, base.there(kind.whole, capability)) for kind in kinds(base, source, option)
            ]
            if any(guard != NEVER for _, guard in every):
                known.append((source, every))
        base.memory[key] = known
    return known


def kinds(base: Ground, source: Refusing, option: Option) -> tuple[Kind, ...]:
    """The choices of an option as a rejection tells them apart."""
    key = ("kinds", id(source), option.name)
    known: tuple[Kind, ...] | None = base.memory.get(key)
    if known is None:
        asked = [atom for atom in atoms(source.guard) if atom.options == (option.name,)]
        groups: dict[tuple[bool | None, ...], list[Scalar]] = {}
        for value in option.choices or ():
            given = {option.name: (value,)}
            said = tuple(truth_of(atom, given, base.words) for atom in asked)
            groups.setdefault(said, []).append(value)
        known = base.memory[key] = tuple(
            Kind(tuple(values), *_assumed(base, source, {option.name: (values[0],)}))
            for values in groups.values()
        )
    return known


def _assumed(base: Ground, source: Refusing, given: Values) -> tuple[Guard, Guard, bool]:
    whole = base.assumed(source.guard, given, alone=False)
    machine = any(atom.capabilities is not None for atom in atoms(whole))
    return whole, base.assumed(whole, given), machine


def concerning(base: Ground, option: Option) -> list[Refusing]:
    """The rejections whose guard asks for an option, or quotes a choice only it has."""
    key = ("concerning", option.name)
    known: list[Refusing] | None = base.memory.get(key)
    if known is None:
        own = own_words(base, option)
        known = base.memory[key] = [
            source
            for source, read, words in asked_by(base)
            if option.name in read or not own.isdisjoint(words)
        ]
    return known


def asked_by(base: Ground) -> list[tuple[Refusing, frozenset[str], frozenset[str]]]:
    """Each rejection with the options it reads and the words it quotes under other names."""
    known: list[tuple[Refusing, frozenset[str], frozenset[str]]] | None = base.memory.get("asked")
    if known is None:
        known = base.memory["asked"] = []
        for source in base.rejections:
            tests = tuple(atoms(source.guard))
            read = frozenset(name for atom in tests for name in atom.options)
            words = frozenset(word for atom in tests if not atom.options for word in quoted(atom))
            known.append((source, read, words))
    return known


def own_words(base: Ground, option: Option) -> frozenset[str]:
    """The choices that no option with other choices has, so that quoting one means this option."""
    key = ("own words", option.choices)
    known: frozenset[str] | None = base.memory.get(key)
    if known is None:
        whole = {value for value in option.choices or () if isinstance(value, str)}
        mine = set(whole)
        for other in base.facts.options:
            theirs = set(other.choices or ())
            # Options that share most of their choices are phases of one setting.
            if len(theirs & whole) * 2 <= len(theirs | whole):
                mine -= theirs
        known = base.memory[key] = frozenset(mine)
    return known


def quoted(atom: Atom) -> frozenset[str]:
    """The words that a test quotes."""
    return _quoted(atom.text)


@lru_cache(maxsize=65536)
def _quoted(text: str) -> frozenset[str]:
    node = parsed(text) if "'" in text or '"' in text else None
    if node is None:
        return frozenset()
    return frozenset(
        inner.value
        for inner in ast.walk(node)
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
    )


def _asserts(guard: Guard, value: str) -> bool:
    """Whether a guard needs a test to hold that quotes a value under a name nobody knows."""
    match guard:
        case Atom():
            return not guard.options and value in quoted(guard)
        case Not():
            return False
        case And(parts):
            return any(_asserts(part, value) for part in parts)
        case Or(parts):
            return bool(parts) and all(_asserts(part, value) for part in parts)
