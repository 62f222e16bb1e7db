"""One run: start the server, wait, ask, judge, stop; the record is complete at every step."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sgl_audit.model.evidence import (
    Evidence,
    FailureClass,
    Ground,
    Phase,
    RunOutcome,
)
from sgl_audit.probe import observe, smoke, speed
from sgl_audit.probe.aftermath import Aftermath, State
from sgl_audit.probe.causes import last_cause
from sgl_audit.probe.classify import End, Failure, classify
from sgl_audit.probe.client import Client
from sgl_audit.probe.compare import compare
from sgl_audit.probe.gpus import used_mib
from sgl_audit.probe.logs import Log
from sgl_audit.probe.machine import oom_kills
from sgl_audit.probe.processes import Server
from sgl_audit.probe.recorder import Recorder
from sgl_audit.probe.request import Request
from sgl_audit.probe.stopping import stop
from sgl_audit.probe.watch import DEADLINES, PROMPT_S, Progress, Waited, Watch
from sgl_audit.probe.weighing import Seen, ended, weigh

_INTERRUPTED_S = 10.0


class Run:
    """One server from start to stop."""

    def __init__(
        self, request: Request, recorder: Recorder, show: Callable[[Progress], None]
    ) -> None:
        self.request, self.recorder, self.show = request, recorder, show
        self.deadlines = {**DEADLINES, **request.deadlines}
        self.log = Log(recorder.store.log_path(recorder.evidence.id))
        self.client = Client(
            request.command.url, min(PROMPT_S, self.deadlines[Phase.SMOKE]), request.token
        )
        self.server: Server | None = None
        self._asked: tuple[smoke.Asked, ...] = ()
        # Lines of the log before the first question, and after each answer.
        self._marks: list[int] = [0]
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

    def _end(self, code: int | None, phase: Phase) -> End:
        return End(code, phase, oom_kills() - self._killed_before)

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
        self._marks = [self._lines()]
        self._asked = smoke.ask_all(
            self.client,
            self.request.prompts,
            self.request.vocabulary,
            self._well,
            self._answered,
            self.deadlines[Phase.SMOKE],
        )
        found = self._weigh()
        self.recorder.time(Phase.SMOKE, time.monotonic() - start)
        return found if found is not None else self._measure()

    def _well(self, cut: bool) -> bool:
        assert self.server is not None
        return self._find() is State.WELL if cut else self.server.exit_code() is None

    def _find(self) -> State:
        assert self.server is not None
        return Aftermath(self.server, self.log, self.client).find()

    def _lines(self) -> int:
        self.log.read()
        return len(self.log.lines)

    def _answered(self, asked: tuple[smoke.Asked, ...]) -> None:
        self.recorder.update(smoke=tuple(item.result for item in asked))
        self._marks.append(self._lines())
        self._tell()

    def _weigh(self) -> Failure | None:
        """What answers and log say together."""
        assert self.server is not None
        unanswered = bool(self._asked) and self._asked[-1].answer.status is None
        there = not unanswered and self.server.exit_code() is None
        state = State.WELL if there else self._find()
        seen = Seen(
            self._asked,
            self.log,
            state,
            self._end(self.server.exit_code(), Phase.SMOKE),
            self._marks[0],
            self._ended_since(),
            len(self.request.prompts),
            self.server.usage().stopped,
        )
        failure, notes = weigh(seen)
        self.recorder.update(notes=(*self.recorder.evidence.notes, *notes))
        return failure

    def _ended_since(self) -> int:
        """From which line on the log tells what the server died of, if it did.

        That is before the last prompt, also where its answer came. A server that dies of the one
        before, after answering it, may have written so by the time that the last one was asked.
        """
        last = self._marks[max(0, len(self._asked) - 1)]
        if len(self._asked) < 2 or last_cause(self.log.lines, last) is not None:
            return last
        return self._marks[len(self._asked) - 2]

    def _measure(self) -> Failure | None:
        self._enter(Phase.MEASURE)
        start = time.monotonic()
        budget = self.deadlines[Phase.MEASURE]
        found, wrong = speed.measure(self.client, self.request.concurrency, budget)
        # What answered all prompts may still die of them, or of many at once.
        state = self._find()
        self.recorder.time(Phase.MEASURE, time.monotonic() - start)
        notes = (*self.recorder.evidence.notes, *wrong)
        self.recorder.update(speed=found, notes=notes)
        self._tell()
        if state is not State.WELL:
            assert self.server is not None
            end = self._end(self.server.exit_code(), Phase.MEASURE)
            return ended(state, self.log, end, self._marks[-1])
        text = speed.too_slow(found, self.request.slow_below)
        return Failure(FailureClass.SLOW, text, (Ground("answer", text),)) if text else None

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
        with contextlib.suppress(OSError):
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
