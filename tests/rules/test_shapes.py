"""Further shapes of the rules, and look-alikes that are none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from textwrap import dedent

import pytest

from sgl_audit.model.guard import And, Atom, AtomKind, Not, all_of, text_of
from sgl_audit.model.report import Finding, Severity
from sgl_audit.model.source import Place
from sgl_audit.rules import RuleContext
from sgl_audit.rules.atoms import vocabulary
from sgl_audit.rules.callers import call_sites, entry_guard
from sgl_audit.rules.conditions import guard_of
from sgl_audit.rules.families import beyond, bound_of, open_from, siblings
from sgl_audit.rules.reach import Reach, reach_of_one
from sgl_audit.rules.shortcuts import asked_before
from sgl_audit.rules.sources import syntax_of
from sgl_audit.rules.ways import demands, ways
from sgl_audit.rules.wording import conditions, several, shortened

FindIn = Callable[[Mapping[str, str], str], tuple[Finding, ...]]
MakeContext = Callable[[Mapping[str, str]], RuleContext]

ARGS = """
    CHOICES = ["triton", "flashinfer", "fa3", "ascend"]


    class ServerArgs:
        attention_backend: str = None
        enable_sinks: bool = False
        tp_size: int = 1

        @staticmethod
        def add_cli_args(parser):
            parser.add_argument("--attention-backend", choices=CHOICES)
            parser.add_argument("--enable-sinks", action="store_true")
            parser.add_argument("--tp-size", type=int, default=1)

        def __post_init__(self):
            self._handle()

        def _handle(self):
            pass
"""
UTILS = """
    import torch


    def is_npu():
        return hasattr(torch, "npu") and torch.npu.is_available()


    def is_hopper():
        return torch.cuda.get_device_capability()[0] == 9


    def is_blackwell():
        return torch.cuda.get_device_capability()[0] in (10, 12)


    def device_sm():
        major, minor = torch.cuda.get_device_capability()
        return major * 10 + minor
"""


def tree(**files: str) -> dict[str, str]:
    """A tree of texts; `layers__x` is the file layers/x.py."""
    texts = {"server_args": ARGS, "utils": UTILS, **files}
    return {
        f"sglang/srt/{name.replace('__', '/')}.py": dedent(text) for name, text in texts.items()
    }


REGISTRY = """
    import torch

    def register_attention_backend(name):
        return lambda function: function

    @register_attention_backend("fa3")
    def create_fa3(runner):
        assert torch.cuda.get_device_capability()[0] in (8, 9), "fa3 has no code for this"

    @register_attention_backend("triton")
    def create_triton(runner):
        return None

    @register_attention_backend("flashinfer")
    def create_flashinfer(runner):
        return None
"""
PICK = """
    from sglang.srt.utils import is_npu

    def _register_for(*names):
        return lambda function: function

    def set_defaults(args):
        args.attention_backend = "{value}"

    {decorator}
    def overrides(server_args, hf_config):
        if server_args.attention_backend is None:
            return {{"attention_backend": "fa3"}}
        return {{}}
