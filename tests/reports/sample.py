"""A deterministic audit for the report tests, with names that try to break out of each report."""

from __future__ import annotations

from sgl_audit.model.facts import (
    BackendEnum,
    Choice,
    ChoiceList,
    Decision,
    DecisionKind,
    EnumMember,
    EnvironmentVariable,
    ExtensionPoint,
    Facts,
    Flag,
    Gate,
    GateForm,
    Option,
    Rejection,
    RejectionKind,
)
from sgl_audit.model.guard import ALWAYS, Atom, AtomKind, all_of, negate
from sgl_audit.model.report import (
    Advice,
    Audit,
    ChainLink,
    ChoiceCell,
    ChoiceState,
    Coverage,
    Excerpt,
    FamilyRow,
    Finding,
    OptionBehaviour,
    RuleDoc,
    RuleExample,
    Severity,
    ShowPage,
    ShowRow,
    ShowSection,
)
from sgl_audit.model.resolution import (
    Assumption,
    Case,
    Launch,
    Outcome,
    Refusal,
    Resolution,
    ResolvedValue,
    Step,
)
from sgl_audit.model.source import (
    Diagnostic,
    Distribution,
    Pin,
    Place,
    SourceInfo,
    SourceKind,
)

ARGS = "sglang/srt/server_args.py"
FP4 = "sglang/srt/layers/quantization/fp4_utils.py"
REGISTRY = "sglang/srt/layers/attention/attention_registry.py"

IMG = '"><img src=x onerror=alert(1)>'
SCRIPT = "</script><script>alert(1)</script>"
MARKUP = "[red]not markup[/red]"
ANSI = "\x1b[31mred\x1b]8;;http://evil.example\x1b\\link"
SEPARATOR = "a\u2028b\u2029c\u202ed"
TABLE = "cell | `code` <b> [x](http://evil.example)\nnext"
HOSTILE = (IMG, SCRIPT, MARKUP, ANSI, SEPARATOR, TABLE)

SOURCE = SourceInfo(
    kind=SourceKind.PYPI,
    label="sglang==0.5.9",
    package="sglang",
    distribution=Distribution(
        "sglang",
        "0.5.9",
        (
            Pin("flashinfer-python", "==0.6.3", "0.6.3"),
            Pin("sgl-kernel", "==0.3.21", "0.3.21"),
            Pin("torch", "==2.9.1", "2.9.1"),
        ),
    ),
    upstream="https://github.com/sgl-project/sglang/blob/v0.5.9/python/",
)


def excerpt(file: str, line: int, *lines: str) -> Excerpt:
    """Lines that start one line above the place."""
    return Excerpt(Place(file, line), line - 1, lines)


GDN = Finding(
    rule="SGA101",
    severity=Severity.ERROR,
    title="default attention backend refused for hybrid GDN models",
    message="Nothing set, attention_backend becomes flashinfer on sm120; the hybrid linear "
    "attention wrapper then asserts that it is triton, trtllm_mha or fa4.",
    capabilities=("sm120",),
    place=Place(REGISTRY, 205, 8),
    option="attention_backend",
    value="flashinfer",
    when="hybrid GDN",
    remedy="--attention-backend triton",
    chain=(
        ChainLink(
            "is_blackwell() holds, so the default is flashinfer",
            Place(ARGS, 1290),
            excerpt(
                ARGS,
                1290,
                "        if is_sm100_supported():",
                '            return "flashinfer"',
                "        # hopper",
            ),
        ),
        ChainLink(
            "the wrapper refuses it",
            Place(REGISTRY, 205, 8),
            excerpt(
                REGISTRY,
                205,
                "    if is_blackwell():",
                "        assert backend in ('triton', 'fa4'), \\",
                '            f"{backend} is not supported"',
            ),
        ),
    ),
    fingerprint="a1b2c3d4e5f60001",
)
AUTO = Finding(
    rule="SGA103",
    severity=Severity.ERROR,
    title="nobody decides moe_runner_backend for NVFP4 MoE",
    message="No branch covers sm120; auto survives to run time.",
    capabilities=("sm120", "sm121"),
    place=Place(ARGS, 1722, 12),
    option="moe_runner_backend",
    value="auto",
    when="NVFP4 MoE",
    remedy="--moe-runner-backend flashinfer_cutlass",
    chain=(ChainLink("the only assignment is under is_sm100_supported()", Place(ARGS, 1722)),),
    fingerprint="a1b2c3d4e5f60002",
)
ENV = Finding(
    rule="SGA112",
    severity=Severity.WARNING,
    title="deprecated variable silently wins over the flag",
    message="SGLANG_FLASHINFER_FP4_GEMM_BACKEND, when set, replaces --fp4-gemm-backend.",
    capabilities=("sm90", "sm100", "sm120", "sm121"),
    place=Place(FP4, 61, 4),
    option="fp4_gemm_runner_backend",
    value="flashinfer_cutlass",
    remedy="unset SGLANG_FLASHINFER_FP4_GEMM_BACKEND",
    fingerprint="a1b2c3d4e5f60003",
)
MARLIN = Finding(
    rule="SGA107",
    severity=Severity.NOTE,
    title="marlin is a runner member without a choice",
    message="MoeRunnerBackend.MARLIN cannot be given on the command line.",
    capabilities=("sm90", "sm100", "sm120", "sm121"),
    place=Place("sglang/srt/layers/moe/utils.py", 66, 4),
    option="moe_runner_backend",
    value="marlin",
    fingerprint="a1b2c3d4e5f60004",
)
NASTY = Finding(
    rule="SGA199",
    severity=Severity.NOTE,
    title=f"{MARKUP} {IMG}",
    message=f"{SCRIPT} {ANSI} {SEPARATOR} {TABLE}",
    capabilities=("sm120",),
    place=Place(f"sglang/srt/{IMG}|%20 #?.py", 3),
    option=IMG,
    value=SCRIPT,
    when=MARKUP,
    remedy=f"--x '{TABLE}' {ANSI}",
    chain=(
        ChainLink(
            TABLE,
            Place(f"sglang/{SCRIPT}.py", 2),
            excerpt("sglang/x.py", 2, f"s = '{SCRIPT}'", f"t = '{ANSI}'", f"u = '{SEPARATOR}'"),
        ),
    ),
    fingerprint="a1b2c3d4e5f60005",
)

