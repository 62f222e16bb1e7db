"""One run: start the server, wait, ask, judge, stop; the record is complete at every step."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sgl_audit.model.evidence import (
    Evidence,
    FailureClass,
    Ground,
    Phase,
    Prediction,
    RunEnvironment,
    RunOutcome,
)
from sgl_audit.probe import observe, smoke, speed
from sgl_audit.probe.classify import End, Failure, classify, said_by_log
from sgl_audit.probe.client import Client
from sgl_audit.probe.command import Command
from sgl_audit.probe.compare import compare
from sgl_audit.probe.gpus import used_mib
from sgl_audit.probe.logs import Log
from sgl_audit.probe.machine import oom_kills
from sgl_audit.probe.processes import Server
from sgl_audit.probe.prompts import SUITE, Prompt
from sgl_audit.probe.recorder import Recorder
from sgl_audit.probe.stopping import stop
from sgl_audit.probe.watch import DEADLINES, SILENCE_S, Progress, Waited, Watch

_DEATH_S = 15.0
_INTERRUPTED_S = 10.0
_PROMPT_S = 180.0


@dataclass(frozen=True, slots=True)
class Request:
    """One combination to probe.

    Attributes:
        asked: backend options that the launch sets, by field name, with the values asked for.
        vocabulary: of the model, where its config.json is at hand.
        slow_below: tokens a second under which a run that passes counts as slow.
    """

    command: Command
    environment: RunEnvironment
    prediction: Prediction | None = None
    asked: Mapping[str, str] = field(default_factory=dict)
    prompts: tuple[Prompt, ...] = SUITE
    vocabulary: int | None = None
    deadlines: Mapping[Phase, float] = field(default_factory=dict)
    silence: float = SILENCE_S
    concurrency: int = 8
    slow_below: float | None = None
    token: str | None = None


class Run:
    """One server from start to stop."""

    def __init__(
        self, request: Request, recorder: Recorder, show: Callable[[Progress], None]
    ) -> None:
        self.request, self.recorder, self.show = request, recorder, show
        self.deadlines = {**DEADLINES, **request.deadlines}
        self.log = Log(recorder.store.log_path(recorder.evidence.id))
        self.client = Client(
            request.command.url, min(_PROMPT_S, self.deadlines[Phase.SMOKE]), request.token
        )
        self.server: Server | None = None
        self._asked: tuple[smoke.Asked, ...] = ()
        self._phase = Phase.CHECK
        self._killed_before = oom_kills()
        self._gpu_before = used_mib() if request.environment.device.kind != "cpu" else None
        self._begun = time.monotonic()

    def go(self) -> Evidence:
        """Do it all. Whatever interrupts it, the server is ended and the record says so."""
        self.recorder.update(prediction=self.request.prediction, phase=Phase.START)
        try:
            self._start()
            assert self.server is not None
            waited = self._wait(self.server)
            failure = self._failed_to_start(waited) if not waited.healthy else self._ask()
            return self._conclude(failure)
        except BaseException as error:
            said = "interrupted" if isinstance(error, KeyboardInterrupt) else f"ended by {error!r}"
            text = f"{said} in phase {self._phase}"
            self.recorder.update(outcome=RunOutcome.INTERRUPTED, summary=text)
            # Who presses Ctrl-C does not wait for half a minute.
            self.deadlines[Phase.STOP] = min(_INTERRUPTED_S, self.deadlines[Phase.STOP])
            raise
        finally:
            self._stop()
            self.client.close()

    def _start(self) -> None:
        self._enter(Phase.START)
        command = self.request.command
        variables = {**os.environ, **dict(command.environment), "PYTHONUNBUFFERED": "1"}
        self.server = Server(command.words, variables, self.log.path, Path.cwd())

    def _wait(self, server: Server) -> Waited:
        watch = Watch(
            server, self.log, self.client, self.deadlines, self.request.silence, self._shown
        )
        waited = watch.until_healthy()
        for phase, seconds in waited.timings.items():
            self.recorder.time(phase, seconds)
        self._phase = waited.phase
        self.recorder.update(phase=waited.phase, peak_memory_mib=waited.peak_mib)
        return waited

    def _shown(self, progress: Progress) -> None:
        if progress.phase is not self._phase:
            self._enter(progress.phase)
        self.show(progress)

    def _enter(self, phase: Phase) -> None:
        self._phase = phase
        self.recorder.update(phase=phase)
        if phase in (Phase.SMOKE, Phase.MEASURE):
            self._tell()

    def _tell(self) -> None:
        usage = self.server.usage() if self.server is not None else None
        elapsed = time.monotonic() - self._begun
        memory = usage.memory_mib if usage is not None else 0
        peak = max(memory, self.recorder.evidence.peak_memory_mib)
        self.recorder.update(peak_memory_mib=peak)
        self.show(Progress(self._phase, elapsed, memory, self.log.last()))

    def _failed_to_start(self, waited: Waited) -> Failure:
        self._look(None)
        if waited.exit_code is not None:
            return classify(self.log, self._end(waited.exit_code, waited.phase))
        return self._hangs(waited)

    def _hangs(self, waited: Waited) -> Failure:
        known = classify(self.log, self._end(None, waited.phase))
        if known.failure is FailureClass.PORT_TAKEN:
            return known
        kind = FailureClass.SLOW if waited.slow else FailureClass.HANG
        grounds = (Ground("process", waited.hang), *self.log.tail(4))
        return Failure(kind, waited.hang, grounds)

    def _end(self, code: int | None, phase: Phase, prompt: str = "") -> End:
        return End(code, phase, oom_kills() - self._killed_before, prompt)

    def _look(self, info: Mapping[str, Any] | None) -> None:
        """Note what it resolved to, from whatever there is."""
        names = [v.name for v in self.request.prediction.values] if self.request.prediction else []
        seen = observe.observe(info, self.log, (*names, *self.request.asked))
        self.recorder.update(observation=seen)

    def _ask(self) -> Failure | None:
        self._enter(Phase.SMOKE)
        start = time.monotonic()
        info = observe.ask_info(self.client)
        self._look(info)
        seen = self.recorder.evidence.observation
        if seen is not None and seen.identity.startswith("NOT"):
            ground = Ground("answer", seen.identity)
            return Failure(FailureClass.PORT_TAKEN, "another server answers", (ground,))
        prompts = self.request.prompts
        self._asked = smoke.ask_all(
            self.client, prompts, self.request.vocabulary, self._alive, self._answered
        )
        self.recorder.time(Phase.SMOKE, time.monotonic() - start)
        return self._weigh()

    def _alive(self) -> bool:
        return self.server is not None and self.server.exit_code() is None

    def _answered(self, asked: tuple[smoke.Asked, ...]) -> None:
        self.log.read()
        self.recorder.update(smoke=tuple(item.result for item in asked))
        self._tell()

    def _weigh(self) -> Failure | None:
        """What answers and log say together."""
        verdict = smoke.weigh(self._asked)
        self.recorder.update(notes=(*self.recorder.evidence.notes, *verdict.notes))
        died = self._died()
        logged = said_by_log(self.log)
        if verdict.failure is FailureClass.NAN:
            more = logged.grounds if logged is not None else died.grounds[:1] if died else ()
            return Failure(FailureClass.NAN, verdict.summary, (*verdict.grounds, *more))
        if died is not None:
            return died
        if logged is not None:
            return logged
        if verdict.failure is FailureClass.UNKNOWN:
            found = classify(self.log, self._end(None, Phase.SMOKE))
            text = f"{verdict.summary}; {found.summary}"
            # An answer that is HTTP 500 because of NaN is NaN; anything else stays unknown here.
            kind = FailureClass.NAN if found.failure is FailureClass.NAN else verdict.failure
            return Failure(kind, text, (*verdict.grounds, *found.grounds))
        if verdict.failure is not None:
            return Failure(verdict.failure, verdict.summary, verdict.grounds)
        return self._measure()

    def _died(self) -> Failure | None:
        """The class of a death during the prompts, or None where it lives."""
        assert self.server is not None
        last = self._asked[-1] if self._asked else None
        cut = last is not None and last.answer.cut
        code = self.server.wait(_DEATH_S) if cut else self.server.exit_code()
        if code is None and not cut:
            return None
        self.log.finish()
        prompt = last.prompt.name if last is not None else ""
        found = classify(self.log, self._end(code, Phase.SMOKE, prompt))
        ground = Ground("answer", f"{prompt}: {last.answer.error if last is not None else ''}")
        return Failure(
            found.failure, found.summary, (*found.grounds, ground), found.place, found.cause
        )

    def _measure(self) -> Failure | None:
        self._enter(Phase.MEASURE)
        start = time.monotonic()
        found = speed.measure(self.client, self.request.concurrency, self.deadlines[Phase.MEASURE])
        self.recorder.time(Phase.MEASURE, time.monotonic() - start)
        self.recorder.update(speed=found)
        self._tell()
        code = self.server.exit_code() if self.server is not None else None
        if code is not None:
            self.log.finish()
            return classify(self.log, self._end(code, Phase.MEASURE))
        floor, alone = self.request.slow_below, found[0].tokens_per_second if found else None
        if floor is not None and alone is not None and alone < floor:
            text = f"{alone} tokens/s alone, below the {floor} that were asked for"
            return Failure(FailureClass.SLOW, text, (Ground("answer", text),))
        return None

    def _conclude(self, failure: Failure | None) -> Evidence:
        self.log.read()
        found = compare(
            self.request.prediction,
            self.recorder.evidence.observation,
            failure,
            self._phase,
            self.request.asked,
        )
        if failure is None:
            good = f"{len(self._asked)} prompts answered, nothing wrong found"
            return self.recorder.update(
                compared=found, outcome=RunOutcome.PASSED, summary=good, phase=self._phase
            )
        return self.recorder.update(
            compared=found,
            outcome=RunOutcome.FAILED,
            failure=failure.failure,
            summary=failure.summary,
            grounds=failure.grounds,
        )

    def _stop(self) -> None:
        if self.server is None:
            return
        command = self.request.command
        start = time.monotonic()
        self.show(Progress(Phase.STOP, start - self._begun, 0, self.log.last()))
        patience = self.deadlines[Phase.STOP]
        ended = stop(
            self.server,
            command.host,
            command.port,
            patience,
            self._gpu_before,
            own_port=self.recorder.evidence.failure is not FailureClass.PORT_TAKEN,
        )
        self.log.finish()
        self.recorder.time(Phase.STOP, time.monotonic() - start)
        self.recorder.update(stopping=ended, log=self.log.file(self.recorder.store.folder))
