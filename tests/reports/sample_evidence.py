"""A run of the actual server for the report tests, with text that tries to break out."""

from __future__ import annotations

from sgl_audit.model.evidence import (
    Agreement,
    Compared,
    Device,
    Evidence,
    FailureClass,
    Ground,
    Judgement,
    Phase,
    RunEnvironment,
    RunLaunch,
    RunOutcome,
    SmokeResult,
    Speed,
)

from . import sample


def evidence() -> Evidence:
    """A run that fails on a prompt."""
    return Evidence(
        id="20260101-000000-abcdef",
        key="abcdef",
        created="2026-01-01T00:00:00Z",
        updated="2026-01-01T00:01:00Z",
        tool_version="0.1.0",
        environment=RunEnvironment(
            "venv/bin/python", "3.12.1", "Linux", Device("cuda", "sm120", sample.IMG), "0.5.9"
        ),
        launch=RunLaunch(("--model-path", sample.SCRIPT, "--tp", "2")),
        phase=Phase.DONE,
        outcome=RunOutcome.FAILED,
        failure=FailureClass.GARBAGE,
        summary=f"the answer is garbage {sample.SEPARATOR}",
        grounds=(Ground("log", sample.ANSI + "x" * 400, 12), Ground("answer", sample.MARKUP)),
        compared=(
            Compared("attention_backend", "triton", "triton", Agreement.CONFIRMED),
            Compared("moe_runner_backend", "auto", sample.TABLE, Agreement.CONTRADICTED, "why"),
        ),
        smoke=(
            SmokeResult("count", "/generate", "1 2 3", False, 200, 0.5, "!!!!" + sample.SCRIPT,
                        judged=(Judgement("repeat", "one character again and again"),)),
        ),
        speed=(Speed(1, 31.5, 0.2),),
        timings=(("load", 12.0), ("warm-up", 3.0)),
    )  # fmt: skip
