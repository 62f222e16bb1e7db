"""What one run is to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sgl_audit.model.evidence import Phase, Prediction, RunEnvironment
from sgl_audit.probe.command import Command
from sgl_audit.probe.prompts import SUITE, Prompt
from sgl_audit.probe.watch import SILENCE_S


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
