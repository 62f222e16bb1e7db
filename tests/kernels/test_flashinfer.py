"""FlashInfer's requirements from small trees of its shape."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from sgl_audit.errors import SourceError
from sgl_audit.evaluate import values
from sgl_audit.kernels.flashinfer import Reader, read_requirements, requirements_to_json
from sgl_audit.model.requirements import FunctionRequirements, JitGenerator, KernelRequirements
from sgl_audit.model.source import Place
from sgl_audit.source import open_source

UTILS = """
import functools
import torch


def supported_compute_capability(supported):
    numbers = [int(n) for n in supported]

    def decorator(func):
        func._supported_ccs = set(numbers)
        func.is_compute_capability_supported = lambda cc: cc in func._supported_ccs
        return func

    return decorator


def backend_requirement(backend_checks, common_check=None, heuristic_func=None):
    def decorator(func):
        def is_backend_supported(backend, cc=None):
            if backend not in backend_checks:
                return False
            return backend_checks[backend].is_compute_capability_supported(cc)

        def is_compute_capability_supported(cc):
            if not backend_checks:
                if not hasattr(common_check, "is_compute_capability_supported"):
                    raise ValueError("no capability declared")
                return common_check.is_compute_capability_supported(cc)
            return any(
                check.is_compute_capability_supported(cc) for check in backend_checks.values()
            )

        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            return func(*args, **kwargs)

        wrapper.is_backend_supported = is_backend_supported
        wrapper.is_compute_capability_supported = is_compute_capability_supported
        return wrapper

    return decorator


@functools.cache
def get_compute_capability(device):
    if device.type != "cuda":
        raise ValueError("device must be a cuda device")
    properties = torch.cuda.get_device_properties(device)
    return properties.major, properties.minor


def is_sm90a_supported(device):
    major, _ = get_compute_capability(device)
    return major == 9
"""
GEMM = """
import torch
from ..utils import backend_requirement, get_compute_capability, supported_compute_capability
from .._lists import BLACKWELL
from ..jit.gemm import gen_trt_module, gen_wide_module


@supported_compute_capability([100, 103])
def _trt(a, backend="auto"):
    return True


@supported_compute_capability(BLACKWELL + [90])
def _wide(a, backend="auto"):
    return True


@supported_compute_capability([89])
def _common(a):
    return True


def _undeclared(a):
    return True


def _order(suitable_backends, a: torch.Tensor, backend="auto", fast=False):
    major, minor = get_compute_capability(a.device)
    order = []
    if major == 10:
        order.append("trt")
    order.append("wide")
    if minor == 1:
        order = ["trt"] if fast else ["wide", "trt"]
    if major == 9 and not a.dtype:
        order = []
    return [name for name in order if name in suitable_backends]


def get_trt_module():
    return gen_trt_module().build_and_load()


TABLE = {"wide": gen_wide_module}


@backend_requirement({"trt": _trt, "wide": _wide}, heuristic_func=_order)
def mm(a: torch.Tensor, backend="auto"):
    if backend == "trt":
        return get_trt_module().run(a)
    return TABLE[backend]().build_and_load().run(a)


@backend_requirement(backend_checks={}, common_check=_common)
def single(a):
    return get_trt_module().run(a)


@backend_requirement({}, common_check=_undeclared)
def silent(a):
    return a


class Runner:
    @supported_compute_capability((120, 121))
    def __init__(self):
        self.module = get_trt_module()
"""
JIT_CORE = """
sm90a_nvcc_flags = ["-gencode=arch=compute_90a,code=sm_90a"]
sm100f_nvcc_flags = ["-gencode=arch=compute_100f,code=sm_100f"]


def gen_jit_spec(name, flags=None):
    return name
"""
JIT_GEMM = """
from .core import current_compilation_context, gen_jit_spec, sm90a_nvcc_flags, sm100f_nvcc_flags

MAJORS = (10, 12)


def _flags():
    return current_compilation_context.get_nvcc_flags_list(supported_major_versions=list(MAJORS))


def gen_trt_module():
    flags = ["-O3"]
    flags += current_compilation_context.get_nvcc_flags_list(
        supported_major_versions=[10]
    )
    return gen_jit_spec("trt", flags)


