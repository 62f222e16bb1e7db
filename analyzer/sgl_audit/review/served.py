"""Families that the old tree refused by default, resolved as people had to start them there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sgl_audit.audit.families import Family, family_row, model_folders
from sgl_audit.evaluate.resolver import Resolver
from sgl_audit.model.report import Audit, FamilyRow
from sgl_audit.model.resolution import Launch

Flags = tuple[str, ...]
Needed = Mapping[tuple[str, str], Flags]


def needed_flags(audit: Audit) -> dict[tuple[str, str], Flags]:
    """(family, capability) -> the flags with which the tree accepts what it refuses by default."""
    return {
        (item.family, item.capability): item.flags
        for item in audit.advice
        if item.flags and item.safe is not False
    }


def rows_with(
    resolver: Resolver,
    families: Iterable[Family],
    needed: Needed,
    assume: tuple[tuple[str, str], ...],
) -> dict[Flags, list[FamilyRow]]:
    """The flags -> rows of the families that need them, under one tree."""
    named = {family.name: family for family in families}
    cells = [
        (named[name], where, flags) for (name, where), flags in needed.items() if name in named
    ]
    found: dict[Flags, list[FamilyRow]] = {}
    with model_folders({family for family, _, _ in cells}) as folders:
        for family, capability, flags in sorted(cells, key=lambda c: (c[1], c[0].name)):
            argv = ("--model-path", folders[family], *flags)
            launch = Launch(family.name, capability, argv, assume=assume)
            found.setdefault(flags, []).append(family_row(family, resolver.resolve(launch)))
    return found
