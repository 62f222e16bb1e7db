"""A deterministic review for the report tests, with names that try to break out of each report."""

from __future__ import annotations

from dataclasses import replace

from sgl_audit.model.history import Aspect, Entry, Event, History, Release
from sgl_audit.model.resolution import Launch, Outcome, Refusal
from sgl_audit.model.review import (
    Change,
    ChangeKind,
    ChangeSubject,
    Confidence,
    Edit,
    FamilyChange,
    LaunchEnd,
    LaunchReview,
    LaunchVerdict,
    LoneValue,
    OpenValue,
    Rename,
    Review,
    UpgradeVerdict,
    ValueChange,
)
from sgl_audit.model.source import Diagnostic, Place

from . import sample

OLD = sample.SOURCE
NEW = replace(OLD, distribution=replace(OLD.distribution, version="0.5.23"), upstream=None)
PLACE = Place(sample.ARGS, 456, 4)
OK = LaunchEnd(Outcome.OK, late=())
REFUSED = LaunchEnd(
    Outcome.REJECTED,
    Refusal("SystemExit", "unrecognized arguments: --nsa-prefill-backend", None),
)
VALUE = ValueChange("runtime", "moe_runner_backend", "auto", "flashinfer_cutlass", place=PLACE)
SETTLED = ValueChange("options", "fp4_gemm_runner_backend", "cutlass", "auto", settled=True)


def launch(name: str, *argv: str) -> Launch:
    """A launch on sm120."""
    return Launch(name, "sm120", ("--model-path", "/models/x y", *argv), (("SGLANG_X", "a b"),))


LAUNCHES = (
    LaunchReview(launch("quiet"), LaunchVerdict.SAME, OK, OK),
    LaunchReview(
        launch("other runner"),
        LaunchVerdict.CHANGES,
        OK,
        OK,
        (VALUE, SETTLED),
        (LoneValue("options", "nsa_prefill_backend", "flashmla", "dsa_prefill_backend"),),
        (LoneValue("options", "bf16_gemm_backend", "auto"),),
        warnings=("moe_runner_backend = flashinfer_cutlass: it is wrong",),
    ),
    LaunchReview(
        launch("old flag", "--nsa-prefill-backend", "flashmla"),
        LaunchVerdict.REFUSED,
        OK,
        REFUSED,
        edit=Edit(
            ("--model-path", "/models/x y", "--dsa-prefill-backend", "flashmla"),
            ("--nsa-prefill-backend is now --dsa-prefill-backend (likely: same choices)",),
            (replace(VALUE, name="dsa_prefill_backend", old_name="nsa_prefill_backend"),),
        ),
        program="sglang serve",
    ),
    LaunchReview(launch("mended"), LaunchVerdict.WORKS, REFUSED, OK),
    LaunchReview(launch("hopeless"), LaunchVerdict.BOTH_REFUSED, REFUSED, REFUSED),
    LaunchReview(
        launch("open"),
        LaunchVerdict.UNKNOWN,
        OK,
        LaunchEnd(Outcome.UNKNOWN, reason="the model is not at hand"),
        unknown=(OpenValue("options", "page_size", "new version: it has several cases"),),
    ),
)
HOSTILE = LaunchReview(
    Launch(sample.IMG, "sm120", (sample.SCRIPT, sample.ANSI, sample.TABLE)),
    LaunchVerdict.CHANGES,
    OK,
    OK,
    (replace(VALUE, before=sample.MARKUP, after=sample.SEPARATOR),),
    warnings=(sample.SCRIPT,),
    notes=(sample.MARKUP,),
)


def change(kind: ChangeKind, subject: ChangeSubject, name: str, text: str) -> Change:
    """A change of a backend."""
    return Change(kind, subject, name, text, "a", "b", name, backend=True)


