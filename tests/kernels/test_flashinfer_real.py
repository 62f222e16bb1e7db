"""Facts of real FlashInfer releases, each looked up by hand in that release's source."""

from __future__ import annotations

import functools
import time
from pathlib import Path

import pytest

from sgl_audit.kernels.flashinfer import read_requirements, requirements_to_json
from sgl_audit.model.requirements import FunctionRequirements, KernelRequirements
from sgl_audit.source import open_source

pytestmark = pytest.mark.real
GEMM = "flashinfer.gemm.gemm_base"


@functools.cache
def requirements(cache: Path, version: str) -> KernelRequirements:
    tree = open_source(
        f"flashinfer-python=={version}",
        package="flashinfer",
        distribution="flashinfer-python",
        cache_dir=cache,
    )
    return read_requirements(tree)


def get(cache: Path, version: str, name: str) -> FunctionRequirements:
    found = requirements(cache, version).get(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("version", "function", "backend", "numbers"),
    [
        ("0.6.3", f"{GEMM}.mm_fp4", "trtllm", (100, 103)),
        ("0.6.3", f"{GEMM}.mm_fp4", "cudnn", (100, 103, 110, 120, 121)),
        ("0.6.3", f"{GEMM}.bmm_fp8", "cublas", (89, 90, 100, 103, 120, 121)),
        ("0.6.3", f"{GEMM}.gemm_fp8_nt_groupwise", "trtllm", (100, 103)),
        ("0.6.3", f"{GEMM}.bmm_mxfp8", "cudnn", (100, 103)),
        ("0.6.12", f"{GEMM}.mm_fp4", "b12x", (120, 121)),
        ("0.6.12", f"{GEMM}.mm_fp4", "cute-dsl", (100, 103)),
        ("0.6.18", f"{GEMM}.mm_fp4", "trtllm", (100, 103, 107)),
        ("0.6.18", f"{GEMM}.mm_fp4", "cutlass", (100, 103, 107, 110, 120, 121)),
    ],
)
def test_backends(
    real_cache: Path, version: str, function: str, backend: str, numbers: tuple[int, ...]
) -> None:
    found = get(real_cache, version, function).backend(backend)
    assert found is not None and found.support.numbers == numbers


@pytest.mark.parametrize(
    ("version", "line", "checker"), [("0.6.12", 5849, 5126), ("0.6.18", 7068, 6121)]
)
def test_places_are_those_of_the_declarations(
    real_cache: Path, version: str, line: int, checker: int
) -> None:
    found = get(real_cache, version, f"{GEMM}.mm_fp4")
    trtllm = found.backend("trtllm")
    assert (found.place.file, found.place.line) == ("flashinfer/gemm/gemm_base.py", line)
    assert trtllm is not None and trtllm.support.place is not None
    assert trtllm.support.place.line == checker


def test_the_moe_of_trtllm_is_compiled_for_blackwell_servers_only(real_cache: Path) -> None:
    found = get(real_cache, "0.6.3", "flashinfer.fused_moe.core.trtllm_fp4_block_scale_moe")
    (reach,) = found.jit
    assert reach.generator.majors == (10,)
    assert reach.generator.place.file == "flashinfer/jit/fused_moe.py"
    assert not reach.generator.may_run(120) and not reach.generator.may_run(90)


def test_the_moe_of_cutlass_has_a_module_per_generation(real_cache: Path) -> None:
    found = get(real_cache, "0.6.3", "flashinfer.fused_moe.core.cutlass_fused_moe")
    runs = {n for reach in found.jit for n in (80, 89, 90, 100, 120) if reach.generator.may_run(n)}
    assert runs == {89, 90, 100, 120}


def test_refusals_in_the_code_itself(real_cache: Path) -> None:
    (xqa,) = get(real_cache, "0.6.3", "flashinfer.xqa.xqa").checks
    assert set(xqa.refused) == {75, 80, 86, 87, 89, 110}
    (decode,) = get(
        real_cache, "0.6.3", "flashinfer.decode.trtllm_batch_decode_with_kv_cache"
    ).checks
    assert decode.backend == "xqa" and decode.place == xqa.place


def test_auto_prefers_what_the_heuristic_says(real_cache: Path) -> None:
    orders = {o.number: o.backends for o in get(real_cache, "0.6.3", f"{GEMM}.mm_fp4").auto}
    assert orders[100] == ("cudnn", "cutlass")
    assert orders[103] == ("cutlass", "cudnn")
    newer = {o.number: o.backends for o in get(real_cache, "0.6.12", f"{GEMM}.mm_fp4").auto}
    assert newer[120] == ("b12x", "cutlass", "cudnn")


def test_every_declared_function_of_a_release_is_decided_in_time(real_cache: Path) -> None:
    started = time.process_time()
    requirements.cache_clear()
    found = requirements(real_cache, "0.6.18")
    assert time.process_time() - started < 20
    declared = [item for item in found.functions if item.declared]
    assert len(declared) == 110 and not found.diagnostics
    assert all(item.any.numbers is not None for item in declared)
    assert requirements_to_json(found)["flashinfer"]["version"] == "0.6.18"
