"""Who reads an option at run time, and who of them has nothing to do for `auto`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sgl_audit.audit.given import assume
from sgl_audit.audit.ground import Ground, Setting
from sgl_audit.audit.places import makes_kernel
from sgl_audit.audit.switches import Switched
from sgl_audit.model.facts import Decision, Option, Rejection, Scalar
from sgl_audit.model.guard import NEVER, Guard, atoms
from sgl_audit.model.source import Place

_FORMAT = re.compile(r"nvfp4|mxfp4|mxfp8|fp8|int8|mxint4|w4a\d+|w8a8|wna16|awq|gptq", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reader:
    """A class or function that picks by an option, where it does, and for which values."""

    owner: str
    function: str
    place: Place
    values: tuple[str, ...]

    @property
    def label(self) -> str:
        """What people call the models it serves: "NVFP4 MoE" for ModelOptNvFp4FusedMoEMethod."""
        found = _FORMAT.search(self.owner)
        moe = "MoE" if "moe" in self.owner.lower() else ""
        if found is None:
            return self.owner
        return " ".join(part for part in (found.group().upper(), moe) if part)


def readers(ground: Ground, option: Option) -> tuple[Reader, ...]:
    """Functions that pick by an option at run time, by name of owner."""
    found: dict[tuple[str, str, str], list[Decision]] = {}
    for decision in ground.dispatches.get(option.name, ()):
        if "/layers/" in decision.place.file or "/models/" in decision.place.file:
            key = (decision.place.file, owner_of(decision), decision.function)
            found.setdefault(key, []).append(decision)
    made = [
        Reader(
            owner,
            function,
            items[0].place,
            tuple(dict.fromkeys(str(d.literal) for d in items if d.literal in _values(option))),
        )
        for (_, owner, function), items in found.items()
    ]
    return tuple(sorted(made, key=lambda reader: (reader.owner, reader.place)))


def owner_of(decision: Decision) -> str:
    """The class in which a decision stands, or its function."""
    owner, _, function = decision.function.rpartition(".")
    return owner or function


def _values(option: Option) -> tuple[Scalar, ...]:
    return option.choices or ()


def silent_readers(ground: Ground, option: Option, capability: str) -> tuple[Reader, ...]:
    """Readers that have no branch for the default (`auto`) on a capability.

    Only those count that do, by the name of their method, what others decide in: a method
    `create_runner` of one class is silent where the same method of another class decides.
    """
    deciding = {
        setting.decision.function.rpartition(".")[2]
        for setting in late_settings(ground, option)
        if setting.known
        and assume(setting.guard, option.name, scalar_default(option), ground.words) != NEVER
    }
    silent: dict[tuple[str, str], Reader] = {}
    for reader in readers(ground, option):
        name = reader.function.rpartition(".")[2]
        counted = name in deciding if deciding else makes_kernel(reader.function)
        key = (reader.place.file, reader.function)
        # Without a look at the source, or with an `else`, nobody can say that nothing happens.
        if ground.notes.complete.get(key, True):
            continue
        if counted and not _answers(ground, option, reader, capability):
            silent.setdefault((reader.place.file, reader.owner), reader)
    for item in ground.notes.switched:
        reader = Reader(item.owner, item.function, item.place, _named(ground, option, item))
        unlike = item.option == option.name and (item.place.file, item.owner) not in silent
        if unlike and not _answers(ground, option, reader, capability):
            silent[item.place.file, item.owner] = reader
    return tuple(silent.values())


def _named(ground: Ground, option: Option, item: Switched) -> tuple[str, ...]:
    """The values that the switches of a method stand for."""
    values = [
        value
        for value in _values(option)
        if any(ground.words.asks(option.name, name, value) for name in item.predicates)
    ]
    return tuple(str(value) for value in values)


def late_settings(ground: Ground, option: Option) -> list[Setting]:
    """Decisions on an option that stand in layers."""
    return [item for item in ground.settings.get(option.name, ()) if not item.early]


def _answers(ground: Ground, option: Option, reader: Reader, capability: str) -> bool:
    """Whether an owner has a branch for the default."""
    file, default = reader.place.file, scalar_default(option)
    for setting in late_settings(ground, option):
        decision = setting.decision
        if (decision.place.file, owner_of(decision)) == (file, reader.owner):
            given = {option.name: (default,)}
            if ground.narrowed(setting.guard, capability, given) != NEVER:
                return True
    items: list[Decision | Rejection] = [*ground.facts.decisions, *ground.facts.rejections]
    return any(
        asks_for(ground, option, item.guard, default)
        for item in items
        if item.place.file == file and item.function.startswith(reader.owner)
    ) or any(
        decision.literal == default
        and (decision.place.file, owner_of(decision)) == (file, reader.owner)
        for decision in ground.dispatches.get(option.name, ())
    )


def asks_for(ground: Ground, option: Option, guard: Guard, value: Scalar) -> bool:
    """Whether a guard has a test that holds for a value and for no other choice."""
    for atom in atoms(guard):
        if option.name in atom.options and assume(atom, option.name, value, ground.words) != atom:
            held = [
                choice for choice in _values(option) if _holds(atom, option.name, choice, ground)
            ]
            if held == [value]:
                return True
    return False


def _holds(atom: Guard, option: str, value: Scalar, ground: Ground) -> bool:
    found = assume(atom, option, value, ground.words)
    return found != atom and found != NEVER


def scalar_default(option: Option) -> Scalar:
    """The declared default as a scalar."""
    default = option.default
    return default if isinstance(default, (str, int, float)) else None
