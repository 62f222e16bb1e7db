"""Resolution: what one launch ends up with, each value with its trace."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sgl_audit.model.facts import JsonValue
from sgl_audit.model.paths import LayerPath
from sgl_audit.model.source import Place
from sgl_audit.model.verdict import ValueVerdict


class Outcome(StrEnum):
    """How a launch ends."""

    OK = "ok"
    REJECTED = "rejected"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something taken as given. `decided` names the values that rested on it."""

    name: str
    value: str
    source: str
    decided: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch as the evaluator takes it.

    Attributes:
        argv: the server's arguments, without program name.
        environment: variables set in front of the command.
        assume: assumption name -> text, as given.
        model_config: path of a model folder or config.json that stands for the model, or None.
        model_arch: architecture name to assume where there is no file.
        quantization_of: checkpoint quantization to assume where there is no file.
    """

    id: str
    capability: str
    argv: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    assume: tuple[tuple[str, str], ...] = ()
    card: str | None = None
    model_config: str | None = None
    model_arch: str | None = None
    quantization_of: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Where and how a launch is refused. A refusal by the argument parser has no place."""

    type: str
    message: str
    place: Place | None
    stage: str = "resolution"
    guard: str | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One possible value and the condition under which it is the value."""

    guard: str
    value: JsonValue


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of a trace: what set the value, where, and why that place was reached."""

    value: str
    place: Place | None
    what: str
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResolvedValue:
    """The value of one option after resolution.

    Attributes:
        decided: whether `value` is the value; otherwise `cases` and `reason` say what is known.
        steps: what set it, in order.
    """

    name: str
    decided: bool
    value: JsonValue = None
    cases: tuple[Case, ...] = ()
    reason: str | None = None
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Resolution:
    """The answer to one launch.

    Attributes:
        options: server arguments after resolution.
        reported: those that the server itself reports otherwise than it holds them.
        runtime: what the run-time initialisers and getters then hold.
        rejection: the refusal, where `outcome` is REJECTED.
        possible: refusals under a condition that is not known to hold.
        late: refusals met only once loading starts; None where that is unknown.
        paths: where each kind of layer leads, as far as that was asked.
        verdicts: what is known of the values that decide which kernels run, where that was asked.
    """

    launch: Launch
    outcome: Outcome
    options: tuple[ResolvedValue, ...] = ()
    runtime: tuple[ResolvedValue, ...] = ()
    rejection: Refusal | None = None
    possible: tuple[Refusal, ...] = ()
    late: tuple[Refusal, ...] | None = None
    reason: str | None = None
    assumptions: tuple[Assumption, ...] = ()
    notes: tuple[str, ...] = ()
    paths: tuple[LayerPath, ...] = ()
    verdicts: tuple[ValueVerdict, ...] = ()
    reported: tuple[ResolvedValue, ...] = ()

    def option(self, name: str) -> ResolvedValue | None:
        """The resolved value of one option, or None where the launch never got that far."""
        return next((value for value in self.options if value.name == name), None)
