"""Judging a server that already runs: nothing of it is started or stopped."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from sgl_audit import __version__
from sgl_audit.cli.probing.asking import Words, read_deadlines
from sgl_audit.cli.stderr import say
from sgl_audit.errors import UsageError
from sgl_audit.model.evidence import (
    Device,
    Evidence,
    FailureClass,
    Ground,
    Phase,
    RunEnvironment,
    RunLaunch,
    RunOutcome,
)
from sgl_audit.probe import observe, smoke, speed, verdicts
from sgl_audit.probe.aftermath import State
from sgl_audit.probe.classify import End, Failure
from sgl_audit.probe.client import Client
from sgl_audit.probe.command import is_loopback
from sgl_audit.probe.logs import from_lines
from sgl_audit.probe.masking import masked_words
from sgl_audit.probe.own_prompts import read_prompts
from sgl_audit.probe.prompts import SUITE, with_own
from sgl_audit.probe.recorder import Recorder
from sgl_audit.probe.store import Store, key_of
from sgl_audit.probe.watch import DEADLINES, PROMPT_S
from sgl_audit.probe.weighing import Seen, weigh

TOKEN = "SGL_AUDIT_TOKEN"
_MEASURE_S = 120.0
_REACH_S = 30.0


def check_url(url: str, allow_remote: bool) -> str:
    """The address, if prompts may be sent there.

    Raises:
        UsageError: it is no http address, or another machine's without leave.
    """
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise UsageError(f"--url {url} is no address ({error}); write http://HOST:PORT") from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise UsageError(f"--url {url} is no address; write http://HOST:PORT")
    if parsed.userinfo:
        raise UsageError(f"--url holds a password, which would be kept; set {TOKEN} instead")
    if not allow_remote and not is_loopback(parsed.host):
        raise UsageError(
            f"--url names {parsed.host}, which is not this machine: the prompts would be sent "
            "there; add --allow-remote if that is meant"
        )
    return url.rstrip("/")


def judge(url: str, allow_remote: bool, words: Words) -> Evidence:
    """Ask and judge; the record has neither a start nor a prediction.

    Raises:
        UsageError: the address may not be used, or no server answers there.
    """
    base = check_url(url, allow_remote)
    prompts = with_own(read_prompts(words.prompts)) if words.prompts is not None else SUITE
    deadlines = {**DEADLINES, **read_deadlines(words.deadlines)}
    client = Client(base, min(PROMPT_S, deadlines[Phase.SMOKE]), token=os.environ.get(TOKEN))
    try:
        info = _reach(client)
        recorder = _record(info, words, base)
        recorder.update(observation=observe.observe(info, None, ()), phase=Phase.SMOKE)
        start = time.monotonic()
        asked = smoke.ask_all(
            client,
            prompts,
            None,
            lambda cut: not cut or _answers(client),
            lambda done: _note(recorder, done),
            deadlines[Phase.SMOKE],
        )
        recorder.time(Phase.SMOKE, time.monotonic() - start)
        return _conclude(recorder, client, asked, len(prompts), words)
    finally:
        client.close()


def _conclude(
    recorder: Recorder, client: Client, asked: Sequence[smoke.Asked], wanted: int, words: Words
) -> Evidence:
    failure, notes = _weigh(client, asked, wanted)
    if failure is not None:
        return recorder.update(
            outcome=RunOutcome.FAILED,
            failure=failure.failure,
            summary=failure.summary,
            grounds=failure.grounds,
            notes=notes,
        )
    found, wrong = speed.measure(client, words.concurrency, _MEASURE_S)
    slow = speed.too_slow(found, words.slow_below)
    return recorder.update(
        outcome=RunOutcome.FAILED if slow else RunOutcome.PASSED,
        failure=FailureClass.SLOW if slow else None,
        summary=slow or f"{len(asked)} prompts answered, nothing wrong found",
        grounds=(Ground("answer", slow),) if slow else (),
        notes=(*notes, *wrong),
        speed=found,
    )


def _weigh(
    client: Client, asked: Sequence[smoke.Asked], wanted: int
) -> tuple[Failure | None, tuple[str, ...]]:
    """As for a server of our own, but that its log and its process are out of sight."""
    verdict = verdicts.weigh(asked)
    failure = verdict.failure
    lost = failure is FailureClass.DIED_PROMPT or failure is FailureClass.HANG
    if failure is not None and lost and not _answers(client):
        return Failure(failure, verdict.summary, verdict.grounds), verdict.notes
    end = End(None, Phase.SMOKE)
    return weigh(Seen(asked, from_lines([]), State.WELL, end, wanted=wanted))


def _answers(client: Client) -> bool:
    """Whether it is there: its process cannot be looked at from here."""
    return client.get("/health", timeout=_REACH_S).status == 200


def _note(recorder: Recorder, done: tuple[smoke.Asked, ...]) -> None:
    last = done[-1]
    say(f"{last.prompt.name}: {'; '.join(j.text for j in last.result.judged) or 'good'}")
    recorder.update(smoke=tuple(item.result for item in done))


def _reach(client: Client) -> Mapping[str, Any]:
    info = observe.ask_info(client)
    if info is not None:
        return info
    answer = client.get("/health", timeout=_REACH_S)
    if answer.status is None:
        raise UsageError(f"no server answers at {client.base} ({answer.error}); check the address")
    return {}


def _record(info: Mapping[str, Any], words: Words, base: str) -> Recorder:
    version = info.get("version")
    environment = RunEnvironment(
        python="",
        python_version="",
        platform="",
        device=Device(str(info.get("device") or "unknown"), words.arch or "unknown"),
        sglang=version if isinstance(version, str) else None,
    )
    given = info.get("launch_command")
    argv = tuple(map(str, given)) if isinstance(given, list) else ()
    model = info.get("model_path")
    if not argv and isinstance(model, str):
        argv = ("--model-path", model)
    launch = RunLaunch(argv=masked_words(argv), url=base)
    key = key_of("url", base, environment.sglang, argv)
    return Recorder(Store(words.folder), key, __version__, environment, launch)
