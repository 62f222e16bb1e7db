"""Gates: what is found, and the capabilities on which it holds."""

from __future__ import annotations

import pytest

from sgl_audit.model.facts import Gate, GateForm

BLACKWELL = {"sm100", "sm103", "sm110", "sm120", "sm121"}
NVIDIA = {"sm75", "sm80", "sm86", "sm87", "sm89", "sm90", *BLACKWELL}
AMD = {"gfx942", "gfx950", "gfx1100", "gfx1201"}
MODULE = """
import torch
from sglang.srt.utils import get_device_sm, is_cuda, is_hip, is_sm100_supported

CAP = torch.cuda.get_device_capability()


def f():
    return {test}
"""


def named(gates: tuple[Gate, ...], name: str) -> Gate:
    """The one gate of that name."""
    (gate,) = [gate for gate in gates if gate.name == name]
    return gate


@pytest.mark.parametrize(
    ("name", "form", "holds"),
    [
        ("is_cuda", GateForm.FUNCTION, NVIDIA),
        ("is_hip", GateForm.FUNCTION, AMD),
        ("is_blackwell", GateForm.ALIAS, BLACKWELL),
        ("is_blackwell_supported", GateForm.ALIAS, BLACKWELL),
        ("is_sm100_supported", GateForm.ALIAS, {"sm100", "sm103"}),
        ("is_sm120_supported", GateForm.ALIAS, {"sm120", "sm121"}),
    ],
)
def test_definitions(read, name, form, holds):
    gate = named(read({}).facts.gates, name)
    assert (gate.form, gate.capabilities) == (form, holds)


@pytest.mark.parametrize(
    ("test", "holds"),
    [
        ("torch.cuda.get_device_capability()[0] >= 10", BLACKWELL | {"gfx1100", "gfx1201"}),
        ("(8, 0) <= torch.cuda.get_device_capability() < (9, 0)", {"sm80", "sm86", "sm87", "sm89"}),
        ("get_device_sm() // 10 in [9]", {"sm90", "gfx942", "gfx950"}),
        ("CAP == (12, 1)", {"sm121"}),
        ("CAP[0] == 10 and CAP[1] == 3", None),
        ("get_device_sm() in (100, 103)", {"sm100", "sm103"}),
        ("CAP not in {(12, 0), (12, 1)}", (NVIDIA | AMD) - {"sm120", "sm121", "gfx1201"}),
        ("'gfx95' in torch.cuda.get_device_properties(0).gcnArchName", {"gfx950"}),
        ("torch.cuda.get_device_properties(0).major == 9", {"sm90", "gfx942", "gfx950"}),
        ("torch.version.hip is not None", AMD),
    ],
)
def test_inline_comparisons(read, test, holds):
    gates = read({"layers/x.py": MODULE.format(test=test)}).facts.gates
    inline = [gate for gate in gates if gate.place.file.endswith("x.py") and gate.place.line == 9]
    if holds is None:
        assert [gate.name for gate in inline] == ["CAP[0] == 10", "CAP[1] == 3"]
    else:
        assert [(gate.name, gate.form, gate.capabilities) for gate in inline] == [
            (test, GateForm.INLINE, holds)
        ]


def test_local_names_stand_for_what_they_were_given(read):
    code = """
    import torch

    class Backend:
        def __init__(self):
            self.capability = torch.cuda.get_device_capability()
            self.sm = self.capability[0] * 10 + self.capability[1]

        def forward(self):
            major, minor = torch.cuda.get_device_capability()
            if major == 12 and minor == 0:
                return 1
            if self.sm >= 120:
                return 2
    """
    gates = read({"layers/x.py": code}).facts.gates
    holds = {gate.name: gate.capabilities for gate in gates if gate.form is GateForm.INLINE}
    assert holds["major == 12"] == {"sm120", "sm121", "gfx1201"}
    assert holds["self.sm >= 120"] == {"sm120", "sm121", "gfx1201"}


def test_a_name_that_another_file_sets_on_self(read):
    code = """
    import torch

    class Base:
        def __init__(self):
            self.device_sm_major = torch.cuda.get_device_capability()[0]
    """
    mixin = """
    class Mixin:
        def forward(self):
            return self.device_sm_major >= 10
    """
    files = {
        "layers/base.py": code,
        "layers/mixin.py": mixin,
        "layers/use.py": "from sglang.srt.layers.base import Base\n",
    }
    gate = named(read(files).facts.gates, "self.device_sm_major >= 10")
    assert gate.capabilities == BLACKWELL | {"gfx1100", "gfx1201"}


