"""Decisions and rejections with their guards: (code -> places, values, conditions)."""

from __future__ import annotations

import pytest

from sgl_audit.model.facts import DecisionKind, RejectionKind
from sgl_audit.model.guard import Atom, AtomKind, atoms, holds_on, text_of

HEAD = """\
from sglang.srt.utils import is_cuda, is_hip, is_sm100_supported, is_sm120_supported

_is_hip = is_hip()  # attention_backend
"""
BACKENDS = """
from enum import Enum


class MoeRunnerBackend(Enum):
    AUTO = "auto"
    TRITON = "triton"
    FLASHINFER_CUTLASS = "flashinfer_cutlass"

    def is_auto(self):
        return self == MoeRunnerBackend.AUTO

    def is_triton(self):
        return self == MoeRunnerBackend.TRITON

    def is_flashinfer_cutlass(self):
        return self == MoeRunnerBackend.FLASHINFER_CUTLASS
"""


@pytest.fixture
def places(read):
    """(line, option, value, guard text) of every decision in one function body."""

    def run(body: str, signature: str = "handle(server_args, hf_config)"):
        lines = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
        code = f"{HEAD}\ndef {signature}:\n{lines}"
        extraction = read({"hook.py": code, "moe.py": BACKENDS})
        mine = [
            d
            for d in extraction.facts.decisions
            if d.place.file.endswith("hook.py") and d.kind is not DecisionKind.DISPATCH
        ]
        return [(d.place.line - 5, d.option, d.value, text_of(d.guard)) for d in mine], extraction

    return run


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            'if is_sm100_supported():\n    server_args.attention_backend = "trtllm_mha"\n'
            'elif _is_hip:\n    server_args.attention_backend = "triton"\n'
            'else:\n    server_args.attention_backend = "flashinfer"',
            [
                (2, "attention_backend", '"trtllm_mha"', "is_sm100_supported()"),
                (4, "attention_backend", '"triton"', "not is_sm100_supported() and _is_hip"),
                (
                    6,
                    "attention_backend",
                    '"flashinfer"',
                    "not is_sm100_supported() and not _is_hip",
                ),
            ],
        ),
        (
            "if not is_sm100_supported():\n    return\n"
            'server_args.attention_backend = "fa3" if is_cuda() else "triton"',
            [
                (3, "attention_backend", '"fa3"', "is_sm100_supported() and is_cuda()"),
                (3, "attention_backend", '"triton"', "is_sm100_supported() and not is_cuda()"),
            ],
        ),
        (
            'overrides = {}\nif server_args.moe_runner_backend != "auto":\n'
            '    overrides["quantization"] = "fp8"',
            [(3, "quantization", '"fp8"', 'not (server_args.moe_runner_backend == "auto")')],
        ),
        (
            'return {"moe_runner_backend": "triton", "page_size": 64}',
            [
                (1, "moe_runner_backend", '"triton"', "always"),
                (1, "page_size", "64", "always"),
            ],
        ),
        (
            "try:\n    import triton_kernels\nexcept ImportError:\n"
            '    server_args.moe_runner_backend = "triton"',
            [(4, "moe_runner_backend", '"triton"', "import of triton_kernels fails")],
        ),
        (
            "match hf_config.model_type:\n"
            '    case "a" | "b":\n        server_args.page_size = 1\n'
            "    case _:\n        server_args.page_size = 2",
            [
                (3, "page_size", "1", 'hf_config.model_type == "a" or hf_config.model_type == "b"'),
                (
                    5,
                    "page_size",
                    "2",
                    'not (hf_config.model_type == "a") and not (hf_config.model_type == "b")',
                ),
            ],
        ),
        (
            "assert is_cuda()\nwhile server_args.enable_fusion:\n    server_args.page_size = 3",
            [(3, "page_size", "3", "is_cuda() and server_args.enable_fusion")],
        ),
        (
            "for name in names:\n    if _is_hip:\n        continue\n    server_args.page_size = 4",
            [(4, "page_size", "4", "not _is_hip")],
        ),
        (
            'setattr(server_args, "page_size", 5)',
            [(1, "page_size", "5", "always")],
        ),
        (
            'declare_resolution(server_args, "x", moe_runner_backend="triton")',
            [(1, "moe_runner_backend", '"triton"', "always")],
        ),
    ],
)
def test_places_values_and_guards(places, body, expected):
    assert places(body)[0] == expected


