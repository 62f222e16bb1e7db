"""The prompts of a smoke test: what health checks miss needs an answer that can be judged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

CHAT, COMPLETION, GENERATE = "chat", "completion", "generate"
PATHS = {CHAT: "/v1/chat/completions", COMPLETION: "/v1/completions", GENERATE: "/generate"}
TOKENS = 48
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
    max_tokens: int = TOKENS
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
