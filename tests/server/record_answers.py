"""Asks an actual server the smoke test many times over, and keeps the answers in a small form.

    SGL_AUDIT_SERVERS=DIR PYTHONPATH=. python3 -m tests.server.record_answers VERSION OUT

What comes out is the input of tests/probe/test_many_runs.py, which needs no server.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.server.conftest import SMALL, Installed, environment, installed

from sgl_audit.probe import smoke
from sgl_audit.probe.causes import last_cause
from sgl_audit.probe.client import Answer, Client
from sgl_audit.probe.command import make_command
from sgl_audit.probe.logs import Log
from sgl_audit.probe.processes import Server
from sgl_audit.probe.prompts import SUITE, Prompt, with_own
from sgl_audit.probe.stopping import stop
from sgl_audit.probe.watch import Waited, Watch

POISON = Prompt(
    "poison", "generate", "POISON The capital of France is", logprobs=True, max_tokens=48, own=True
)
SERVED = {"healthy": SUITE, "nan": SUITE, "latenan": with_own((POISON,)), "repeat": SUITE}
# A model that never ends by itself says the same after a few tokens as after many.
ENDLESS, FEW = ("nan", "repeat"), 12
DIES = "mla"
# Numbers of a measurement and names of one request: nothing that is judged.
_OF_META = (
    "finish_reason",
    "completion_tokens",
    "output_token_logprobs",
    "output_top_logprobs",
    "input_token_logprobs",
)


@contextmanager
def started(server: Installed, model: str, folder: Path) -> Iterator[tuple[Waited, Client, Log]]:
    """A server, from its start until it is healthy or gone."""
    words = ("--model-path", server.model(model), *SMALL)
    command = make_command(server.python, words, (), "cpu")
    path = folder / f"{model}-{time.monotonic_ns()}.log"
    variables = {**environment(), **dict(command.environment), "PYTHONUNBUFFERED": "1"}
    running = Server(command.words, variables, path, folder)
    client, log = Client(command.url, 180.0), Log(path)
    try:
        yield Watch(running, log, client, {}).until_healthy(), client, log
    finally:
        client.close()
        stop(running, command.host, command.port, 10.0, None)


def ask(server: Installed, model: str, runs: int, folder: Path) -> Iterator[dict[str, Any]]:
    """The smoke test, so many times; each answer is kept once. Gives what there is after each."""
    answers: list[dict[str, Any]] = []
    rows: list[list[int]] = []
    prompts = SERVED[model]
    if model in ENDLESS:
        prompts = tuple(replace(prompt, max_tokens=FEW) for prompt in prompts)
    with started(server, model, folder) as (waited, client, _):
        assert waited.healthy, (model, waited)
        for number in range(runs):
            asked = smoke.ask_all(client, prompts, None, lambda cut: True, lambda done: None)
            rows.append([_place(small(item.prompt, item.answer), answers) for item in asked])
            print(server.version, model, number + 1, len(answers), flush=True)
            yield {"prompts": [item.name for item in prompts], "answers": answers, "runs": rows}


def _place(answer: dict[str, Any], answers: list[dict[str, Any]]) -> int:
    if answer not in answers:
        answers.append(answer)
    return answers.index(answer)


def small(prompt: Prompt, answer: Answer) -> dict[str, Any]:
    """What of an answer the judges look at."""
    kept: dict[str, Any] = {"status": answer.status}
    if answer.status != 200 or not isinstance(answer.data, dict):
        return {**kept, "error": answer.error, "body": answer.body[:200]}
    data = answer.data
    if prompt.route == "generate":
        meta = {name: data["meta_info"][name] for name in _OF_META if name in data["meta_info"]}
        return {**kept, "data": _rounded({**_some(data, "text", "output_ids"), "meta_info": meta})}
    choice = _some(data["choices"][0], "text", "message", "finish_reason", "matched_stop")
    if "message" in choice:
        choice["message"] = _some(choice["message"], "content", "reasoning_content")
    content = (data["choices"][0].get("logprobs") or {}).get("content")
    if content is not None:
        choice["logprobs"] = {"content": [_token(item) for item in content]}
    return {**kept, "data": _rounded({"choices": [choice], "usage": _usage(data)})}


def _usage(data: dict[str, Any]) -> dict[str, Any]:
    return _some(data.get("usage") or {}, "completion_tokens")


def _token(item: dict[str, Any]) -> dict[str, Any]:
    best = [{"logprob": one.get("logprob")} for one in item.get("top_logprobs") or []]
    return {"logprob": item.get("logprob"), "top_logprobs": best}


def _some(data: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: data[name] for name in names if name in data}


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value


def die(server: Installed, starts: int, folder: Path) -> list[dict[str, Any]]:
    """Starts of the model that dies on its first prompt: where each was, and what it died of."""
    found = []
    for number in range(starts):
        with started(server, DIES, folder) as (waited, _, log):
            cause = last_cause(log.lines)
            assert cause is not None, log.lines[-20:]
            frames = [[frame.tree_path or "", frame.line] for frame in cause.frames]
            found.append(
                {"phase": waited.phase, "exit": waited.exit_code, "type": cause.type,
                 "message": cause.message, "frames": frames}
            )  # fmt: skip
        print(server.version, DIES, number + 1, found[-1]["phase"], flush=True)
    return found


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("version")
    parser.add_argument("out", type=Path)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--starts", type=int, default=20)
    parser.add_argument("--made", type=Path, help="folder of models that are made already")
    parser.add_argument("--models", nargs="*", default=[*SERVED, DIES])
    given = parser.parse_args(words)
    os.environ.pop("PYTHONPATH", None)
    kept = json.loads(given.out.read_text()) if given.out.is_file() else {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = installed(given.version, given.made or folder / "models")
        kept |= {"sglang": given.version, "vocabulary": 256}
        for model in given.models:
            if model == DIES:
                kept[model] = die(server, given.starts, folder)
            else:
                for found in ask(server, model, given.runs, folder):
                    kept[model] = found
                    write(given.out, kept)
            write(given.out, kept)


def write(path: Path, kept: dict[str, Any]) -> None:
    path.write_text(json.dumps(kept, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
