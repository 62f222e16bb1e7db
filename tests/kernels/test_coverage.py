"""Which image runs where, against the compatibility rules of the CUDA documentation."""

from __future__ import annotations

import pytest

from sgl_audit.kernels.binary import covers
from sgl_audit.kernels.binary.coverage import runs_on
from sgl_audit.model.capability import BY_NAME
from sgl_audit.model.kernels import (
    Answer,
    BinaryReport,
    DeviceImage,
    FatBinary,
    ImageKind,
    SharedObject,
)

KINDS = {"sm": ImageKind.CUBIN, "compute": ImageKind.PTX, "lto": ImageKind.LTO}


def image(label: str) -> DeviceImage:
    kind, _, number = label.partition("_")
    return DeviceImage(KINDS[kind], int(number.rstrip("af?")), number.lstrip("0123456789"))


@pytest.mark.parametrize(
    ("label", "yes", "no"),
    [
        ("sm_80", "sm80 sm86 sm89", "sm75 sm90 sm100 gfx942"),
        ("sm_86", "sm86 sm89", "sm80 sm90"),
        ("sm_90", "sm90", "sm89 sm100 sm120"),
        ("sm_90a", "sm90", "sm100 sm120"),
        ("sm_100", "sm100 sm103", "sm90 sm110 sm120"),
        ("sm_100a", "sm100", "sm103 sm110 sm120"),
        ("sm_100f", "sm100 sm103", "sm110 sm120"),
        ("sm_103a", "sm103", "sm100"),
        ("sm_103f", "sm103", "sm100"),
        ("sm_110a", "sm110", "sm100 sm120"),
        ("sm_120", "sm120 sm121", "sm100 sm110"),
        ("sm_120a", "sm120", "sm121"),
        ("sm_120f", "sm120 sm121", "sm100"),
        ("sm_121a", "sm121", "sm120"),
        ("compute_80", "sm80 sm87 sm90 sm110 sm121", "sm75"),
        ("compute_90a", "sm90", "sm100 sm120 sm80"),
        ("compute_100f", "sm100 sm103", "sm120 sm90"),
        ("compute_120", "sm120 sm121", "sm100 sm110"),
    ],
)
def test_rules(label: str, yes: str, no: str) -> None:
    for names, expected in ((yes, Answer.YES), (no, Answer.NO)):
        for name in names.split():
            assert runs_on(image(label), BY_NAME[name])[0] is expected, name


@pytest.mark.parametrize(("label", "name"), [("sm_80", "sm87"), ("lto_90", "sm90")])
def test_unpromised_is_unknown(label: str, name: str) -> None:
    assert runs_on(image(label), BY_NAME[name])[0] is Answer.UNKNOWN


def test_open_variant_is_yes_only_where_exact() -> None:
    open_variant = DeviceImage(ImageKind.CUBIN, 100, None, reason="not said")
    assert runs_on(open_variant, BY_NAME["sm100"])[0] is Answer.YES
    assert runs_on(open_variant, BY_NAME["sm103"])[0] is Answer.UNKNOWN
    assert runs_on(open_variant, BY_NAME["sm120"])[0] is Answer.NO


def report(*objects: list[str]) -> BinaryReport:
    """One string per fat binary, labels separated by blanks, "?" for an unread image."""
    unread = DeviceImage(ImageKind.UNKNOWN, None, None, reason="damaged")
    items = tuple(
        SharedObject(
            f"lib{index}.so",
            1,
            tuple(
                FatBinary(
                    ".nv_fatbin", 0, tuple(unread if x == "?" else image(x) for x in f.split())
                )
                for f in fatbins
            ),
        )
        for index, fatbins in enumerate(objects)
    )
    return BinaryReport("x.whl", len(items), items)


@pytest.mark.parametrize(
    ("objects", "answer", "words"),
    [
        ([["sm_80 sm_90", "sm_90a"]], Answer.YES, "sm_90, exact; sm_90a, exact"),
        ([["sm_80 compute_80"]], Answer.YES, "PTX compute_80"),
        ([["compute_80 sm_90"]], Answer.YES, "sm_90, exact"),
        ([["sm_80"], ["sm_100a"]], Answer.NO, "only sm_80, sm_100a"),
        ([["sm_80", "sm_90a"]], Answer.UNKNOWN, "1 of 2 fat binaries"),
        ([["compute_80 compute_90 compute_75"]], Answer.YES, "PTX compute_90"),
        ([["sm_90"], ["sm_80"]], Answer.UNKNOWN, "none in lib1.so"),
        ([["sm_80 ?"]], Answer.UNKNOWN, "damaged"),
        ([["sm_90 ?"]], Answer.YES, "exact"),
        ([[""]], Answer.NO, "only"),
    ],
)
def test_whole_binary_on_sm90(objects: list[list[str]], answer: Answer, words: str) -> None:
    found = covers(report(*objects), BY_NAME["sm90"])
    assert found.answer is answer
    assert words in found.reason