ATTENTION_DEFAULT = {"sm90": "fa3", "sm100": "trtllm_mha", "sm120": "flashinfer"}


def behaviours(capabilities: tuple[str, ...]) -> tuple[OptionBehaviour, ...]:
    """Three real options and a quiet one on each capability."""
    result = []
    for name in capabilities:
        attention = ATTENTION_DEFAULT.get(name, "triton")
        result += [
            OptionBehaviour(
                "attention_backend",
                name,
                "None",
                (Case("always", attention),),
                why=f"_get_default_attn_backend returns {attention}",
                places=(Place(ARGS, 1290),),
            ),
            OptionBehaviour(
                "fp4_gemm_runner_backend",
                name,
                "flashinfer_cutlass",
                (Case("always", "flashinfer_cutlass"),),
            ),
            OptionBehaviour("kv_cache_dtype", name, "auto", (Case("always", "auto"),)),
            _moe(name),
        ]
    return tuple(result)


def _moe(name: str) -> OptionBehaviour:
    if name == "sm100":
        cases = (
            Case("quantization == 'modelopt_fp4'", "flashinfer_trtllm"),
            Case("otherwise", "auto"),
        )
        return OptionBehaviour("moe_runner_backend", name, "auto", cases)
    undecided = name in ("sm120", "sm121")
    why = "no branch for this capability" if undecided else ""
    return OptionBehaviour(
        "moe_runner_backend", name, "auto", (Case("always", "auto"),), undecided, why
    )


_STATES = {
    "attention_backend": {
        "flashinfer": {"sm120": ChoiceState.AUTOMATIC},
        "fa3": {"sm90": ChoiceState.AUTOMATIC, "sm120": ChoiceState.REFUSED},
        "triton": {},
        "trtllm_mha": {"sm100": ChoiceState.AUTOMATIC, "sm120": ChoiceState.CONDITIONAL},
    },
    "moe_runner_backend": {
        "auto": dict.fromkeys(("sm90", "sm100", "sm120", "sm121"), ChoiceState.DEFAULT),
        "flashinfer_cutlass": {},
        "flashinfer_trtllm": {"sm120": ChoiceState.UNKNOWN, "sm90": ChoiceState.REFUSED},
        "marlin": dict.fromkeys(("sm90", "sm100", "sm120", "sm121"), ChoiceState.UNREACHABLE),
        IMG: {},
    },
}


def cells(capabilities: tuple[str, ...]) -> tuple[ChoiceCell, ...]:
    """A small matrix with every state."""
    return tuple(
        ChoiceCell(
            option,
            choice,
            name,
            states.get(name, ChoiceState.FLAG),
            why=f"{choice} on {name}: {states.get(name, ChoiceState.FLAG).value}",
            places=(Place(ARGS, 1290),),
        )
        for option, choices in _STATES.items()
        for choice, states in choices.items()
        for name in capabilities
    )


