"""The prompts of a smoke test: what health checks miss needs an answer that can be judged."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from sgl_audit.errors import UsageError

CHAT, COMPLETION, GENERATE = "chat", "completion", "generate"
PATHS = {CHAT: "/v1/chat/completions", COMPLETION: "/v1/completions", GENERATE: "/generate"}
_TOKENS = 48
_MOST_TOKENS = 4096
_KEYS = ("name", "chat", "completion", "generate", "expect", "sampled", "max_tokens")
_HEAT = {"temperature": 0.8, "top_p": 0.95}


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question.

    Attributes:
        expect: patterns of which one must be found in the answer; empty where any text will do.
        sampled: whether it is asked at a temperature above 0, which ends a server with NaN.
        logprobs: whether the probabilities are asked for too: the surest sign of NaN.
        again: name of the prompt of which this is the second run, or "".
        own: whether the user gave it, so that a wrong answer alone fails the run.
    """

    name: str
    route: str
    text: str
    expect: tuple[str, ...] = ()
    sampled: bool = False
    logprobs: bool = False
    max_tokens: int = _TOKENS
    again: str = ""
    own: bool = False

    @property
    def path(self) -> str:
        """The endpoint."""
        return PATHS[self.route]

    def body(self) -> dict[str, Any]:
        """The request."""
        if self.route == GENERATE:
            return _generate(self)
        sampling: dict[str, Any] = dict(_HEAT) if self.sampled else {"temperature": 0}
        body: dict[str, Any] = {"model": "default", "max_tokens": self.max_tokens, **sampling}
        if self.route == COMPLETION:
            return {**body, "prompt": self.text}
        body["messages"] = [{"role": "user", "content": self.text}]
        # A model that thinks first would not come to the answer within the tokens asked for.
        body["chat_template_kwargs"] = {"enable_thinking": False}
        if self.logprobs:
            body |= {"logprobs": True, "top_logprobs": 2}
        return body


def _generate(prompt: Prompt) -> dict[str, Any]:
    sampling: dict[str, Any] = dict(_HEAT) if prompt.sampled else {"temperature": 0}
    body: dict[str, Any] = {
        "text": prompt.text,
        "sampling_params": {**sampling, "max_new_tokens": prompt.max_tokens},
    }
    if prompt.logprobs:
        body |= {"return_logprob": True, "top_logprobs_num": 2, "logprob_start_len": 0}
    return body


_CAPITAL = Prompt("chat capital", CHAT, "What is the capital of France?", (r"\bParis\b",))
_OPENING = Prompt("generate capital", GENERATE, "The capital of France is", (r"\bParis\b",))
_PRIMES = "List the first ten prime numbers."
_GREETING = "Hello! How are you today?"

# Sampled prompts stand last: with NaN logits the first of them ends the server.
SUITE: tuple[Prompt, ...] = (
    replace(_OPENING, logprobs=True),
    replace(_CAPITAL, logprobs=True),
    Prompt("chat sum", CHAT, "What is 2+2?", (r"\b4\b", r"(?i)\bfour\b")),
    Prompt("chat primes", CHAT, _PRIMES, (r"2\D+3\D+5\D+7\D+11\D+13",)),
    Prompt("chat greeting", CHAT, _GREETING),
    Prompt("completion count", COMPLETION, "1, 2, 3, 4,", (r"^\W*5\b",)),
    Prompt("completion story", COMPLETION, "Once upon a time"),
    replace(_CAPITAL, name="chat capital again", logprobs=True, again=_CAPITAL.name),
    replace(_OPENING, name="generate capital again", logprobs=True, again=_OPENING.name),
    Prompt("generate sampled", GENERATE, "The capital of France is", sampled=True),
    Prompt("chat primes sampled", CHAT, _PRIMES, sampled=True),
    Prompt("chat greeting sampled", CHAT, _GREETING, sampled=True),
)


def with_own(own: tuple[Prompt, ...]) -> tuple[Prompt, ...]:
    """The suite with the user's prompts: greedy ones before anything that is sampled."""
    everything = (*SUITE, *own)
    calm = tuple(prompt for prompt in everything if not prompt.sampled)
    return (*calm, *(prompt for prompt in everything if prompt.sampled))


def read_prompts(path: Path) -> tuple[Prompt, ...]:
    """The prompts of a YAML or JSON file: a list of mappings.

    Each has one of `chat`, `completion`, `generate` with the text; `expect` (a regular expression,
    or a list of which one must be found), `name`, `sampled` and `max_tokens` may stand beside it.

    Raises:
        UsageError: the file cannot be read or an entry is wrong; the sentence says which.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"--prompts {path} cannot be read ({reason}); check the path") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"--prompts {path} is neither YAML nor JSON: {error}") from error
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


def _entry(item: Any, where: str) -> Prompt:
    if not isinstance(item, Mapping):
        raise UsageError(f"{where} is no mapping; write chat: TEXT and expect: PATTERN")
    unknown = [str(key) for key in item if key not in _KEYS]
    if unknown:
        raise UsageError(f"{where} has {unknown[0]!r}; known are {', '.join(_KEYS)}")
    routes = [route for route in PATHS if route in item]
    if len(routes) != 1 or not isinstance(item[routes[0]], str) or not item[routes[0]]:
        raise UsageError(f"{where} needs the text of one of {', '.join(PATHS)}")
    route, sampled = routes[0], item.get("sampled", False)
    if not isinstance(sampled, bool):
        raise UsageError(f"{where}: sampled is {sampled!r}; write true or false")
    return Prompt(
        name=str(item.get("name") or where.rpartition(", ")[2]),
        route=route,
        text=item[route],
        expect=_patterns(item.get("expect", []), where),
        sampled=sampled,
        logprobs=route != COMPLETION and not sampled,
        max_tokens=_tokens(item.get("max_tokens", _TOKENS), where),
        own=True,
    )


def _patterns(given: Any, where: str) -> tuple[str, ...]:
    found = [given] if isinstance(given, (str, int, float)) else given
    if not isinstance(found, list):
        raise UsageError(f"{where}: expect is {given!r}; write a pattern or a list of patterns")
    patterns = tuple(str(item) for item in found)
    for pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as error:
            raise UsageError(
                f"{where}: expect {pattern!r} is no regular expression ({error}); put a backslash "
                "before characters that stand for themselves"
            ) from error
    return patterns


def _tokens(given: Any, where: str) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 0 < given <= _MOST_TOKENS:
        raise UsageError(f"{where}: max_tokens is {given!r}; write a number up to {_MOST_TOKENS}")
    return given
