"""What answers to some questions say about others on the same unknown."""

from __future__ import annotations

from typing import Any

Key = tuple[Any, ...]
EQUALITIES = ("==", "in", "is")


CONSTANTS = ("str", "int", "float", "bool", "bytes", "NoneType")


def implied(key: Key, known: dict[Key, bool]) -> bool | None:
    """What answers about the same unknown say about another question on it.

    Questions on equality with constants and on truth are understood: a value known to equal one
    of some constants, or none of them, answers what follows from that and no more.
    """
    if len(key) == 3 and key[0] in EQUALITIES:
        base, asked = key[2], constants(key)
        if asked is None:
            return None
    else:
        base, asked = key, None
    possible, excluded, false = facts_on(base, known)
    if possible is not None:
        possible = {value for value in possible if value not in excluded}
    if asked is None:
        truths = {bool(value) for value in possible or ()}
        return truths.pop() if len(truths) == 1 else None
    if possible is not None:
        if not possible & asked:
            return False
        if key[0] != "is" and possible <= asked:
            return True
    if asked <= excluded or (false and all(asked)):
        return False
    return None


def constants(key: Key) -> set[Any] | None:
    """The constants that a question compares with, or None where it is not only that."""
    listed = key[1] if key[0] == "in" else (key[1],)
    found = set()
    for item in listed:
        if not (isinstance(item, tuple) and len(item) == 2 and item[0] in CONSTANTS):
            return None
        value = item[1]
        # NaN equals nothing, itself included.
        if value != value or type(value).__name__ != item[0]:
            return None
        found.add(value)
    return found


def facts_on(base: Key, known: dict[Key, bool]) -> tuple[set[Any] | None, set[Any], bool]:
    """(values one of which it equals, or None; values it does not equal; known to be false)"""
    possible: set[Any] | None = None
    excluded: set[Any] = set()
    for fact, truth in known.items():
        if len(fact) != 3 or fact[2] != base or fact[0] not in EQUALITIES:
            continue
        told = constants(fact)
        if told is None:
            continue
        if truth:
            possible = told if possible is None else possible & told
        elif fact[0] != "is" or told == {None}:
            excluded |= told
    return possible, excluded, known.get(base) is False
