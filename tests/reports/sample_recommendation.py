"""Recommendations for the report tests, with text that tries to break out of the page."""

from __future__ import annotations

from sgl_audit.model.source import Place
from sgl_audit.model.verdict import (
    FlagAdvice,
    Ground,
    GroundKind,
    Recommendation,
    ValueVerdict,
    Verdict,
)

from . import sample

LAUNCH = ("--model-path", f"models/{sample.IMG}", "--tp", "8")


def _row(option: str, value: str, verdict: Verdict, text: str = "") -> ValueVerdict:
    ground = Ground(GroundKind.ADVISORY, verdict, text, Place(sample.ARGS, 7), "an-advisory")
    return ValueVerdict(option, value, "sm120", verdict, (ground,) if text else ())


def mended() -> Recommendation:
    """Two flags mend the launch."""
    return Recommendation(
        "sm120",
        LAUNCH,
        (
            FlagAdvice(
                "attention_backend",
                "--attention-backend",
                "triton",
                f"refused while loading {sample.MARKUP}",
                Place(sample.REGISTRY, 205),
                f"slower prefill {sample.SEPARATOR}",
                (
                    _row("attention_backend", "fa4", Verdict.UNKNOWN, "nothing is known"),
                    _row("attention_backend", "fa3", Verdict.REFUSED, sample.TABLE),
                ),
            ),
            FlagAdvice("fp4_gemm_runner_backend", "--fp4-gemm-backend", "a b", sample.SCRIPT),
        ),
        (_row("attention_backend", "flashinfer", Verdict.REFUSED, "the wrapper refuses it"),),
        (_row("attention_backend", "triton", Verdict.WORKS, sample.ANSI),),
        True,
        (),
        (f"assumed {sample.SCRIPT}",),
    )


def hopeless() -> Recommendation:
    """No flag helps."""
    row = _row("moe_runner_backend", "auto", Verdict.NO_KERNEL, "no kernel declares sm121")
    return Recommendation("sm121", LAUNCH, (), (row,), (row,), False, ("the kernel is missing",))


def unknown() -> Recommendation:
    """A flag that is not known to be enough."""
    row = _row("moe_runner_backend", "triton", Verdict.UNKNOWN)
    flag = FlagAdvice("moe_runner_backend", "--moe-runner-backend", "triton", "nobody decides")
    return Recommendation("sm90", LAUNCH, (flag,), (row,), (row,), False, (sample.IMG,))