def test_kinds_literals_and_excerpts(read):
    code = f"""{HEAD}
from sglang.srt.moe import MoeRunnerBackend

def get_default_attn_backend(model_config):
    if is_sm100_supported():
        return "trtllm_mha"
    return "flashinfer"


def create_moe_runner(self, layer):
    moe_runner_backend = get_moe_runner_backend()
    if moe_runner_backend.is_auto():
        moe_runner_backend = MoeRunnerBackend.TRITON
    if moe_runner_backend.is_flashinfer_cutlass():
        return cutlass(layer)
    return triton(layer)
"""
    decisions = read({"hook.py": code, "moe.py": BACKENDS}).facts.decisions
    assert [(d.kind, d.option, d.literal) for d in decisions] == [
        (DecisionKind.RETURNED, "attention_backend", "trtllm_mha"),
        (DecisionKind.RETURNED, "attention_backend", "flashinfer"),
        (DecisionKind.LOCAL, "moe_runner_backend", "triton"),
        (DecisionKind.DISPATCH, "moe_runner_backend", "flashinfer_cutlass"),
        (DecisionKind.DISPATCH, "moe_runner_backend", "triton(layer)"),
    ]
    assert decisions[2].excerpt == "moe_runner_backend = MoeRunnerBackend.TRITON"
    assert decisions[2].function == "create_moe_runner"
    assert text_of(decisions[4].guard) == "not moe_runner_backend.is_flashinfer_cutlass()"


def test_a_test_of_the_capability_that_picks_a_code_path(read):
    code = f"""{HEAD}
_is_sm100 = is_cuda() and is_sm100_supported()


class Method:
    def create_weights(self, attention_backend):
        if _is_sm100:
            pad(self)
"""
    (decision,) = read({"layers/m.py": code}).facts.decisions
    assert (decision.kind, decision.option) == (DecisionKind.DISPATCH, "create_weights")
    assert text_of(decision.guard) == "is_cuda() and is_sm100_supported()"
    assert holds_on(decision.guard, "sm100") is True
    assert holds_on(decision.guard, "sm120") is False


def test_kinds_of_atoms(places):
    body = """
if is_sm120_supported() and server_args.moe_runner_backend == "auto" and hf_config.x and _is_hip:
    if os.getenv("A_B") and torch_release >= (2, 7) and mystery():
        server_args.page_size = 1
"""
    _, extraction = places(body)
    (decision,) = [d for d in extraction.facts.decisions if d.option == "page_size"]
    assert [(atom.kind, atom.options) for atom in atoms(decision.guard)] == [
        (AtomKind.GATE, ()),
        (AtomKind.OPTION, ("moe_runner_backend",)),
        (AtomKind.MODEL, ()),
        (AtomKind.PLATFORM, ()),
        (AtomKind.ENVIRONMENT, ()),
        (AtomKind.VERSION, ()),
        (AtomKind.OPAQUE, ()),
    ]


def test_unread_machine_tests_make_a_decision_not_understood(places):
    body = """
if torch.cuda.get_device_capability()[0] >= unknown():
    server_args.attention_backend = "triton"
"""
    _, extraction = places("import torch\n" + body)
    (decision,) = [d for d in extraction.facts.decisions if d.option == "attention_backend"]
    assert not decision.understood
    assert "unknown()" in decision.reason
    (atom,) = atoms(decision.guard)
    assert (atom.kind, atom.capabilities) == (AtomKind.GATE, None)
    assert extraction.coverage.decisions_understood == extraction.coverage.decisions_total - 1


def test_options_are_known_through_local_names(places):
    body = """
backend = server_args.moe_runner_backend
if backend == "auto" and is_sm120_supported():
    backend = "triton"
"""
    found, extraction = places(body)
    assert found == [(3, "backend", '"triton"', 'backend == "auto" and is_sm120_supported()')]
    (decision,) = [d for d in extraction.facts.decisions if d.place.file.endswith("hook.py")]
    assert [atom.options for atom in atoms(decision.guard)] == [("moe_runner_backend",), ()]


REFUSALS = [
    (
        'if server_args.attention_backend == "trtllm_mha":\n'
        "    if not is_sm100_supported():\n"
        '        raise ValueError("trtllm_mha needs " "Blackwell")',
        (RejectionKind.RAISE, "ValueError", "trtllm_mha needs Blackwell", 3),
        'server_args.attention_backend == "trtllm_mha" and not is_sm100_supported()',
    ),
    (
        'assert server_args.attention_backend in ["triton", "fa3"], f"got {server_args.x}"',
        (RejectionKind.ASSERT, "AssertionError", "got {server_args.x}", 1),
        'not (server_args.attention_backend in ["triton", "fa3"])',
    ),
    (
        "if server_args.attention_backend not in ATTENTION_BACKENDS:\n"
        '    raise ValueError(f"Invalid: {server_args.attention_backend}")',
        (RejectionKind.REGISTRY, "ValueError", "Invalid: {server_args.attention_backend}", 2),
        "not (server_args.attention_backend in ATTENTION_BACKENDS)",
    ),
]


@pytest.mark.parametrize(("body", "what", "guard"), REFUSALS)
def test_rejections(places, body, what, guard):
    _, extraction = places(body)
    (rejection,) = [r for r in extraction.facts.rejections if r.place.file.endswith("hook.py")]
    line = rejection.place.line - 5
    assert (rejection.kind, rejection.exception, rejection.message, line) == what
    assert text_of(rejection.guard) == guard
    assert rejection.options == ("attention_backend",)


