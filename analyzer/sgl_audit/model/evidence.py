"""Evidence: what one run of the actual server showed, beside what was predicted for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sgl_audit.model.source import Place

EVIDENCE_FORMAT = 1


class RunOutcome(StrEnum):
    """How a run ended."""

    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    INTERRUPTED = "interrupted"

    @property
    def final(self) -> bool:
        """Whether a resumed matrix may count this run as done."""
        return self in (RunOutcome.PASSED, RunOutcome.FAILED, RunOutcome.SKIPPED)


class FailureClass(StrEnum):
    """Why a run failed; `UNKNOWN` where nothing that is known fits."""

    REFUSED_FLAG = "refused flag"
    REFUSED_RESOLUTION = "refused in resolution"
    REFUSED_LOADING = "refused while loading"
    NO_KERNEL = "no kernel for this architecture"
    NO_DEVICE = "needs a device that is not here"
    ILLEGAL_ACCESS = "illegal memory access"
    OUT_OF_MEMORY = "out of GPU memory"
    OOM_KILLED = "killed by the kernel's OOM killer"
    MISSING_PACKAGE = "missing package"
    NO_MODEL = "model not found"
    PORT_TAKEN = "port taken"
    HANG = "hang"
    DIED_WARMUP = "died in warm-up"
    DIED_PROMPT = "died on a prompt"
    GARBAGE = "garbage"
    NAN = "NaN"
    SLOW = "slow"
    UNKNOWN = "unknown failure"


class Phase(StrEnum):
    """Where a run is, in order."""

    CHECK = "check"
    START = "start"
    LOAD = "load"
    WARMUP = "warm-up"
    SMOKE = "smoke"
    MEASURE = "measure"
    STOP = "stop"
    DONE = "done"


class Agreement(StrEnum):
    """What a run says of one prediction."""

    CONFIRMED = "confirmed"
    CONTRADICTED = "contradicted"
    NOT_EXERCISED = "not exercised"


@dataclass(frozen=True, slots=True)
class Ground:
    """One thing that proves an outcome.

    Attributes:
        source: "log", "answer", "process" or "machine".
        line: 1-based line of the log, or None.
    """

    source: str
    text: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Device:
    """What the run was on. `kind` is "cuda" or "cpu"; `capability` is "sm120" or "cpu"."""

    kind: str
    capability: str
    name: str = ""
    memory_mib: int = 0
    driver: str = ""
    count: int = 0


@dataclass(frozen=True, slots=True)
class RunEnvironment:
    """The interpreter and the machine. `versions` are distributions found there."""

    python: str
    python_version: str
    platform: str
    device: Device
    sglang: str | None = None
    versions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RunLaunch:
    """What was started; secrets are masked.

    Attributes:
        argv: the server's arguments as the user gave them.
        command: the whole command as it was run; empty for a server that already ran.
        environment: variables set for the server beyond those inherited.
        varied: the options that a matrix set, with their values.
        url: where the server answered.
    """

    argv: tuple[str, ...]
    command: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    varied: tuple[tuple[str, str], ...] = ()
    url: str = ""


@dataclass(frozen=True, slots=True)
class PredictedRefusal:
    """A refusal that was predicted, with its place in the tree."""

    type: str
    message: str
    stage: str
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class PredictedValue:
    """One value that was predicted; `text` says what is known where it is not decided."""

    name: str
    decided: bool
    value: Any = None
    text: str = ""
    layer: str = "option"


@dataclass(frozen=True, slots=True)
class Prediction:
    """What `resolve` said before the start. `late` is None where it could not tell."""

    outcome: str
    capability: str
    reason: str = ""
    rejection: PredictedRefusal | None = None
    late: tuple[PredictedRefusal, ...] | None = None
    values: tuple[PredictedValue, ...] = ()


@dataclass(frozen=True, slots=True)
class ObservedValue:
    """One value that the server reported.

    Attributes:
        value: the scheduler's own, where it has one.
        reported: False where the server does not say what it became ("auto").
        differs: whether the scheduler changed what the resolution left.
        resolved: what the resolution left, where `differs`.
    """

    name: str
    value: Any
    source: str
    reported: bool = True
    differs: bool = False
    resolved: Any = None


@dataclass(frozen=True, slots=True)
class Observation:
    """What the server resolved to.

    Attributes:
        identity: how it was proved that the server that answered is the one started, or "".
        said: lines of the log that name what was chosen.
    """

    values: tuple[ObservedValue, ...] = ()
    identity: str = ""
    said: tuple[Ground, ...] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    """One prediction beside what the run showed."""

    subject: str
    predicted: str
    observed: str
    agreement: Agreement
    why: str = ""
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one answer shows. `kind` is "nan", "repeat", "empty", "invalid", "wrong" ..."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class SmokeResult:
    """One prompt and its answer."""

    name: str
    route: str
    prompt: str
    sampled: bool
    status: int | None
    seconds: float
    text: str | None = None
    error: str = ""
    judged: tuple[Judgement, ...] = ()


@dataclass(frozen=True, slots=True)
class Speed:
    """A short measurement at one concurrency, with the seconds to the first token of a stream."""

    concurrency: int
    tokens_per_second: float
    first_token_s: float | None = None


@dataclass(frozen=True, slots=True)
class Stopping:
    """How the server was ended, and what was left of it."""

    how: str
    seconds: float
    exit_code: int | None = None
    processes_left: int = 0
    port_free: bool | None = None
    gpu_memory_free: bool | None = None


@dataclass(frozen=True, slots=True)
class LogFile:
    """The server's log, by its name beside the evidence, with its hash once it is complete."""

    path: str
    bytes: int = 0
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One run of the actual server. Written anew at each step.

    Attributes:
        key: equal for runs of the same launch on the same device with the same SGLang.
        pid: process of the tool that writes it, and `pid_started` when that began: so a dead one is
            told from a slow one.
        phase: how far it came.
        failure: why it failed, where `outcome` is FAILED.
        notes: what the reader should know and what did not make it fail.
        timings: seconds by phase, in order.
    """

    id: str
    key: str
    created: str
    updated: str
    tool_version: str
    environment: RunEnvironment
    launch: RunLaunch
    format: int = EVIDENCE_FORMAT
    kind: str = "sgl-audit evidence"
    pid: int = 0
    pid_started: float = 0.0
    phase: Phase = Phase.CHECK
    outcome: RunOutcome = RunOutcome.RUNNING
    failure: FailureClass | None = None
    summary: str = ""
    grounds: tuple[Ground, ...] = ()
    notes: tuple[str, ...] = ()
    prediction: Prediction | None = None
    observation: Observation | None = None
    compared: tuple[Compared, ...] = ()
    smoke: tuple[SmokeResult, ...] = ()
    speed: tuple[Speed, ...] = ()
    timings: tuple[tuple[str, float], ...] = ()
    peak_memory_mib: int = 0
    stopping: Stopping | None = None
    log: LogFile | None = None


@dataclass(frozen=True, slots=True)
class JoinedRun:
    """A run laid beside another answer. `foreign` says why it does not count there, or is empty."""

    evidence: Evidence
    foreign: str = ""
