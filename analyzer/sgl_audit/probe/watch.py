"""Waiting for a server: its phases, its deadlines, and the signs that it will never come."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sgl_audit.model.evidence import FailureClass, Phase
from sgl_audit.probe.aftermath import healthy, settle
from sgl_audit.probe.client import Client
from sgl_audit.probe.logs import OPEN, RESOLVED, Log
from sgl_audit.probe.processes import Server, Usage
from sgl_audit.probe.signatures import SIGNATURES

# Generous: weights of a large model from a slow disk take half an hour.
DEADLINES: Mapping[Phase, float] = {
    Phase.START: 900.0,
    Phase.LOAD: 3600.0,
    Phase.WARMUP: 900.0,
    Phase.SMOKE: 900.0,
    Phase.MEASURE: 120.0,
    Phase.STOP: 30.0,
}
SILENCE_S = 600.0
# For one answer.
PROMPT_S = 180.0
_STOPPED_S = 10.0
_TICK_S = 0.5
_IDLE = 0.01


@dataclass(frozen=True, slots=True)
class Progress:
    """What a display shows."""

    phase: Phase
    elapsed_s: float
    memory_mib: int
    last_line: str


@dataclass(slots=True)
class Waited:
    """How the wait ended.

    Attributes:
        healthy: whether `/health` said 200.
        hang: why it was given up, or "".
        slow: whether it was still at work when its time was over.
    """

    phase: Phase = Phase.START
    healthy: bool = False
    exit_code: int | None = None
    hang: str = ""
    slow: bool = False
    peak_mib: int = 0
    timings: dict[Phase, float] = field(default_factory=dict)


class Watch:
    """Follows one server from its start to its first healthy answer."""

    def __init__(
        self,
        server: Server,
        log: Log,
        client: Client,
        deadlines: Mapping[Phase, float],
        silence: float = SILENCE_S,
        show: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        self.server, self.log, self.client = server, log, client
        self.deadlines = {**DEADLINES, **deadlines}
        self.silence = silence
        self.show = show
        now = time.monotonic()
        self.begun = now
        self._phase_begun = now
        self._moved = now
        self._wrote = now
        self._stopped_since: float | None = None
        self._cpu = 0.0
        self._cpu_at = now
        self.waited = Waited()

    def until_healthy(self) -> Waited:
        """Wait until the server is healthy, gone, or given up."""
        while True:
            usage = self._look()
            code = self.server.exit_code()
            if code is not None:
                settle(self.server, self.log)
                self._advance()
                self.waited.exit_code = code
                return self._ended()
            if self.waited.phase is Phase.WARMUP and healthy(self.client):
                self.waited.healthy = True
                return self._ended()
            hang = self._hangs(usage)
            if hang:
                self.waited.hang = hang
                return self._ended()
            time.sleep(_TICK_S)

    def _look(self) -> Usage:
        now = time.monotonic()
        before = self.log.size
        self.log.read()
        if self.log.size != before:
            self._moved = self._wrote = now
        self._advance()
        usage = self.server.usage()
        self.waited.peak_mib = max(self.waited.peak_mib, usage.memory_mib)
        if usage.cpu_s - self._cpu > _IDLE * (now - self._cpu_at):
            self._moved = now
        self._cpu, self._cpu_at = usage.cpu_s, now
        self.show(Progress(self.waited.phase, now - self.begun, usage.memory_mib, self.log.last()))
        return usage

    def _advance(self) -> None:
        if self.waited.phase is Phase.START and self.log.seen(RESOLVED) is not None:
            self._enter(Phase.LOAD)
        if self.waited.phase is Phase.LOAD and self.log.seen(OPEN) is not None:
            self._enter(Phase.WARMUP)

    def _enter(self, phase: Phase) -> None:
        now = time.monotonic()
        self.waited.timings[self.waited.phase] = now - self._phase_begun
        self.waited.phase, self._phase_begun = phase, now

    def _ended(self) -> Waited:
        self.waited.timings[self.waited.phase] = time.monotonic() - self._phase_begun
        return self.waited

    def _hangs(self, usage: Usage) -> str:
        """Why nothing will come any more, or ""."""
        now = time.monotonic()
        phase = self.waited.phase
        if usage.stopped:
            self._stopped_since = self._stopped_since or now
            if now - self._stopped_since >= _STOPPED_S:
                some = f"{usage.stopped} of its {usage.processes} processes"
                return f"{some} are stopped (state T) in phase {phase}"
        else:
            self._stopped_since = None
        if self._port_lost():
            return f"it could not take its port and does not end, in phase {phase}"
        quiet = now - self._moved
        if quiet >= self.silence:
            return f"no log line and no CPU time for {quiet:.0f} s in phase {phase}"
        limit = self.deadlines[phase]
        spent = now - self._phase_begun
        if spent >= limit:
            self.waited.slow = quiet < min(_STOPPED_S, limit / 2)
            still = "still at work" if self.waited.slow else f"silent for {quiet:.0f} s"
            return f"phase {phase} took longer than {limit:.0f} s; it was {still}"
        return ""

    def _port_lost(self) -> bool:
        """The server's own message that its port is taken; it may wait for ever after it, with a
        scheduler that is busy waiting."""
        taken = any(self.log.seen(pattern) is not None for pattern in _TAKEN)
        return taken and time.monotonic() - self._wrote >= _STOPPED_S


_TAKEN = tuple(s.pattern for s in SIGNATURES if s.failure is FailureClass.PORT_TAKEN)
