"""The fat binary parser on byte-built containers: sound, odd, damaged and hostile."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest

from sgl_audit.kernels.binary.bytesource import Window
from sgl_audit.kernels.binary.fatbin import read_fatbins
from sgl_audit.kernels.binary.lz4 import lz4_prefix
from sgl_audit.model.kernels import DeviceImage, ImageKind


def images(data: bytes) -> list[DeviceImage]:
    return [i for f in read_fatbins(Window(data, 0, len(data)), ".nv_fatbin") for i in f.images]


def labels(data: bytes) -> list[str]:
    return [image.label for image in images(data)]


def test_targets_from_header_flags(make: SimpleNamespace) -> None:
    data = make.container(
        make.entry(2, 80, make.cubin(80)),
        make.entry(2, 90, make.cubin(90), make.EXACT),
        make.entry(2, 100, make.cubin(100), make.FAMILY, header=112),
        make.entry(2, 120, b"\x28\xb5\x2f\xfd" * 4, make.EXACT | make.ZSTD, header=112),
        make.entry(1, 90, b"\x28\xb5\x2f\xfd" * 4, make.ZSTD, header=80),
        make.entry(8, 90, b"opaque", header=120),
    )
    assert labels(data) == ["sm_80", "sm_90a", "sm_100f", "sm_120a", "compute_90", "lto_90"]


@pytest.mark.parametrize("abi", [7, 8])
def test_accelerated_flag_of_the_cubin_counts(make: SimpleNamespace, abi: int) -> None:
    data = make.container(make.entry(2, 90, make.cubin(90, abi=abi, accelerated=True)))
    assert labels(data) == ["sm_90a"]
    assert images(data)[0].basis == "fatbin header, cubin e_flags"


def test_ptx_target_line_counts(make: SimpleNamespace) -> None:
    text = b"//\n.version 8.0\n.target sm_90a, debug\n.address_size 64\n"
    assert labels(make.container(make.entry(1, 90, text))) == ["compute_90a"]
    packed = bytes([0xF0, len(text) - 15]) + text
    assert labels(make.container(make.entry(1, 90, packed, make.LZ4))) == ["compute_90a"]


def test_disagreement_is_unknown(make: SimpleNamespace) -> None:
    data = make.container(
        make.entry(2, 90, make.cubin(80)),
        make.entry(1, 90, b".target sm_80\n"),
        make.entry(1, 90, b".target sm_90\n", make.EXACT),
        make.entry(2, 90, make.cubin(90), make.EXACT | make.FAMILY),
        make.entry(0x40, 90, b"?"),
        make.entry(2, 0, b"?"),
    )
    found = images(data)
    assert {image.kind for image in found} == {ImageKind.UNKNOWN}
    assert len(found) == 6 and all(image.reason for image in found)


def test_several_containers_with_padding(make: SimpleNamespace) -> None:
    one = make.container(make.entry(2, 80, make.cubin(80)))
    two = make.container(make.entry(2, 120, make.cubin(120), make.FAMILY))
    found = read_fatbins(Window(one + bytes(24) + two, 0, len(one + two) + 24), ".nv_fatbin")
    assert [[i.label for i in f.images] for f in found] == [["sm_80"], ["sm_120f"]]
    assert found[1].offset == len(one) + 24


def test_nothing_is_dropped(make: SimpleNamespace) -> None:
    good = make.container(make.entry(2, 80, make.cubin(80)))
    assert labels(b"junk-before" + good + b"tail") == ["unknown", "sm_80", "unknown"]
    assert labels(make.container(version=9) + good) == ["unknown", "sm_80"]
    assert labels(good[:10]) == ["unknown"]
    assert labels(make.container(make.entry(2, 80, make.cubin(80)), size=1 << 60)) == [
        "sm_80",
        "unknown",
    ]
    assert labels(make.container(make.entry(2, 80, make.cubin(80))[:60])) == ["unknown"]
    assert labels(make.container(make.entry(2, 80, b"x", header=64)[:4] + bytes(60))) == ["unknown"]


def test_many_images_and_containers_are_capped(
    make: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sgl_audit.kernels.binary.fatbin.MAX_CONTAINERS", 3)
    monkeypatch.setattr("sgl_audit.kernels.binary.fatbin.MAX_IMAGES_PER_CONTAINER", 2)
    entry = make.entry(2, 80, make.cubin(80))
    assert labels(make.container(*[entry] * 5)) == ["sm_80", "sm_80", "unknown"]
    assert labels(make.container(entry) * 9) == ["sm_80"] * 3 + ["unknown"]


def test_garbage_never_raises(make: SimpleNamespace) -> None:
    seed = make.container(*[make.entry(2, n, make.cubin(n)) for n in (80, 90, 100)]) * 2
    generator = random.Random(7)
    for _ in range(400):
        data = bytearray(seed)
        for _ in range(generator.randrange(1, 12)):
            data[generator.randrange(len(data))] = generator.randrange(256)
        assert images(bytes(data[: generator.randrange(len(data))])) is not None


def test_lz4_repeats_and_stops(make: SimpleNamespace) -> None:
    assert lz4_prefix(b"\x13\n\x01\x00\x50abcde", 64) == b"\n" * 8 + b"abcde"
    assert lz4_prefix(b"\x1fa\x01\x00" + b"\xff" * 9 + b"\x00", 100) == b"a" * 100
    assert lz4_prefix(b"\x10a\x05\x00\x00", 100) == b"a"
    assert lz4_prefix(b"\xf0", 100) == b""