def test_attributes_looked_up_in_a_table_of_names(read):
    code = """
    _PROBES: dict = {"is_sm100": "is_sm100_supported", "is_cuda": "is_cuda"}


    class PlatformContext:
        def __getattr__(self, name):
            probe = _PROBES.get(name)
            from sglang.srt.utils import common as _common

            return getattr(_common, probe)()


    _PLATFORM = PlatformContext()


    def get_platform():
        return _PLATFORM
    """
    use = """
    from sglang.srt.runtime_context import get_platform

    def f(server_args):
        if get_platform().is_sm100:
            server_args.attention_backend = "trtllm_mha"
    """
    extraction = read({"runtime_context.py": code, "hook.py": use})
    gate = named(extraction.facts.platform, "is_sm100")
    assert (gate.form, gate.capabilities) == (GateForm.ATTRIBUTE, {"sm100", "sm103"})
    assert gate.place.line == 2
    (decision,) = [d for d in extraction.facts.decisions if d.place.file.endswith("hook.py")]
    assert decision.guard.capabilities == {"sm100", "sm103"}


def test_a_table_with_other_keys_than_names_answers_nothing(read):
    code = """
    import torch

    _PROBES = {torch.version: "is_sm100_supported", "is_sm100": "is_sm100_supported"}


    class PlatformContext:
        def __getattr__(self, name):
            from sglang.srt.utils import common as _common

            return getattr(_common, _PROBES.get(name))()


    def get_platform():
        return PlatformContext()
    """
    use = """
    from sglang.srt.runtime_context import get_platform

    def f(server_args):
        if get_platform().is_sm100:
            server_args.attention_backend = "trtllm_mha"
    """
    extraction = read({"runtime_context.py": code, "hook.py": use})
    assert "is_sm100" not in [gate.name for gate in extraction.facts.platform]


def test_a_gate_that_cannot_be_read_is_not_understood(read):
    code = """
    import torch
    from somewhere import limit

    def f():
        return torch.cuda.get_device_capability()[0] >= limit()
    """
    extraction = read({"layers/x.py": code})
    (gate,) = [g for g in extraction.facts.gates if g.place.file.endswith("layers/x.py")]
    assert (gate.understood, gate.capabilities) == (False, None)
    assert gate.reason
    assert extraction.coverage.gates_total - extraction.coverage.gates_understood == 1
    assert "limit()" in extraction.coverage.not_understood[0].message


def test_packages_that_the_distribution_pins_are_installed(read):
    code = """
    import importlib.util
    from sglang.srt.utils.common import is_cuda

    def is_flashinfer_available():
        return importlib.util.find_spec("flashinfer") is not None and is_cuda()
    """
    files = {"x.py": code + "\n    # attention_backend\n"}
    unpinned = named(read(files).facts.gates, "is_flashinfer_available")
    assert not unpinned.understood
    assert dict(unpinned.holds)["gfx942"] is False
    pinned = named(read(files, "flashinfer-python").facts.gates, "is_flashinfer_available")
    assert pinned.capabilities == NVIDIA


def test_the_least_capability_of_a_class(read):
    code = """
    class W4AFp8Config:
        @classmethod
        def get_min_capability(cls) -> int:
            return 90
    """
    gate = named(read({"q.py": code}).facts.gates, "W4AFp8Config.get_min_capability")
    assert {"sm90", "sm120"} <= gate.capabilities
    assert "sm89" not in gate.capabilities


def test_platform_classes_answer_through_the_one_that_serves_the_machine(read):
    interface = """
    import enum
    import torch

    class PlatformEnum(enum.Enum):
        CUDA = enum.auto()
        ROCM = enum.auto()

    class Platform:
        _enum: PlatformEnum

        def is_cuda(self):
            return self._enum == PlatformEnum.CUDA

        @classmethod
        def is_blackwell(cls):
            if not cls._enum == PlatformEnum.CUDA:
                return False
            return torch.cuda.get_device_capability()[0] == 10
    """
    cuda = """
    from sglang.srt.platforms.interface import Platform, PlatformEnum

    class CudaPlatform(Platform):
        _enum = PlatformEnum.CUDA

    class RocmPlatform(Platform):
        _enum = PlatformEnum.ROCM
    """
    package = """
    def __getattr__(name):
        if name == "current_platform":
            return _resolve()
    """
    use = """
    from sglang.srt.platforms import current_platform

    def f(server_args):
        if current_platform.is_blackwell():
            server_args.attention_backend = "trtllm_mha"
    """
    files = {
        "platforms/interface.py": interface,
        "platforms/cuda.py": cuda,
        "platforms/__init__.py": package,
        "use.py": use,
    }
    extraction = read(files)
    gate = named(extraction.facts.gates, "Platform.is_blackwell")
    assert gate.capabilities == {"sm100", "sm103"}
    (decision,) = [d for d in extraction.facts.decisions if d.place.file.endswith("use.py")]
    assert decision.guard.capabilities == {"sm100", "sm103"}


def test_answers_of_an_evaluator_win(make_tree):
    from sgl_audit.extract import extract

    def values(path: str, name: str, capability: str) -> bool | None:
        return capability == "sm75" if name == "is_sm100_supported" else None

    facts = extract(make_tree({}), values).facts
    assert named(facts.gates, "is_sm100_supported").capabilities == {"sm75"}
    assert named(facts.gates, "is_sm120_supported").capabilities == {"sm120", "sm121"}
