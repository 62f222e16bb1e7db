"""read_binary on byte-built libraries and wheels."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from sgl_audit.errors import SourceError
from sgl_audit.kernels.binary import Limits, covers, read_binary
from sgl_audit.model.capability import BY_NAME
from sgl_audit.model.kernels import Answer


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_shared_object(make: SimpleNamespace, tmp_path: Path) -> None:
    fat = make.container(make.entry(2, 120, make.cubin(120), make.FAMILY))
    report = read_binary(write(tmp_path / "k.so", make.elf(_nv_fatbin=fat)))
    assert report.objects[0].labels == (("sm_120f", 1),)
    assert report.diagnostics == ()


def test_relocatable_code_is_not_loadable(make: SimpleNamespace, tmp_path: Path) -> None:
    fat = make.container(make.entry(2, 90, make.cubin(90)))
    report = read_binary(write(tmp_path / "k.so", make.elf(__nv_relfatbin=fat)))
    answer = covers(report, BY_NAME["sm90"])
    assert answer.answer is Answer.UNKNOWN and "linked" in answer.reason
    both = make.elf(__nv_relfatbin=fat, _nv_fatbin=fat)
    linked = read_binary(write(tmp_path / "both.so", both))
    assert covers(linked, BY_NAME["sm90"]).answer is Answer.YES


def test_registered_but_not_found_is_unknown(make: SimpleNamespace, tmp_path: Path) -> None:
    report = read_binary(write(tmp_path / "k.so", make.elf(_nvFatBinSegment=bytes(24))))
    assert report.objects[0].labels == (("unknown", 1),)


def test_rocm_targets(make: SimpleNamespace, tmp_path: Path) -> None:
    data = make.bundle("host-x86_64-unknown-linux-gnu-", "hipv4-amdgcn-amd-amdhsa--gfx942:xnack-")
    report = read_binary(write(tmp_path / "k.so", make.elf(_hip_fatbin=data + bytes(64))))
    assert report.objects[0].labels == (("gfx942:xnack-", 1),)
    assert covers(report, BY_NAME["gfx942"]).answer is Answer.YES
    assert covers(report, BY_NAME["gfx950"]).answer is Answer.NO
    assert covers(report, BY_NAME["sm90"]).answer is Answer.NO


@pytest.mark.parametrize(
    "data",
    [b"CCOB\x02\x00\x01\x00" + bytes(40), b"__CLANG_OFFLOAD_BUNDLE__" + b"\xff" * 8, b"noise"],
)
def test_rocm_unread_bundles_are_unknown(
    make: SimpleNamespace, tmp_path: Path, data: bytes
) -> None:
    report = read_binary(write(tmp_path / "k.so", make.elf(_hip_fatbin=data)))
    assert report.objects[0].labels == (("unknown", 1),)
    assert covers(report, BY_NAME["gfx942"]).answer is Answer.UNKNOWN


def test_bare_cubin_and_fatbin(make: SimpleNamespace, tmp_path: Path) -> None:
    fat = make.container(make.entry(2, 90, make.cubin(90), make.EXACT))
    assert read_binary(write(tmp_path / "k.fatbin", fat)).objects[0].labels == (("sm_90a", 1),)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "it is empty"),
        (b"#!/bin/sh\n", "no ELF shared object"),
        (b"\x7fELF" + b"\xff" * 200, "damaged"),
    ],
)
def test_wrong_files_are_one_sentence(tmp_path: Path, data: bytes, words: str) -> None:
    with pytest.raises(SourceError, match=words) as caught:
        read_binary(write(tmp_path / "k.so", data))
    assert "\n" not in str(caught.value)


def test_missing_file_and_broken_wheel(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file"):
        read_binary(tmp_path / "none.whl")
    with pytest.raises(SourceError, match="no readable wheel"):
        read_binary(write(tmp_path / "bad.whl", b"PK\x03\x04 and then nothing"))


def test_truncated_library_never_drops(make: SimpleNamespace, tmp_path: Path) -> None:
    whole = make.elf(_nv_fatbin=make.container(make.entry(2, 80, make.cubin(80))))
    for size in range(4, len(whole), 13):
        try:
            report = read_binary(write(tmp_path / "k.so", whole[:size]))
        except SourceError:
            continue
        assert all(item.images for item in report.objects)


def test_wheel_goes_on_after_a_bad_library(make: SimpleNamespace, tmp_path: Path) -> None:
    good = make.elf(_nv_fatbin=make.container(make.entry(2, 80, make.cubin(80))))
    path = make.wheel(
        tmp_path / "k.whl",
        **{
            "a/_C.abi3.so": good,
            "a/libx.so.1.2": b"nonsense",
            "a/__init__.py": b"",
            "a/k.pyd": b"MZ",
        },
    )
    report = read_binary(path)
    assert [item.name for item in report.objects] == ["a/_C.abi3.so"]
    assert report.examined == 3 and len(report.diagnostics) == 2
    answer = covers(report, BY_NAME["sm80"])
    assert answer.answer is Answer.UNKNOWN and "not read" in answer.reason


@pytest.mark.parametrize("members", [{"a/__init__.py": b""}, {"a/x.so": None}])
def test_wheel_without_gpu_code_is_one_sentence(
    make: SimpleNamespace, tmp_path: Path, members: dict[str, bytes | None]
) -> None:
    plain = make.elf(_text=b"\x90" * 16)
    path = make.wheel(tmp_path / "k.whl", **{k: v or plain for k, v in members.items()})
    report = read_binary(path)
    assert report.objects == () and len(report.diagnostics) == 1
    assert "carries no GPU code" in report.diagnostics[0].message
    assert covers(report, BY_NAME["sm90"]).answer is Answer.UNKNOWN


def test_wheel_limits(make: SimpleNamespace, tmp_path: Path) -> None:
    path = make.wheel(tmp_path / "k.whl", **{"a.so": bytes(3 << 20), "b.so": bytes(64)})
    assert "compression limit" in read_binary(path).diagnostics[0].message
    small = read_binary(path, Limits(member_bytes=1024))
    assert "size limit" in small.diagnostics[0].message
    with pytest.raises(SourceError, match="more than the 1"):
        read_binary(path, Limits(entries=1))