CHANGES = (
    replace(
        change(
            ChangeKind.BREAKING,
            ChangeSubject.FLAG,
            "dsa_prefill_backend",
            "--nsa-prefill-backend is gone; it likely goes on as --dsa-prefill-backend",
        ),
        old_place=PLACE,
        new_place=PLACE,
        confidence=Confidence.LIKELY,
        evidence="58% of all choices are common",
    ),
    change(
        ChangeKind.BREAKING,
        ChangeSubject.CHOICE,
        "attention_backend",
        "--attention-backend no longer takes cutlass_mla",
    ),
    change(
        ChangeKind.BREAKING,
        ChangeSubject.CHOICE,
        "decode_attention_backend",
        "--decode-attention-backend no longer takes cutlass_mla",
    ),
    replace(
        change(
            ChangeKind.BEHAVIOUR,
            ChangeSubject.FAMILY,
            "moe_runner_backend",
            "moe_runner_backend becomes flashinfer_cutlass, was auto, for NVFP4 MoE",
        ),
        capabilities=("sm120",),
    ),
    change(ChangeKind.ADDITIVE, ChangeSubject.OPTION, "bf16_gemm_backend", "new: --bf16-gemm"),
    change(ChangeKind.INFORMATIONAL, ChangeSubject.PIN, "torch", "torch 2.9.1 -> 2.14.1"),
)
NASTY = Change(
    ChangeKind.BREAKING,
    ChangeSubject.OPTION,
    sample.IMG,
    f"{sample.SCRIPT} {sample.MARKUP} {sample.TABLE}",
    sample.ANSI,
    sample.SEPARATOR,
    sample.IMG,
    evidence=sample.MARKUP,
    confidence=Confidence.CERTAIN,
    backend=True,
)
FAMILIES = (
    FamilyChange("Qwen3 NVFP4", "NVFP4 MoE", "sm120", (), "refused", "ok", why_before="no method"),
    FamilyChange(
        "Qwen3 NVFP4", "NVFP4 MoE", "sm120", ("--quantization", "modelopt_fp4"), "ok", "ok",
        values=(
            ("moe_runner_backend", "auto", "flashinfer_cutlass"),
            ("fp8_gemm_runner_backend", "auto", "cutlass"),
        ),
    ),
    FamilyChange("Llama", "BF16 dense", "sm120", (), "ok", "refused", why_after="fa3 needs SM90"),
    FamilyChange("Mixtral", "BF16 MoE", "sm120", (), "ok", "ok"),
)  # fmt: skip


def review(hostile: bool = True) -> Review:
    """A review with everything in it."""
    return Review(
        OLD,
        NEW,
        "0.1.0",
        ("sm120", "sm121"),
        changes=(*CHANGES, NASTY) if hostile else CHANGES,
        families=FAMILIES,
        renames=(
            Rename("nsa_prefill_backend", "dsa_prefill_backend", Confidence.LIKELY, "choices"),
        ),
        launches=(*LAUNCHES, HOSTILE) if hostile else LAUNCHES,
        verdict=UpgradeVerdict.DIFFERENT,
        uncompared=(Diagnostic("sglang/x.py of the new version could not be read"),),
    )


def same() -> Review:
    """Two sources with the same code."""
    return Review(OLD, OLD, "0.1.0", ("sm120",), same=True, trees=False)


def history() -> History:
    """An option over four releases, of which one was not read and one could not be."""
    release = Release
    return History(
        "moe_runner_backend",
        ("sm120", "sm121"),
        "0.1.0",
        (
            release("0.5.4", True),
            release("0.5.5", False),
            release("0.5.9", True),
            release("0.5.10", False, f"damaged {sample.SCRIPT}"),
            release("0.5.15", True),
        ),
        (
            Entry(Aspect.DEFAULT, "", "", "auto"),
            Entry(Aspect.BECOMES, "NVFP4 MoE", "sm120", "auto"),
            Entry(Aspect.BECOMES, sample.IMG, "sm120", sample.MARKUP),
        ),
        (
            Event("0.5.4", "0.5.9", True, Aspect.CHOICES, "", (), "auto, a", "auto, b, c"),
            Event("0.5.9", "0.5.15", False, Aspect.BECOMES, "NVFP4 MoE", ("sm120",), "auto", "b"),
            Event("0.5.9", "0.5.15", False, Aspect.BECOMES, "FP8 MoE", ("sm120",), "auto", "b"),
            Event("0.5.9", "0.5.15", False, Aspect.GATE, sample.IMG, (), sample.ANSI, "sm100"),
        ),
    )
