"""Environment variables of the tree: what they override, where they are read, what came after."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from sgl_audit.extract.environment import RawVariable
from sgl_audit.extract.files import FileFacts
from sgl_audit.model.facts import Decision, EnvironmentVariable
from sgl_audit.model.guard import AtomKind, atoms
from sgl_audit.model.source import Place

_NAME = re.compile(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b")
# Words in a variable's name that say it chooses a kernel.
_KERNEL_WORDS = re.compile(
    "BACKEND|FLASHINFER|TRITON|CUTLASS|TRTLLM|DEEPGEMM|DEEP_GEMM|MARLIN|AITER|FP4|FP8|GEMM|MOE|ATTN"
)


@dataclass(slots=True)
class _Slot:
    declared: RawVariable | None = None
    deprecation: RawVariable | None = None
    reads: list[Place] = field(default_factory=list)
    default: str | None = None
    overrides: set[str] = field(default_factory=set)


def environment(files: Iterable[FileFacts]) -> tuple[EnvironmentVariable, ...]:
    """The variables that change a backend or an option, or did before they were deprecated."""
    slots: dict[str, _Slot] = {}
    for file in files:
        for raw in file.variables:
            slot = slots.setdefault(raw.name, _Slot())
            if raw.deprecated:
                slot.deprecation = slot.deprecation or raw
            else:
                slot.declared = slot.declared or raw
        for read in file.variable_reads:
            slot = slots.setdefault(read.name, _Slot())
            slot.reads.append(read.place)
            slot.default = slot.default or read.default
        for decision in file.decisions:
            for name in _named(decision):
                slots.setdefault(name, _Slot()).overrides.add(decision.option)
    return tuple(
        _variable(name, slot) for name, slot in sorted(slots.items()) if _matters(name, slot)
    )


def _named(decision: Decision) -> set[str]:
    names = {name for name in _NAME.findall(decision.value) if not decision.literal}
    for atom in atoms(decision.guard):
        if atom.kind is AtomKind.ENVIRONMENT:
            names |= set(_NAME.findall(atom.text))
    return names


def _matters(name: str, slot: _Slot) -> bool:
    if slot.declared is None and slot.deprecation is None and not slot.reads:
        return False
    return bool(slot.overrides or slot.deprecation or _KERNEL_WORDS.search(name))


def _variable(name: str, slot: _Slot) -> EnvironmentVariable:
    source = slot.declared or slot.deprecation
    place = source.place if source is not None else min(slot.reads)
    deprecation = slot.deprecation
    return EnvironmentVariable(
        name,
        slot.declared.default if slot.declared is not None else slot.default,
        place,
        deprecation is not None,
        deprecation.replacement if deprecation is not None else None,
        tuple(sorted(slot.overrides)),
        tuple(sorted(set(slot.reads))),
        deprecation.note if deprecation is not None else None,
    )
