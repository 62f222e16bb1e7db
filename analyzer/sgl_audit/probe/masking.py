"""Secrets of a launch: which they are, and how they are kept out of what is written down."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec

MASK = "***"
_SECRET = re.compile(
    r"(?i)(?:^|[-_])(?:token|secret|password|passwd|(?:api|access|private|secret)[-_]?key|credentials?)$"
)
# Shorter ones are words that may stand anywhere.
_LEAST, _LEAST_OF_VARIABLES = 3, 8

Kept = TypeVar("Kept")


def masked_words(argv: Sequence[str]) -> tuple[str, ...]:
    """The arguments with the values of secret flags hidden."""
    return tuple(shown for shown, _ in _flags(argv))


def masked_variables(
    variables: Iterable[tuple[str, str]],
) -> tuple[tuple[str, str], ...]:
    """The variables with secret values hidden."""
    return tuple((name, MASK if _SECRET.search(name) else value) for name, value in variables)


def secrets_of(argv: Sequence[str], variables: Iterable[tuple[str, str]] = ()) -> tuple[str, ...]:
    """The secret values themselves."""
    found = [secret for _, secret in _flags(argv) if len(secret) >= _LEAST]
    named = (value for name, value in variables if _SECRET.search(name))
    found += [value for value in named if len(value) >= _LEAST_OF_VARIABLES]
    return tuple(dict.fromkeys(value for value in found if value != MASK))


def without(kept: Kept, secrets: Sequence[str]) -> Kept:
    """A record of the model with every text in it freed of the secrets: a server repeats its
    arguments in what it says of them."""
    if not secrets:
        return kept
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(item)}(?!\w)" for item in secrets))
    cleaned = _cleaned(msgspec.to_builtins(kept), pattern)
    return msgspec.convert(cleaned, type(kept))


def _cleaned(value: Any, pattern: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return pattern.sub(MASK, value)
    if isinstance(value, dict):
        return {name: _cleaned(item, pattern) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_cleaned(item, pattern) for item in value]
    return value


def _flags(argv: Sequence[str]) -> list[tuple[str, str]]:
    """Each word as it may be shown, with the secret that it was or held, or ""."""
    kept: list[tuple[str, str]] = []
    hide = False
    for word in argv:
        name, equals, value = word.partition("=")
        flag = word.startswith("--")
        if hide and not flag:
            kept.append((MASK, word))
            hide = False
            continue
        secret = flag and _SECRET.search(name) is not None
        hide = secret and not equals
        kept.append((f"{name}={MASK}", value) if secret and equals else (word, ""))
    return kept
