"""Choice lists, enums, options and environment variables: (code -> facts)."""

from __future__ import annotations

from sgl_audit.model.facts import ChoiceList, Option
from sgl_audit.model.guard import ALWAYS, AtomKind


def listed(extraction, name: str) -> ChoiceList:
    """The choice list of that name."""
    (found,) = [item for item in extraction.facts.choice_lists if item.name == name]
    return found


def option(extraction, name: str) -> Option:
    """The option of that name."""
    (found,) = [item for item in extraction.facts.options if item.name == name]
    return found


def test_choice_lists_with_splices_notes_changes_and_extension_points(read):
    code = """
    from sglang.srt.utils import is_hip

    A_BACKEND_CHOICES = [
        "triton",
        "nsa",  # Deprecated alias for "dsa"
        # AMD specific
        "aiter",
        "hpc_ops",  # Hopper (SM90) only
    ]
    B_BACKEND_CHOICES = [*A_BACKEND_CHOICES, "extra"] + ["last"]
    S_BACKEND_CHOICES = {"flashinfer", "pytorch"}
    F_BACKENDS = frozenset({"x"})
    T_CHOICES = ("one", "two")
    if is_hip():
        A_BACKEND_CHOICES.append("wave")
    A_BACKEND_CHOICES.extend(["late"])
    S_BACKEND_CHOICES |= {"ascend"}

    def add_a_backend_choices(choices):
        A_BACKEND_CHOICES.extend(choices)

    add_t_choices = T_CHOICES.extend
    """
    other = "from sglang.srt.choices import A_BACKEND_CHOICES\n"
    extraction = read({"choices.py": code, "export.py": other})
    a = listed(extraction, "A_BACKEND_CHOICES")
    assert a.values == ("triton", "nsa", "aiter", "hpc_ops", "wave", "late")
    assert [choice.note for choice in a.choices[:4]] == [
        None,
        'Deprecated alias for "dsa"',
        None,
        "Hopper (SM90) only",
    ]
    assert [choice.place.line for choice in a.choices[:4]] == [5, 6, 8, 9]
    assert a.choices[4].guard.capabilities >= {"gfx942"}
    assert a.choices[5].guard == ALWAYS
    assert [(p.name, p.place.line) for p in a.extension_points] == [("add_a_backend_choices", 20)]
    assert a.exported_from == ("sglang/srt/export.py",)
    b = listed(extraction, "B_BACKEND_CHOICES")
    assert b.values == (*a.values, "extra", "last")
    s = listed(extraction, "S_BACKEND_CHOICES")
    assert (s.ordered, set(s.values)) == (False, {"flashinfer", "pytorch", "ascend"})
    assert listed(extraction, "F_BACKENDS").ordered is False
    t = listed(extraction, "T_CHOICES")
    assert (t.values, t.ordered) == (("one", "two"), True)
    assert [point.name for point in t.extension_points] == ["add_t_choices"]


def test_a_list_is_one_of_choices_where_an_option_says_so(read):
    server = """
    from sglang.srt.common import SUPPORTED_MODULES

    class ServerArgs:
        modules: list = None

        def add_cli_args(parser):
            parser.add_argument("--modules", choices=SUPPORTED_MODULES + ["all"])
    """
    files = {"server_args.py": server, "common.py": 'SUPPORTED_MODULES = ["q", "k"]\n'}
    extraction = read(files, base=False)
    assert listed(extraction, "SUPPORTED_MODULES").values == ("q", "k")
    assert option(extraction, "modules").choice_list == "SUPPORTED_MODULES"


def test_enums(read):
    code = """
    from enum import Enum, IntEnum, auto

    class MoeRunnerBackend(Enum):
        AUTO = "auto"
        TRITON = "triton"
        SAME = "triton"
        COPY = TRITON

        def is_auto(self):
            return self == MoeRunnerBackend.AUTO

        @classmethod
        def _missing_(cls, value):
            return cls.AUTO

    class RoutingMethodType(IntEnum):
        Default = (0,)
        Renormalize = 1

    class AlgorithmKind(Enum):
        ONE = auto()
        TWO = auto()
    """
    enums = {item.name: item for item in read({"enums.py": code}).facts.enums}
    moe = enums["MoeRunnerBackend"]
    assert [(m.name, m.value, m.alias_of) for m in moe.members] == [
        ("AUTO", "auto", None),
        ("TRITON", "triton", None),
        ("SAME", "triton", "TRITON"),
        ("COPY", "triton", "TRITON"),
    ]
    assert (moe.predicates, moe.has_missing, moe.place.line) == (("is_auto",), True, 4)
    assert [m.value for m in enums["RoutingMethodType"].members] == [0, 1]
    assert [m.value for m in enums["AlgorithmKind"].members] == [1, 2]