def test_a_chain_that_ends_in_a_refusal(read):
    code = """
    class Scheme:
        def get_moe_method(quant_config, weight_quant, attention_backend):
            if quant_config.is_a(weight_quant):
                return A()
            elif quant_config.is_b(weight_quant):
                return B()
            else:
                raise RuntimeError(f"Unsupported scheme: {weight_quant}")
    """
    found = read({"layers/q.py": code}).facts.rejections
    (rejection,) = [item for item in found if item.kind is RejectionKind.RAISE]
    assert rejection.message == "Unsupported scheme: {weight_quant}"
    kinds = [atom.kind for atom in atoms(rejection.guard)]
    assert kinds == [AtomKind.MODEL, AtomKind.MODEL]
    assert holds_on(rejection.guard, "sm100") is None


def test_what_is_about_something_else_is_no_rejection(places):
    _, extraction = places('if server_args.page_size > 4:\n    raise ValueError("too many pages")')
    assert [r for r in extraction.facts.rejections if r.place.file.endswith("hook.py")] == []


def test_names_bound_only_under_a_gate(read):
    code = f"""{HEAD}
ENABLED = is_sm100_supported()
if ENABLED:
    import deep_gemm


def used(attention_backend):
    deep_gemm.run()


def guarded(attention_backend):
    if ENABLED:
        deep_gemm.run()
"""
    (name,) = read({"layers/e.py": code}).names
    assert (name.name, name.place.line) == ("deep_gemm", 7)
    assert name.guard == Atom(AtomKind.GATE, "ENABLED", frozenset({"sm100", "sm103"}))
    assert [(place.line, function, text_of(guard)) for place, function, guard in name.reads] == [
        (11, "used", "always"),
        (16, "guarded", "ENABLED"),
    ]


def test_coupled_switches(places):
    body = """
if server_args.enable_fusion and server_args.page_size == 1:
    server_args.moe_runner_backend = "triton"
"""
    _, extraction = places(body)
    pairs = [(r.option, r.other, r.kind) for r in extraction.relations]
    assert pairs == [
        ("enable_fusion", "moe_runner_backend", "decision"),
        ("page_size", "moe_runner_backend", "decision"),
    ]
    options = {option.name: option.backend for option in extraction.facts.options}
    assert options["enable_fusion"]


def test_what_the_argument_parser_refuses(read):
    found = [r for r in read({}).facts.rejections if r.kind is RejectionKind.CHOICES]
    assert [(r.options, r.exception) for r in found] == [
        (("attention_backend",), "SystemExit"),
        (("moe_runner_backend",), "SystemExit"),
    ]
    assert text_of(found[0].guard) == ("not (attention_backend in ATTENTION_BACKEND_CHOICES)")


def test_a_parameter_is_what_every_caller_in_the_file_gives(read):
    code = """
    import torch

    class ServerArgs:
        attention_backend: str = None

        def _set_default(self, major):
            self.attention_backend = "trtllm" if major >= 10 else "fa3"

        def _mixed(self, major):
            self.attention_backend = "trtllm" if major >= 10 else "fa3"

        def handle(self):
            major, _ = torch.cuda.get_device_capability()
            self._set_default(major)
            self._mixed(major)
            self._mixed(9)
    """
    decisions = read({"server_args.py": code}, base=False).facts.decisions
    sets = [next(atoms(decision.guard)).capabilities for decision in decisions]
    assert "sm120" in sets[0]
    assert "sm90" not in sets[0]
    assert sets[2] is None


@pytest.mark.parametrize(
    ("test", "guard"),
    [
        ("A and not B", "A and not B"),
        ("bool(A)", "A"),
        ("(x := A)", "A"),
        ("True", "always"),
        ("A if B else C", "(B and A) or (not B and C)"),
        ("A is not None", "not (A is None)"),
        ("A not in (1, 2)", "not (A in (1, 2))"),
        ("1 < A < 3", "1 < A < 3"),
        ("both", "A and B"),
        ("A and not A", "never"),
    ],
)
def test_how_tests_become_guards(places, test, guard):
    body = f"both = A and B\nif {test}:\n    server_args.page_size = 1"
    found = places(body)[0]
    assert [text for _, option, _, text in found if option == "page_size"] == [guard]


@pytest.mark.parametrize(
    ("test", "subject", "literal"),
    [
        ("backend == MoeRunnerBackend.TRITON", "backend", "triton"),
        ("self.runner.runner_backend.is_triton()", "runner_backend", "triton"),
        ('server_args.moe_runner_backend in ("triton", x)', "moe_runner_backend", "triton"),
        ("get_moe_runner_backend().is_triton()", "moe_runner_backend", "triton"),
        ('args.get("quantization") == "triton"', "quantization", "triton"),
        ('getattr(server_args, "moe_runner_backend") == "triton"', "moe_runner_backend", "triton"),
        ('cfg["quantization"].lower() == "triton"', "quantization", "triton"),
    ],
)
def test_what_a_dispatch_asks(read, test, subject, literal):
    code = f"def f(self, server_args, backend):\n    if {test}:\n        run(self)\n"
    decisions = read({"layers/x.py": code, "moe.py": BACKENDS}).facts.decisions
    found = [d for d in decisions if d.place.file.endswith("x.py")]
    assert [(d.option, d.literal, d.kind) for d in found] == [
        (subject, literal, DecisionKind.DISPATCH)
    ]