def gen_wide_module(old=False):
    return gen_jit_spec("wide", sm90a_nvcc_flags if old else _flags())


def gen_loose_module(old=False):
    flags = []
    if old:
        flags += sm90a_nvcc_flags
    return gen_jit_spec("loose", flags)


def gen_family_module():
    return gen_jit_spec("family", sm100f_nvcc_flags)


def gen_computed_module(majors):
    return gen_jit_spec("x", current_compilation_context.get_nvcc_flags_list(majors))
"""
MISC = '''
import torch
from .jit.gemm import gen_computed_module, gen_family_module, gen_loose_module, gen_wide_module
from .utils import get_compute_capability, is_sm90a_supported


def only_12(q):
    """Refuses whatever else is given."""
    major, minor = get_compute_capability(q.device)
    if major not in [12]:
        raise ValueError("SM12x only")
    return gen_wide_module()


def _check(q):
    if not is_sm90a_supported(q.device):
        raise ValueError("Hopper only")


def helped(q):
    _check(q)
    return gen_family_module()


def early(q):
    if q is None:
        return None
    if not is_sm90a_supported(q.device):
        raise ValueError("Hopper only")
    return gen_loose_module()


def guarded(q, fp8=False):
    if fp8 and get_compute_capability(q.device)[0] < 9:
        raise ValueError("FP8 needs Hopper")
    import triton

    return gen_computed_module([9]), triton


def branched(q, backend="auto"):
    if backend == "auto":
        backend = "trt" if get_compute_capability(q.device)[0] == 10 else "xqa"
    if backend == "xqa":
        if get_compute_capability(q.device)[0] not in (9, 12) or q.dtype is None:
            raise ValueError("xqa")
        return gen_loose_module()
    elif backend in ("trt", "cake"):
        assert get_compute_capability(q.device) in ((10, 0), (10, 3))
        return gen_family_module()
    raise ValueError(backend)


def chosen_by_shape(q, backend="auto"):
    if backend == "auto":
        backend = "trt" if q.shape[0] == 1 else "xqa"
    return gen_family_module()


class Wrapper:
    def __init__(self, q, *, backend="auto"):
        self.module = gen_family_module()


def plain(q):
    return q
'''
TREE = {
    "flashinfer/__init__.py": "from .gemm import mm\nfrom .misc import only_12\n",
    "flashinfer/utils.py": UTILS,
    "flashinfer/_lists.py": "BLACKWELL = [100, 120, 999]\n",
    "flashinfer/gemm/__init__.py": "from .base import mm, single\n",
    "flashinfer/gemm/base.py": GEMM,
    "flashinfer/jit/__init__.py": "",
    "flashinfer/jit/core.py": JIT_CORE,
    "flashinfer/jit/gemm.py": JIT_GEMM,
    "flashinfer/misc.py": MISC,
}


def read(tmp_path: Path, files: dict[str, str]) -> KernelRequirements:
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    tree = open_source(str(tmp_path), package="flashinfer", distribution="flashinfer-python")
    return read_requirements(tree)


@pytest.fixture(scope="module")
def requirements(tmp_path_factory: pytest.TempPathFactory) -> KernelRequirements:
    return read(tmp_path_factory.mktemp("fi"), TREE)


def get(requirements: KernelRequirements, name: str) -> FunctionRequirements:
    found = requirements.get(f"flashinfer.{name}")
    assert found is not None, [item.name for item in requirements.functions]
    return found


def generators(item: FunctionRequirements) -> dict[str, JitGenerator]:
    return {reach.generator.name.rpartition(".")[2]: reach.generator for reach in item.jit}


def line_of(text: str, words: str, nth: int = 0) -> int:
    lines = [number for number, line in enumerate(text.split("\n"), 1) if words in line]
    return lines[nth]


def test_backends_answer_as_the_functions_own_closures(requirements: KernelRequirements) -> None:
    mm = get(requirements, "gemm.base.mm")
    assert mm.declared
    assert mm.any.numbers == (90, 100, 103, 120)
    assert {item.name: item.support.numbers for item in mm.backends} == {
        "trt": (100, 103),
        "wide": (90, 100, 120),
    }
    wide = mm.backend("wide")
    assert mm.place == Place("flashinfer/gemm/base.py", line_of(GEMM, '{"trt": _trt'))
    assert wide is not None and wide.support.place is not None
    assert wide.support.place.line == line_of(GEMM, "BLACKWELL + [90]")


def test_a_common_check_stands_for_the_only_backend(requirements: KernelRequirements) -> None:
    assert get(requirements, "gemm.base.single").any.numbers == (89,)
    assert get(requirements, "gemm.base._common").any.numbers == (89,)


def test_what_declares_no_capability_is_unknown_with_the_reason(
    requirements: KernelRequirements,
) -> None:
    silent = get(requirements, "gemm.base.silent")
    assert silent.any.numbers is None
    assert "no capability declared" in silent.any.reason


def test_methods_count(requirements: KernelRequirements) -> None:
    assert get(requirements, "gemm.base.Runner.__init__").any.numbers == (120, 121)


def test_auto_order_is_the_heuristics_own(requirements: KernelRequirements) -> None:
    orders = {item.number: item for item in get(requirements, "gemm.base.mm").auto}
    assert orders[100].backends == ("trt", "wide")
    assert orders[103].backends == ("trt",)
    assert orders[120].backends == ("wide",)
    assert orders[90].backends is None and orders[90].reason
    assert 121 not in orders


def test_generators_are_followed_through_getters_and_tables(
    requirements: KernelRequirements,
) -> None:
    reached = generators(get(requirements, "gemm.base.mm"))
    assert reached["gen_trt_module"].majors == (10,)
    assert reached["gen_trt_module"].place.line == line_of(JIT_GEMM, "get_nvcc_flags_list(", 1)
    assert (reached["gen_wide_module"].majors, reached["gen_wide_module"].targets) == (
        (10, 12),
        ("90a",),
    )
    via = next(r.via for r in get(requirements, "gemm.base.mm").jit if "trt" in r.generator.name)
    assert [place.line for place in via] == [
        line_of(GEMM, "return get_trt_module().run(a)"),
        line_of(GEMM, "gen_trt_module().build"),
    ]


@pytest.mark.parametrize(
    ("function", "generator", "runs", "not_on"),
    [
        ("misc.only_12", "gen_wide_module", (90, 100, 121), (89, 110)),
        ("misc.helped", "gen_family_module", (100, 103), (90, 110, 120)),
        ("misc.early", "gen_loose_module", (75, 90, 120), ()),
        ("misc.guarded", "gen_computed_module", (75, 120), ()),
    ],
)
def test_a_limit_under_a_condition_or_computed_is_no_limit(
    requirements: KernelRequirements,
    function: str,
    generator: str,
    runs: tuple[int, ...],
    not_on: tuple[int, ...],
) -> None:
    made = generators(get(requirements, function))[generator]
    assert all(made.may_run(number) for number in runs)
    assert not any(made.may_run(number) for number in not_on)
    assert bool(made.reason) is not made.limited


def test_checks_on_every_path_refuse(requirements: KernelRequirements) -> None:
    (check,) = get(requirements, "misc.only_12").checks
    assert check.refused == tuple(n for n in requirements.numbers if n // 10 != 12)
    assert check.unknown == () and check.place.line == line_of(MISC, "if major not in [12]")
    (check,) = get(requirements, "misc.helped").checks
    assert check.function == "flashinfer.misc._check" and 90 not in check.refused
    assert len(check.refused) == len(requirements.numbers) - 1


def test_checks_behind_other_conditions_do_not(requirements: KernelRequirements) -> None:
    assert get(requirements, "misc.early").checks == ()
    (check,) = get(requirements, "misc.guarded").checks
    assert check.refused == () and check.unknown == (75, 80, 86, 87, 89)
    assert get(requirements, "misc.guarded").other_kernels == ("triton",)


def test_checks_inside_a_backends_branch_are_that_backends(
    requirements: KernelRequirements,
) -> None:
    checks = {check.backend: check for check in get(requirements, "misc.branched").checks}
    assert set(checks) == {"xqa", "trt", "cake"}
    assert checks["xqa"].unknown == (90, 120, 121) and 100 in checks["xqa"].refused
    assert checks["trt"].refused == checks["cake"].refused
    assert 103 not in checks["trt"].refused and 107 in checks["trt"].refused


def test_a_written_choice_of_auto_is_evaluated(requirements: KernelRequirements) -> None:
    orders = {item.number: item.backends for item in get(requirements, "misc.branched").auto}
    assert orders[103] == ("trt",) and orders[120] == ("xqa",)
    shapes = get(requirements, "misc.chosen_by_shape").auto
    assert {item.backends for item in shapes} == {None}
    hidden = get(requirements, "misc.Wrapper")
    assert hidden.auto == () and "not visible" in hidden.auto_reason


def test_functions_without_any_requirement_are_left_out(requirements: KernelRequirements) -> None:
    assert requirements.get("flashinfer.misc.plain") is None


def test_json_has_the_form_of_the_command(requirements: KernelRequirements) -> None:
    data = requirements_to_json(requirements)
    row = data["functions"]["flashinfer.gemm.base.mm"]
    assert data["format"] == 1
    assert row["any"] == [90, 100, 103, 120] and row["backends"]["trt"] == [100, 103]
    assert row["where"]["file"] == "flashinfer/gemm/base.py"
    assert row["auto"]["103"] == {"backends": ["trt"]}
    assert data["functions"]["flashinfer.misc.helped"]["any"] is None


def test_a_broken_module_is_a_diagnostic_and_the_rest_goes_on(tmp_path: Path) -> None:
    broken = TREE | {"flashinfer/bad.py": "@supported_compute_capability([90])\ndef f(:\n"}
    found = read(tmp_path, broken)
    assert get(found, "gemm.base.mm").any.numbers == (90, 100, 103, 120)
    assert any(d.place and d.place.file == "flashinfer/bad.py" for d in found.diagnostics)


def test_a_module_that_cannot_run_is_read_as_text(tmp_path: Path) -> None:
    text = "raise RuntimeError('no GPU')\n" + GEMM.replace("BLACKWELL + [90]", "BLACKWELL")
    found = read(tmp_path, TREE | {"flashinfer/gemm/base.py": text})
    mm = get(found, "gemm.base.mm")
    assert mm.any.numbers == (100, 103, 120) and "read from the text" in mm.any.reason
    assert "no GPU" in mm.any.reason
    wide = mm.backend("wide")
    assert wide is not None and wide.support.numbers == (100, 120)


def test_computed_lists_in_a_module_that_cannot_run_are_unknown(tmp_path: Path) -> None:
    text = "raise RuntimeError('no GPU')\n" + GEMM
    found = read(tmp_path, TREE | {"flashinfer/gemm/base.py": text})
    assert get(found, "gemm.base.mm").any.numbers is None


def test_a_tree_without_decorators_still_has_generators(tmp_path: Path) -> None:
    old = {k: v for k, v in TREE.items() if "gemm/" not in k}
    found = read(tmp_path, old | {"flashinfer/__init__.py": ""})
    assert not any(item.declared for item in found.functions)
    assert generators(get(found, "misc.only_12"))["gen_wide_module"].majors == (10, 12)


def test_another_package_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "flashinfer").mkdir()
    (tmp_path / "flashinfer" / "__init__.py").write_text("")
    tree = open_source(str(tmp_path), package="flashinfer", distribution="flashinfer-python")

    class Renamed:
        info = tree.info
        has = tree.has
        read = tree.read

        def files(self) -> tuple[str, ...]:
            return ()

    with pytest.raises(SourceError, match="holds no package named"):
        Reader(Renamed())


def test_reading_leaves_the_interpreter_in_use_alone(tmp_path: Path) -> None:
    def caller(function: object, args: object, kwargs: object) -> None: ...

    before = list(values._HOOKS)
    values._HOOKS[:] = [caller]
    try:
        read(tmp_path, TREE)
        assert [caller] == values._HOOKS and gc.isenabled()
    finally:
        values._HOOKS[:] = before