def families(capabilities: tuple[str, ...]) -> tuple[FamilyRow, ...]:
    """Four families: refused, faulty, accepted, unknown."""
    result = []
    for name in capabilities:
        bad = name == "sm120"
        values = (("attention_backend", ATTENTION_DEFAULT.get(name, "triton")),)
        result += [
            FamilyRow(
                "Qwen3NextForCausalLM BF16",
                "Qwen3NextForCausalLM",
                "",
                name,
                "refused" if bad else "ok",
                values,
                "flashinfer is not supported" if bad else "",
                Place(REGISTRY, 205) if bad else None,
                group="hybrid GDN",
                findings=(GDN.fingerprint,) if bad else (),
            ),
            FamilyRow(
                "DeepseekV3ForCausalLM NVFP4",
                "DeepseekV3ForCausalLM",
                "NVFP4",
                name,
                "ok",
                (*values, ("moe_runner_backend", "auto")),
                group="NVFP4 MoE",
                findings=(AUTO.fingerprint,) if name in AUTO.capabilities else (),
            ),
            FamilyRow(
                "LlamaForCausalLM FP8", "LlamaForCausalLM", "FP8", name, "ok", values, group="FP8"
            ),
            FamilyRow(
                "GptOssForCausalLM MXFP4",
                "GptOssForCausalLM",
                "MXFP4",
                name,
                "unknown",
                (),
                f"config attribute missing {MARKUP}",
                group="MXFP4 MoE",
            ),
        ]
    return tuple(result)


BLACKWELL = Atom(AtomKind.GATE, "is_sm100_supported()", frozenset({"sm100", "sm103"}))
FACTS = Facts(
    choice_lists=(
        ChoiceList(
            "FP4_GEMM_RUNNER_BACKEND_CHOICES",
            (
                Choice("auto", Place(ARGS, 170)),
                Choice("flashinfer_cudnn", Place(ARGS, 171), note="needs cuDNN >= 9.14"),
                Choice("flashinfer_cutlass", Place(ARGS, 172)),
                Choice(IMG, Place(ARGS, 173), guard=BLACKWELL),
            ),
            True,
            Place(ARGS, 169),
            (
                ExtensionPoint(
                    "add_fp4_gemm_runner_backend_choices",
                    "FP4_GEMM_RUNNER_BACKEND_CHOICES",
                    Place(ARGS, 260),
                ),
            ),
        ),
    ),
    options=(
        Option(
            "fp4_gemm_runner_backend",
            (Flag("--fp4-gemm-backend", Place(ARGS, 4012)), Flag("--fp4", None, True)),
            "str",
            "flashinfer_cutlass",
            True,
            ("auto", "flashinfer_cudnn", "flashinfer_cutlass", IMG),
            "FP4_GEMM_RUNNER_BACKEND_CHOICES",
            f"help with {TABLE}",
            False,
            Place(ARGS, 512),
            True,
        ),
        Option(
            "page_size",
            (Flag("--page-size"),),
            "int",
            None,
            False,
            None,
            None,
            None,
            False,
            Place(ARGS, 300),
        ),
    ),
    enums=(
        BackendEnum(
            "MoeRunnerBackend",
            (
                EnumMember("AUTO", "auto"),
                EnumMember("MARLIN", "marlin"),
                EnumMember("FALLBACK", "auto", alias_of="AUTO"),
            ),
            ("is_auto", "is_marlin"),
            False,
            Place("sglang/srt/layers/moe/utils.py", 58),
        ),
    ),
    gates=(
        Gate(
            "is_sm100_supported",
            GateForm.FUNCTION,
            (("sm90", False), ("sm100", True), ("sm120", False)),
            Place("sglang/srt/utils/common.py", 250),
        ),
        Gate(
            "major >= 10",
            GateForm.INLINE,
            (("sm90", False), ("sm100", True), ("sm120", None)),
            Place(FP4, 12),
            "reads an unknown variable",
        ),
    ),
    platform=(),
    environment=(
        EnvironmentVariable(
            "SGLANG_FLASHINFER_FP4_GEMM_BACKEND",
            None,
            Place(FP4, 61),
            True,
            "--fp4-gemm-backend",
            ("fp4_gemm_runner_backend",),
            (Place(FP4, 61),),
        ),
    ),
    decisions=(
        Decision(
            "moe_runner_backend",
            '"flashinfer_trtllm"',
            "flashinfer_trtllm",
            DecisionKind.ASSIGNMENT,
            BLACKWELL,
            Place(ARGS, 1722),
            "ServerArgs._handle_moe",
            "self.moe_runner_backend = ...",
        ),
    ),
    rejections=(
        Rejection(
            ("attention_backend",),
            RejectionKind.ASSERT,
            "AssertionError",
            "{backend} is not supported",
            all_of(BLACKWELL, negate(ALWAYS)),
            Place(REGISTRY, 205),
            "attn_backend_wrapper",
        ),
    ),
    diagnostics=(Diagnostic(f"cannot decode {ANSI}", Place("sglang/bad.py", 1)),),
)


