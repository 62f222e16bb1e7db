"""A real wheel that carries CUDA code and is small: torchao 0.12.0, 6.5 MiB, CUDA 12."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sgl_audit.kernels.binary import covers, read_binary
from sgl_audit.model.capability import BY_NAME
from sgl_audit.model.kernels import Answer

NAME = "torchao-0.12.0-cp39-abi3-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl"
REPOSITORY = Path(__file__).parents[2]
CACHE = Path(os.environ.get("SGL_AUDIT_TEST_CACHE", REPOSITORY / ".cache" / "wheels"))
DOWNLOAD = (
    *(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"),
    *("--python-version", "3.11", "--abi", "abi3", "--platform", "manylinux_2_28_x86_64"),
    "torchao==0.12.0",
)


@pytest.fixture(scope="module")
def wheel() -> Path:
    path = CACHE / NAME
    if not path.is_file():
        CACHE.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [*DOWNLOAD, "-d", str(CACHE)], capture_output=True, text=True, check=False, timeout=300
        )
        if done.returncode or not path.is_file():
            pytest.skip(f"{NAME} cannot be fetched: {done.stderr.strip()[-200:]}")
    return path


@pytest.mark.real
def test_torchao_carries_what_cuobjdump_lists(wheel: Path) -> None:
    report = read_binary(wheel)
    assert report.diagnostics == () and report.examined == 3
    assert {item.name: item.labels for item in report.objects} == {
        "torchao/_C.abi3.so": (("sm_80", 6), ("sm_86", 6)),
        "torchao/_C_cutlass_100a.abi3.so": (("sm_100a", 1),),
        "torchao/_C_cutlass_90a.abi3.so": (("sm_90a", 8),),
    }
    assert {image.basis for image in report.images} == {"fatbin header, cubin e_flags"}


@pytest.mark.real
def test_torchao_has_nothing_for_consumer_blackwell(wheel: Path) -> None:
    report = read_binary(wheel)
    assert covers(report, BY_NAME["sm120"]).answer is Answer.NO
    assert covers(report, BY_NAME["sm103"]).answer is Answer.NO
    hopper = covers(report, BY_NAME["sm90"])
    assert hopper.answer is Answer.UNKNOWN
    assert [item.answer for item in hopper.objects] == [Answer.NO, Answer.NO, Answer.YES]