"""


def test_a_refusal_in_a_registered_function_is_of_its_value(find_in: FindIn) -> None:
    pick = PICK.format(value="ascend", decorator='@_register_for("TinyForCausalLM")')
    found = find_in(tree(layers__attention__registry=REGISTRY, overrides=pick), "SGA101")
    assert [(item.value, item.when) for item in found] == [("fa3", "the model is TinyForCausalLM")]
    assert "sm120" in found[0].capabilities
    assert "sm90" not in found[0].capabilities


def test_what_only_an_npu_sets_is_not_set_elsewhere(find_in: FindIn) -> None:
    wrap = """
        from sglang.srt.utils import is_blackwell

        def wrap(runner):
            if is_blackwell():
                assert runner.server_args.attention_backend == "triton", "pass triton"
    """
    call = ARGS.replace(
        "            pass\n",
        "            from sglang.srt.npu import set_defaults\n"
        "            from sglang.srt.utils import is_npu\n\n"
        "            if is_npu():\n"
        "                set_defaults(self)\n",
    )
    npu = 'def set_defaults(args):\n    args.attention_backend = "ascend"\n'
    texts = tree(server_args=call, npu=npu, layers__attention__wrap=wrap)
    assert not find_in(texts, "SGA101")
    always = {**texts}
    always["sglang/srt/server_args.py"] = texts["sglang/srt/server_args.py"].replace(
        "if is_npu():", "if self.tp_size > 0:"
    )
    assert [item.value for item in find_in(always, "SGA101")] == ["ascend"]


def test_a_choice_without_registration_is_found(find_in: FindIn) -> None:
    found = find_in(tree(layers__attention__registry=REGISTRY), "SGA112")
    assert [item.value for item in found] == ["ascend"]


def test_a_chain_over_an_option_without_a_branch(find_in: FindIn) -> None:
    chain = """
        def make(server_args):
            backend = server_args.attention_backend
            if backend == "triton":
                return 1
            elif backend == "flashinfer":
                return 2
            elif backend == "fa3":
                return 3
            else:
                raise NotImplementedError("--attention-backend is unknown")
    """
    found = find_in(tree(layers__make=chain), "SGA112")
    assert [(item.value, item.severity) for item in found] == [("ascend", Severity.NOTE)]


def test_a_switch_and_a_least_capability_are_open_ranges(find_in: FindIn) -> None:
    switch = """
        from sglang.srt.utils import device_sm

        def wants_library():
            if device_sm() < 90:
                return False
            return True

        ENABLE_LIBRARY = wants_library()
    """
    least = """
        class TinyConfig:
            @classmethod
            def get_min_capability(cls):
                return 90
    """
    found = find_in(tree(layers__gemm=switch, layers__quantization__tiny=least), "SGA104")
    assert {item.value for item in found} == {"wants_library", "TinyConfig.get_min_capability"}
    assert all("sm120" in item.capabilities for item in found)
    assert all("sm90" not in item.capabilities for item in found)


def test_a_named_backend_turned_into_another_by_capability(find_in: FindIn) -> None:
    layer = """
        from sglang.srt.utils import is_blackwell

        class Backend:
            def resolve_backend(self, wanted):
                if wanted == "fa3" and is_blackwell():
                    return "flashinfer"
                return wanted
    """
    found = find_in(tree(layers__attention__backend=layer), "SGA110")
    assert [item.value for item in found] == ["fa3"]
    assert "sm120" in found[0].capabilities


def test_a_variable_set_over_what_was_exported(find_in: FindIn) -> None:
    environ = """
        class EnvBool:
            def __init__(self, default):
                self.default = default

        class Envs:
            SGLANG_FAST_GEMM = EnvBool(True)

        envs = Envs()
    """
    hook = """
        from sglang.srt.environ import envs
        from sglang.srt.utils import is_blackwell

        def hook(server_args):
            if is_blackwell():
                {test}envs.SGLANG_FAST_GEMM.set(False)
    """
    texts = tree(environ=environ, arg_groups__hook=hook.format(test=""))
    assert [item.value for item in find_in(texts, "SGA110")] == ["SGLANG_FAST_GEMM"]
    asked = "if not envs.SGLANG_FAST_GEMM.is_set():\n                    "
    assert not find_in(tree(environ=environ, arg_groups__hook=hook.format(test=asked)), "SGA110")


def test_a_name_read_behind_its_gate_in_one_expression_is_bound(find_in: FindIn) -> None:
    kernels = """
        from sglang.srt.utils import is_hopper

        if is_hopper():
            import deep_gemm

        def supported(count):
            return {test}deep_gemm.supports(count)
    """
    caller = "from sglang.srt.layers.kernels import supported\n\ndef run(n):\n    supported(n)\n"
    for test, expected in (("", 1), ("is_hopper() and ", 0), ("not is_hopper() or ", 0)):
        texts = tree(layers__kernels=kernels.format(test=test), layers__run=caller)
        assert len(find_in(texts, "SGA111")) == expected, test


def test_an_enum_that_maps_unknown_text_needs_no_member(find_in: FindIn) -> None:
    enum = """
        from enum import Enum

        class AttentionBackend(Enum):
            TRITON = "triton"
            FLASHINFER = "flashinfer"
            FA3 = "fa3"

            @classmethod
            def _missing_(cls, value):
                {body}
    """
    for body, expected in (("return cls.TRITON", []), ("raise ValueError(value)", ["ascend"])):
        found = find_in(tree(layers__enum=enum.format(body=body)), "SGA107")
        assert [item.value for item in found] == expected


CONDITIONS = (
    ("is_hopper()", "gate"),
    ("not is_hopper() and self.enable_sinks", "gate option"),
    ("server_args.attention_backend is not None", "option"),
    ("envs.SGLANG_X.get() or unknown(a)", "environment opaque"),
)


@pytest.mark.parametrize(("source", "kinds"), CONDITIONS)
def test_conditions_become_guards(source: str, kinds: str, make_context: MakeContext) -> None:
    import ast

    from sgl_audit.model.guard import atoms

    context = make_context(tree())
    guard = guard_of(context, ast.parse(source, mode="eval").body)
    assert [atom.kind.value for atom in atoms(guard)] == kinds.split()


def test_callers_are_found_with_their_conditions(make_context: MakeContext) -> None:
    code = """
        from sglang.srt.utils import is_hopper

        def run(flag):
            if not flag:
                return
            step(1) if is_hopper() else other(step)

        class Layer:
            def forward(self):
                with context():
                    for _ in range(2):
                        self.step(3)
    """
    context = make_context(tree(layers__run=code))
    sites = call_sites(context, "step")
    assert [(site.function, text_of(site.guard)) for site in sites] == [
        ("run", "flag and is_hopper()"),
        ("run", "flag and not is_hopper()"),
        ("Layer.forward", "always"),
    ]
    assert sites[2].owner == "self"
    assert text_of(entry_guard(context, "sglang/srt/layers/run.py", "run")) == "always"


def test_what_an_expression_asks_before(make_context: MakeContext) -> None:
    context = make_context(tree(layers__x="VALUE = (a if b else c) or (d and not e and name)\n"))
    file = "sglang/srt/layers/x.py"
    line = (context.tree.read(file)).decode()
    column = line.index("name")
    assert (
        text_of(asked_before(context, Place(file, 1, column)))
        == "not (a if b else c) and d and not e"
    )
    assert text_of(asked_before(context, Place(file, 1, line.index("a if")))) == "b"
    assert syntax_of(context, "sglang/srt/none.py") is not None


def option(text: str, *names: str) -> Atom:
    return Atom(AtomKind.OPTION, text, None, names)


REACHES = (
    (option("self.enable_sinks", "enable_sinks"), True, Reach.FLAG),
    (option("self.enable_sinks", "enable_sinks"), False, Reach.DEFAULT),
    (option("self.tp_size > 1", "tp_size"), True, Reach.FLAG),
    (option("self.tp_size > 1", "tp_size"), False, Reach.DEFAULT),
    (option("self.tp_size % 2", "tp_size"), True, Reach.OPEN),
    (option("self.a == self.b", "a", "b"), True, Reach.OPEN),
    (option("self.quantization == 'fp8'", "quantization"), True, Reach.OPEN),
    (Atom(AtomKind.MODEL, "is_moe"), True, Reach.MODEL),
    (Atom(AtomKind.OPAQUE, "x.shape[0] == 0"), True, Reach.DEFAULT),
    (Atom(AtomKind.OPAQUE, "is_flashinfer_available()"), True, Reach.DEFAULT),
    (Atom(AtomKind.OPAQUE, "is_flashinfer_available()"), False, Reach.FLAG),
    (Atom(AtomKind.OPAQUE, "import of deep_gemm fails"), False, Reach.DEFAULT),
    (Atom(AtomKind.OPAQUE, "use_mla_backend"), True, Reach.MODEL),
    (Atom(AtomKind.OPAQUE, "no_spec(self)"), True, Reach.OPEN),
    (Atom(AtomKind.VERSION, "version > 3"), True, Reach.OPEN),
    (Atom(AtomKind.ENVIRONMENT, "get_bool_env_var('SGLANG_X')"), True, Reach.FLAG),
    (Atom(AtomKind.ENVIRONMENT, "get_bool_env_var('SGLANG_X')"), False, Reach.DEFAULT),
    (Atom(AtomKind.ENVIRONMENT, "chosen in allowed"), True, Reach.OPEN),
)


@pytest.mark.parametrize(("atom", "wanted", "reach"), REACHES)
def test_reach(atom: Atom, wanted: bool, reach: Reach, make_context: MakeContext) -> None:
    assert reach_of_one(make_context(tree()), atom, wanted) is reach


def test_ways_leave_out_what_contradicts(make_context: MakeContext) -> None:
    context = make_context(tree())
    triton = option('self.attention_backend == "triton"', "attention_backend")
    listed = option('args.attention_backend in ["fa3", "triton"]', "attention_backend")
    hopper = Atom(AtomKind.GATE, "is_hopper()", frozenset({"sm90"}))
    unread = Atom(AtomKind.GATE, "is_odd()")
    assert not ways(context, all_of(triton, Not(listed)), "sm90")
    assert not ways(context, all_of(triton, hopper), "sm80")
    (way,) = ways(context, And((listed, Not(triton), hopper, unread)), "sm90")
    assert not way.certain
    demand = demands(way.literals, vocabulary(context))["attention_backend"]
    assert demand.admits("fa3")
    assert not demand.admits("triton")


def test_capability_sets_have_shapes() -> None:
    assert open_from(["sm90", "sm100", "sm103", "sm110", "sm120", "sm121"]) == 90
    assert open_from(["sm90", "sm120", "sm121"]) is None
    assert open_from(["sm90"]) is None
    assert beyond(100, ["sm100", "sm103", "sm120"]) == {"sm120"}
    assert siblings(["sm120"]) == {"sm121"}
    assert not siblings(["sm120", "sm121"])
    assert not siblings(["sm86"])
    assert bound_of(Atom(AtomKind.OPAQUE, "major >= 10")) == 100
    assert bound_of(Atom(AtomKind.OPAQUE, "self.device_sm >= 90")) == 90
    assert bound_of(Atom(AtomKind.OPAQUE, "speed >= 10")) is None


def test_words() -> None:
    arm = (Atom(AtomKind.MODEL, 'model_arch in ["A"]'), True)
    other = (Atom(AtomKind.MODEL, 'model_arch in ["B"]'), False)
    plain = (Atom(AtomKind.OPAQUE, "x is None"), False)
    assert conditions([other, plain, arm]) == 'model_arch in ["A"] and x is not None'
    assert conditions([plain, arm], 1) == 'model_arch in ["A"] and 1 more conditions'
    assert several("abc") == "a, b and c"
    assert several("abcdef") == "a, b, c, d and 2 more"
    assert shortened("word " * 60).endswith("word ...")