def test_options_of_a_dataclass_and_its_parser(read):
    code = """
    MOE_RUNNER_BACKEND_CHOICES = ["auto", "triton"]

    @dataclasses.dataclass
    class ServerArgs:
        model_path: str
        moe_runner_backend: str = "auto"
        old_flag: bool = False
        sizes: list[int] = dataclasses.field(default_factory=list)
        kinds: ClassVar[int] = 1

        @staticmethod
        def add_cli_args(parser):
            parser.add_argument("--model-path", "--model", type=str, required=True)
            parser.add_argument(
                "--moe-runner-backend",
                choices=MOE_RUNNER_BACKEND_CHOICES,
                default=ServerArgs.moe_runner_backend,
                help="Choose the " "runner.",
            )
            parser.add_argument("--old-flag", action=DeprecatedAction, help="Gone.")
            parser.add_argument("--fancy", dest="sizes", action=argparse.BooleanOptionalAction)
    """
    extraction = read({"server_args.py": code}, base=False)
    moe = option(extraction, "moe_runner_backend")
    assert (moe.default, moe.default_known, moe.type) == ("auto", True, "str")
    assert (moe.choice_list, moe.help) == ("MOE_RUNNER_BACKEND_CHOICES", "Choose the runner.")
    assert (moe.place.line, moe.flags[0].place.line, moe.backend) == (7, 15, True)
    model = option(extraction, "model_path")
    assert [flag.name for flag in model.flags] == ["--model-path", "--model"]
    assert (model.default_known, model.backend) == (False, False)
    assert option(extraction, "old_flag").deprecated
    assert [flag.name for flag in option(extraction, "sizes").flags] == ["--fancy", "--no-fancy"]
    assert "kinds" not in {item.name for item in extraction.facts.options}


def test_options_of_annotated_fields(read):
    code = """
    ATTENTION_BACKEND_CHOICES = ["triton"]

    class ExecKernel(msgspec.Struct):
        _NS_PATH = "exec.kernel"
        attention_backend: A[
            Optional[str],
            Arg(help="Kernels.", choices=ATTENTION_BACKEND_CHOICES, aliases=["--attn"]),
        ] = None
        fp4_gemm_runner_backend: A[str, Arg(help="x", cli_name="--fp4-gemm-backend")] = "auto"
        precision: A[Literal["default", "bf16"], "Choose " "it. Deprecated."] = "default"
        hidden: A[bool, Arg(no_cli=True)] = False
        handler: Optional[Callable] = None
    """
    extraction = read({"fields/exec_.py": code}, base=False)
    attention = option(extraction, "attention_backend")
    assert [flag.name for flag in attention.flags] == ["--attention-backend", "--attn"]
    assert (attention.choice_list, attention.help) == ("ATTENTION_BACKEND_CHOICES", "Kernels.")
    assert (attention.type, attention.default, attention.place.line) == ("Optional[str]", None, 6)
    fp4 = option(extraction, "fp4_gemm_runner_backend")
    assert [flag.name for flag in fp4.flags] == ["--fp4-gemm-backend"]
    precision = option(extraction, "precision")
    assert (precision.choices, precision.deprecated) == (("default", "bf16"), True)
    assert option(extraction, "hidden").flags == ()
    assert option(extraction, "handler").default_known


def test_environment_variables(read):
    environ = """
    class Envs:
        SGLANG_FP4_GEMM_BACKEND = EnvStr("")
        SGLANG_USE_AITER = EnvBool(False)
        SGLANG_UNRELATED = EnvInt(3)

    envs = Envs()

    def _warn_deprecated_env_to_cli_flag(env_name, suggestion):
        pass

    def _print_deprecated_env(new_name, old_name):
        pass

    _warn_deprecated_env_to_cli_flag(
        "SGLANG_FP4_GEMM_BACKEND", "Use '--fp4-gemm-backend' instead."
    )
    _print_deprecated_env("SGLANG_MOE_NEW", "SGLANG_MOE_OLD")
    _DEPRECATED_ENVS = {
        "SGLANG_GONE": _DeprecatedEnv(),
        "SGLANG_MOVED": _DeprecatedEnv(new="SGLANG_HERE", note="Renamed."),
        "SGLANG_FLAGGED": _DeprecatedEnv("use --moe-runner-backend"),
        "not a variable": _DeprecatedEnv(),
        "SGLANG_OTHER": 3,
    }
    """
    use = """
    import os
    from sglang.srt.environ import envs

    def handle(server_args):
        if envs.SGLANG_USE_AITER.get():
            server_args.attention_backend = "triton"
        if os.getenv("SGLANG_MOE_X", "0") == "1":
            envs.SGLANG_FP4_GEMM_BACKEND.set("flashinfer")
    """
    extraction = read({"environ.py": environ, "hook.py": use})
    found = {item.name: item for item in extraction.facts.environment}
    fp4 = found["SGLANG_FP4_GEMM_BACKEND"]
    assert (fp4.default, fp4.deprecated, fp4.replacement) == ("''", True, "--fp4-gemm-backend")
    assert (fp4.place.line, [place.line for place in fp4.reads]) == (3, [9])
    aiter = found["SGLANG_USE_AITER"]
    assert (aiter.default, aiter.overrides) == ("False", ("attention_backend",))
    assert (found["SGLANG_MOE_OLD"].deprecated, found["SGLANG_MOE_OLD"].replacement) == (
        True,
        "SGLANG_MOE_NEW",
    )
    replaced = {name: item.replacement for name, item in found.items() if item.deprecated}
    assert replaced.items() >= {
        ("SGLANG_GONE", None),
        ("SGLANG_MOVED", "SGLANG_HERE"),
        ("SGLANG_FLAGGED", "--moe-runner-backend"),
    }
    assert "SGLANG_OTHER" not in found
    assert found["SGLANG_MOE_X"].default == "'0'"
    assert "SGLANG_UNRELATED" not in found
    forced = [d for d in extraction.facts.decisions if d.option == "SGLANG_FP4_GEMM_BACKEND"]
    assert [(d.literal, d.guard.kind) for d in forced] == [("flashinfer", AtomKind.ENVIRONMENT)]
