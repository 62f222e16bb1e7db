"""Prompts of the user's own, from a file that may hold anything."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from sgl_audit.errors import UsageError
from sgl_audit.probe.prompts import COMPLETION, PATHS, SUITE, TOKENS, Prompt

_MOST_TOKENS = 4096
_MOST_BYTES = 4 << 20
_LONGEST_NAME = 80
_SHOWN = 160
_LONGEST_PATTERN = 1000
_KEYS = ("name", "chat", "completion", "generate", "expect", "sampled", "max_tokens")


def read_prompts(path: Path) -> tuple[Prompt, ...]:
    """The prompts of a YAML or JSON file: a list of mappings.

    Each has one of `chat`, `completion`, `generate` with the text; `expect` (a regular expression,
    or a list of which one must be found), `name`, `sampled` and `max_tokens` may stand beside it.

    Raises:
        UsageError: the file cannot be read or an entry is wrong; the sentence says which.
    """
    data = _load(path)
    if not isinstance(data, list) or not data:
        raise UsageError(
            f"--prompts {path} holds no list; write entries such as - chat: What is 2+2? with "
            "expect: '4'"
        )
    prompts = tuple(_entry(item, f"--prompts {path}, entry {i}") for i, item in enumerate(data, 1))
    names = [prompt.name for prompt in (*SUITE, *prompts)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"--prompts {path}: the name {twice!r} is used twice; give another one")
    return prompts


def _load(path: Path) -> Any:
    try:
        if path.exists() and not path.is_file():
            raise UsageError(f"--prompts {path} is no file; give one of YAML or JSON")
        if path.stat().st_size > _MOST_BYTES:
            raise UsageError(f"--prompts {path} is larger than {_MOST_BYTES >> 20} MiB; split it")
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"--prompts {path} cannot be read ({reason}); check the path") from error
    except (yaml.YAMLError, RecursionError, ValueError, OverflowError) as error:
        said = " ".join(str(error).split())[:_SHOWN]
        raise UsageError(f"--prompts {path} is neither YAML nor JSON: {said}") from error


def _entry(item: Any, where: str) -> Prompt:
    if not isinstance(item, Mapping):
        raise UsageError(f"{where} is no mapping; write chat: TEXT and expect: PATTERN")
    unknown = [key for key in item if key not in _KEYS]
    if unknown:
        raise UsageError(f"{where} has {_shown(unknown[0])}; known are {', '.join(_KEYS)}")
    routes = [route for route in PATHS if route in item]
    if len(routes) != 1 or not isinstance(item[routes[0]], str) or not item[routes[0]]:
        raise UsageError(f"{where} needs the text of one of {', '.join(PATHS)}")
    route, sampled = routes[0], item.get("sampled", False)
    if not isinstance(sampled, bool):
        raise UsageError(f"{where}: sampled is {_shown(sampled)}; write true or false")
    return Prompt(
        name=_name(item.get("name"), where),
        route=route,
        text=_sendable(item[route], where),
        expect=_patterns(item.get("expect", []), where),
        sampled=sampled,
        logprobs=route != COMPLETION and not sampled,
        max_tokens=_tokens(item.get("max_tokens", TOKENS), where),
        own=True,
    )


def _name(given: Any, where: str) -> str:
    if given is None:
        return where.rpartition(", ")[2]
    if not isinstance(given, (str, int)) or not str(given).strip():
        raise UsageError(f"{where}: name is {_shown(given)}; write a short text")
    return _sendable(str(given), where)[:_LONGEST_NAME]


def _sendable(text: str, where: str) -> str:
    """The text itself; half of a surrogate pair is in no text that can be sent or written."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(f"{where}: the text has half a surrogate pair; write it whole") from error
    return text


def _shown(value: Any) -> str:
    """A value in a sentence. A container may be endless where a file refers to itself."""
    if isinstance(value, (list, tuple, set, Mapping)):
        return f"a {type(value).__name__}"
    return repr(value)[:_SHOWN]


def _patterns(given: Any, where: str) -> tuple[str, ...]:
    found = given if isinstance(given, list) else [given]
    wrong = [item for item in found if not isinstance(item, (str, int, float))]
    if wrong:
        shown = _shown(wrong[0])
        raise UsageError(f"{where}: expect is {shown}; write a pattern or a list of patterns")
    patterns = tuple(str(item) for item in found)
    for pattern in patterns:
        if len(pattern) > _LONGEST_PATTERN:
            raise UsageError(
                f"{where}: expect {_shown(pattern)} has {len(pattern)} characters, more than "
                f"{_LONGEST_PATTERN}; write a shorter pattern"
            )
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise UsageError(
                f"{where}: expect {_shown(pattern)} is no regular expression ({error}); put a "
                "backslash before characters that stand for themselves"
            ) from error
    return patterns


def _tokens(given: Any, where: str) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 0 < given <= _MOST_TOKENS:
        raise UsageError(
            f"{where}: max_tokens is {_shown(given)}; write a number up to {_MOST_TOKENS}"
        )
    return given
