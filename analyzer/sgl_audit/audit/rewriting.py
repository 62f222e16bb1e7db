"""Guards in the words of one option, and without what no compute capability has."""

from __future__ import annotations

import re
from dataclasses import replace

from sgl_audit.audit.vocabulary import Vocabulary
from sgl_audit.model.guard import (
    ALWAYS,
    NEVER,
    Atom,
    AtomKind,
    Guard,
    atoms,
    mapped,
)

_HEAD = re.compile(r"(?:self\.)?(\w+)\b(?![(\[])")
# Devices without a compute capability, and platforms that a plugin brings.
_ELSEWHERE = re.compile(r"(?:^|\.)_?is_(?:cpu|npu|xpu|hpu|mps|musa|out_of_tree)(?:\(\))?$")


def attributed(guard: Guard, option: str) -> Guard:
    """The guard with tests of a local name that ends like the option read as tests of it.

    A layer that decides `moe_runner_backend` asks `backend.is_auto()` of what it was given.
    """

    def owned(atom: Atom) -> Guard:
        if atom.kind is not AtomKind.OPTION or atom.options:
            return atom
        head = _HEAD.match(atom.text)
        name = head.group(1).lstrip("_") if head else ""
        mine = name.endswith("backend") and option.endswith(name)
        return replace(atom, options=(option,)) if mine else atom

    return mapped(guard, owned)


def without_elsewhere(guard: Guard) -> Guard:
    """The guard where the device is one with a compute capability."""
    return mapped(guard, lambda atom: NEVER if _ELSEWHERE.search(atom.text) else atom)


def mentions(guard: Guard, option: str) -> bool:
    """Whether a guard asks for an option."""
    return any(option in atom.options for atom in atoms(guard))


# File -> question method -> the option whose enum, defined in that file, has it.
Owners = dict[str, dict[str, str]]
_ASKED = re.compile(r"\w+\.(is_\w+)\(\)$")


def owners_of_predicates(words: Vocabulary) -> Owners:
    """Question methods that only one enum of a file has, with the option that the enum is for."""
    named: dict[str, str] = {}
    for option, enum in sorted(words.enum_of.items(), key=lambda item: (len(item[0]), item[0])):
        named.setdefault(enum, option)
    found: dict[str, dict[str, set[str]]] = {}
    for name, option in named.items():
        enum_of_option = words.enums[name]
        asked = {*enum_of_option.predicates, *(p for e, p in words.predicates if e == name)}
        for predicate in asked:
            table = found.setdefault(enum_of_option.place.file, {})
            table.setdefault(predicate, set()).add(option)
    return {
        file: {predicate: min(options) for predicate, options in table.items() if len(options) == 1}
        for file, table in found.items()
    }


def with_owners(guard: Guard, owners: dict[str, str]) -> Guard:
    """The guard with questions of a local name read as questions of the option they can only mean.

    The file that defines an enum asks `backend.is_cutlass()` of its own enum.
    """

    def owned(atom: Atom) -> Guard:
        if atom.options or atom.capabilities is not None:
            return atom
        asked = _ASKED.match(atom.text)
        option = owners.get(asked.group(1)) if asked else None
        return replace(atom, options=(option,)) if option else atom

    return mapped(guard, owned)


_READ = re.compile(r"(?:\w+\.)*(?P<name>[A-Z][A-Z0-9_]+)\.(?P<how>get|is_set)\(\)$")
_CALL = re.compile(r"get_bool_env_var\(['\"](?P<name>\w+)['\"](?:, ['\"](?P<default>\w*)['\"])?\)$")
_FALSE = frozenset({"", "0", "false", "none"})
_TRUE = frozenset({"1", "true"})


def unset(guard: Guard, defaults: dict[str, str | None]) -> Guard:
    """The guard where no environment variable is set: switches are what they default to."""

    def settled(atom: Atom) -> Guard:
        asked = atom.kind is AtomKind.ENVIRONMENT
        truth = _switch(atom.text, defaults) if asked else None
        return atom if truth is None else (ALWAYS if truth else NEVER)

    return mapped(guard, settled)


def _switch(text: str, defaults: dict[str, str | None]) -> bool | None:
    read = _READ.match(text)
    if read is not None:
        if read["how"] == "is_set":
            return False
        return _truth(defaults.get(read["name"], "unknown"))
    call = _CALL.match(text)
    if call is not None:
        return _truth(call["default"] or "false")
    return None


def _truth(default: str | None) -> bool | None:
    plain = "" if default is None else default.strip("'\"").lower()
    return False if plain in _FALSE else (True if plain in _TRUE else None)
