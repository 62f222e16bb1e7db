"""Libraries built here with nvcc, where it is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from sgl_audit.kernels.binary import read_binary
from sgl_audit.model.kernels import BinaryReport

NVCC = shutil.which("nvcc")
pytestmark = pytest.mark.skipif(NVCC is None, reason="nvcc is not installed")

# Long enough that --compress-mode=speed really compresses its PTX.
SOURCE = """
extern "C" __global__ void k(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
  for (int j = 0; j < 16; j++)
    if (i + j < n) a[i + j] = a[i + j] * 2.f + sinf(a[i + j]);
}
"""


def build(folder: Path, targets: str, *flags: str) -> BinaryReport:
    """`targets` are code names; the virtual architecture is the same name."""
    source, out = folder / "k.cu", folder / "k.so"
    source.write_text(SOURCE)
    generate: list[str] = []
    for code in targets.split():
        virtual = code.replace("sm_", "compute_").replace("lto_", "compute_")
        generate += ["-gencode", f"arch={virtual},code={code}"]
    command = [str(NVCC), "-shared", "-Xcompiler", "-fPIC", "-cudart", "none", *generate, *flags]
    done = subprocess.run(
        [*command, "-o", str(out), str(source)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"this nvcc cannot build {targets}: {done.stderr.strip()[:200]}")
    return read_binary(out)


def labels(report: BinaryReport) -> set[str]:
    return {image.label for image in report.images}


# Plain, exact and family code of one number may not meet in one build, so none repeats here.
MANY = "sm_80 sm_90a sm_100f sm_103a sm_120f sm_121a compute_90a compute_120"


@pytest.mark.parametrize("targets", ["sm_100", "sm_120a", "compute_90", "lto_90", MANY])
def test_targets(tmp_path: Path, targets: str) -> None:
    assert labels(build(tmp_path, targets)) == set(targets.split())


@pytest.mark.parametrize("mode", ["none", "speed", "size"])
def test_compression_does_not_matter(tmp_path: Path, mode: str) -> None:
    targets = "sm_80 sm_90a sm_120f compute_120f"
    report = build(tmp_path, targets, f"--compress-mode={mode}")
    assert labels(report) == set(targets.split())
    if mode != "size":
        assert "fatbin header, PTX .target" in {image.basis for image in report.images}


def test_bare_cubins_keep_their_variant(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text(SOURCE)
    for target in ("sm_90", "sm_90a"):
        out = tmp_path / f"{target}.cubin"
        command = [str(NVCC), "-cubin", f"-arch={target}", "-o", str(out), str(source)]
        assert subprocess.run(command, capture_output=True, check=False).returncode == 0
        assert labels(read_binary(out)) <= {target, f"{target}?"}