def audit(*capabilities: str, hostile: bool = True) -> Audit:
    """The sample audit on the given capabilities (sm120 when none is given)."""
    names = capabilities or ("sm120",)
    findings = (NASTY, MARLIN, ENV, AUTO, GDN) if hostile else (MARLIN, ENV, AUTO, GDN)
    advice = tuple(
        Advice(
            "sm120",
            family,
            (
                "--attention-backend triton",
                "--moe-runner-backend flashinfer_cutlass",
                "--fp4-gemm-backend flashinfer_cudnn",
            ),
            ("triton is what the wrapper accepts", "cutlass covers sm120"),
            True,
        )
        for family in ("hybrid GDN", "DeepseekV3ForCausalLM NVFP4")
        if "sm120" in names
    )
    return Audit(
        source=SOURCE,
        tool_version="0.1.0",
        capabilities=names,
        facts=FACTS,
        behaviours=behaviours(names),
        cells=cells(names) if hostile else tuple(c for c in cells(names) if c.choice != IMG),
        families=families(names),
        findings=tuple(f for f in findings if set(f.capabilities) & set(names)),
        advice=advice,
        assumptions=(
            Assumption("cuda", "13.0", "default", ("is_sm120_supported()",)),
            Assumption("packages", "as pinned", "distribution metadata"),
        ),
        coverage=Coverage(
            60, 61, 214, 219, (Diagnostic(f"major >= 10 reads {MARKUP}", Place(FP4, 12)),)
        ),
        diagnostics=(Diagnostic(f"cannot decode {ANSI}", Place("sglang/bad.py", 1)),),
    )


def resolution(capability: str = "sm120") -> Resolution:
    """A launch that is accepted, with a decided, an undecided and a hostile value."""
    attention = ATTENTION_DEFAULT.get(capability, "triton")
    return Resolution(
        Launch(f"one/{capability}", capability, ("--model-path", "models/qwen", "--tp", "8")),
        Outcome.OK,
        (
            ResolvedValue(
                "attention_backend",
                True,
                attention,
                steps=(
                    Step("(unset)", Place(ARGS, 500), "declared default"),
                    Step(
                        attention,
                        Place(ARGS, 1290),
                        "_get_default_attn_backend",
                        (f"is_blackwell() holds on {capability}", "use_mla_backend is False"),
                    ),
                ),
            ),
            ResolvedValue("page_size", True, 1, steps=(Step("1", None, "declared default"),)),
            ResolvedValue(
                IMG,
                True,
                SCRIPT,
                steps=(Step(MARKUP, Place(ARGS, 1), ANSI), Step(TABLE, None, SEPARATOR)),
            ),
        ),
        (
            ResolvedValue(
                "moe_runner_backend",
                False,
                None,
                (
                    Case("is_sm100_supported()", "flashinfer_trtllm"),
                    Case("not is_sm100_supported()", "auto"),
                ),
                "the model is not known",
            ),
        ),
        possible=(Refusal("ValueError", f"bad {MARKUP}", Place(ARGS, 1999), guard="tp_size > 8"),),
        late=(
            Refusal(
                "AssertionError", "flashinfer is not supported", Place(REGISTRY, 205), "attention"
            ),
        )
        if capability == "sm120"
        else (),
        assumptions=(Assumption("cuda", "13.0", "default", ("attention_backend",)),),
        notes=("draft model not resolved",),
    )


def refused() -> Resolution:
    """A launch that the argument parser refuses."""
    return Resolution(
        Launch("two", "sm120", ("--moe-runner-backend", "marlin")),
        Outcome.REJECTED,
        rejection=Refusal("SystemExit", f"invalid choice: {MARKUP}", None, "argument parser"),
    )


SHOW = ShowPage(
    "moe_runner_backend",
    "option",
    f"which kernels run the experts {MARKUP}",
    (
        ShowSection(
            "Choices",
            ("choice", "note"),
            (
                ShowRow(("auto", ""), Place(ARGS, 151)),
                ShowRow((IMG, ANSI), Place(ARGS, 152)),
            ),
        ),
        ShowSection(
            "Decisions",
            (),
            (
                ShowRow(
                    ("flashinfer_trtllm", "when is_sm100_supported()"),
                    Place(ARGS, 1722),
                    excerpt(ARGS, 1722, "if is_sm100_supported():", "    self.x = 1"),
                ),
            ),
        ),
        ShowSection("Extension points", empty="none"),
    ),
    Place(ARGS, 512),
)
RULE = RuleDoc(
    "SGA101",
    Severity.ERROR,
    "default refused on the capability",
    f"What it does\n  Finds a default {MARKUP} that the tree refuses.\n\nWhy\n  It crashes.",
    (
        RuleExample((("server_args.py", "x = 1\nassert x == 2\n"),)),
        RuleExample((("server_args.py", "x = 1\n"),), valid=True),
    ),
)
