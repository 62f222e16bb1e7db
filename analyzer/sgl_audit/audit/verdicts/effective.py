"""Which option a layer's calls belong to, and which of its choices they amount to."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sgl_audit.audit.verdicts.calls import decisive
from sgl_audit.model.paths import KernelCall, LayerPath, Site

UNDECIDED = ("auto", "none")
EXPERTS = "moe_runner_backend"
GEMM = "_gemm_"
STAGES = {
    Site.PREFILL: "prefill_attention_backend",
    Site.DECODE: "decode_attention_backend",
}
# Spelling in names of library functions -> in SGLang's choices.
SPELLINGS = (
    ("trtllm", "trtllm"),
    ("cutedsl", "cutedsl"),
    ("cute_dsl", "cutedsl"),
    ("cutlass", "cutlass"),
    ("cudnn", "cudnn"),
    ("deep_gemm", "deep_gemm"),
    ("deepgemm", "deep_gemm"),
    ("marlin", "marlin"),
)


def option_of(path: LayerPath, values: Mapping[str, str]) -> str:
    """The option that decides what a layer of this kind calls; "" where none does."""
    if path.site is Site.EXPERTS:
        return EXPERTS if EXPERTS in values else ""
    if path.site in STAGES:
        return STAGES[path.site]
    if path.site is Site.OTHER:
        # What such a layer calls is written into it; no option leads elsewhere.
        return ""
    asked = [name for name in path.asked if GEMM in name and name in values]
    if asked:
        return asked[0]
    text = " ".join((path.method, *(call.function for call in path.calls))).lower()
    for form in ("fp4", "fp8", "bf16"):
        named = [n for n in values if n.startswith(form) and GEMM in n and "backend" in n]
        if named and (form in text or (form == "bf16" and path.method.startswith("Unquantized"))):
            return named[0]
    return ""


def effective(path: LayerPath, value: str, choices: Collection[str]) -> str:
    """The choice that the layer's own calls amount to; the value itself where that is settled."""
    if value not in UNDECIDED:
        return value
    if path.runner and path.runner not in UNDECIDED:
        return path.runner
    named = [name for call in path.calls if decisive(call) and (name := choice_of(call, choices))]
    # A fallback in Triton is what is left where another one does not fit.
    ordered = sorted(dict.fromkeys(named), key=lambda name: name == "triton")
    return " or ".join(ordered)


def choice_of(call: KernelCall, choices: Collection[str]) -> str:
    """The choice that a call amounts to, or ""."""
    backend = call.argument("backend") or ""
    text = f"{backend or call.function}".lower()
    parts = [part for word, part in SPELLINGS if word in text]
    if call.library in ("triton", "deep_gemm"):
        parts = [call.library]
    elif call.library == "triton_kernels":
        parts = ["triton_kernel"]
    for part in parts:
        name = f"flashinfer_{part}" if call.library == "flashinfer" else part
        if name in choices:
            return name
    return ""
