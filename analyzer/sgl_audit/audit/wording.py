"""Conditions as a reader takes them in: what must hold first, long lists of exclusions counted."""

from __future__ import annotations

from functools import lru_cache

from sgl_audit.model.guard import ALWAYS, And, Guard, Not, Or, text_of, unowned

# How many conditions that only exclude are written out where nothing else is asked.
_ALONE = 2
_ALTERNATIVES = 3
_TEXT = 110


@lru_cache(maxsize=65536)
def plain(text: str) -> str:
    """A test without the names of what holds the settings."""
    short = unowned(text)
    return short if len(short) <= _TEXT else f"{short[: _TEXT - 3]}..."


def condition_text(guard: Guard) -> str:
    """A guard as one readable line."""
    if guard == ALWAYS:
        return "always"
    match guard:
        case And(parts):
            return _conjunction(parts)
        case Or(parts) if len(parts) > _ALTERNATIVES:
            first = " or ".join(_part(part) for part in parts[:_ALTERNATIVES])
            return f"{first} or {len(parts) - _ALTERNATIVES} more ways"
        case Or(parts) if parts:
            return " or ".join(_part(part) for part in parts)
    return plain(text_of(guard))


def _conjunction(parts: tuple[Guard, ...]) -> str:
    asked = [part for part in parts if not _excludes(part)]
    excluded = [part for part in parts if _excludes(part)]
    shown = [_part(part) for part in asked]
    keep = _ALONE if not asked else (1 if len(excluded) == 1 else 0)
    shown += [_part(part) for part in excluded[:keep]]
    hidden = len(excluded) - keep
    if hidden > 0:
        shown.append(f"{hidden} exclusion{'s' if hidden > 1 else ''}")
    return " and ".join(shown)


def _excludes(part: Guard) -> bool:
    return isinstance(part, Not) or (
        isinstance(part, Or) and all(isinstance(item, Not) for item in part.parts)
    )


def _part(part: Guard) -> str:
    if isinstance(part, (And, Or)):
        return f"({condition_text(part)})"
    return plain(text_of(part))


def value_text(value: object) -> str:
    """A value of an option in a sentence."""
    if value is None:
        return "unset"
    return str(value)
