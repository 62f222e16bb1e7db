"""Kernel requirements that differ between two releases of a library."""

from __future__ import annotations

from sgl_audit.model.requirements import (
    BackendSupport,
    FunctionRequirements,
    KernelRequirements,
    Support,
)
from sgl_audit.model.source import Place
from sgl_audit.review.kernels import compared

PLACE = Place("flashinfer/gemm.py", 10)
WHERE = ("sm100", "sm120", "gfx942")


def release(
    any_: tuple[int, ...] | None, cudnn: tuple[int, ...] | None, name: str = "flashinfer.mm"
) -> KernelRequirements:
    backends = (BackendSupport("cudnn", Support(cudnn)),)
    function = FunctionRequirements(name, PLACE, Support(any_), True, backends)
    return KernelRequirements("1", (100, 120), (function,))


def texts(old: KernelRequirements, new: KernelRequirements) -> list[tuple[str, str]]:
    return [(change.kind.value, change.text) for change in compared(old, new, WHERE)]


def test_what_is_lost_and_gained() -> None:
    assert texts(release((100, 120), (100,)), release((100,), (100, 120))) == [
        ("behaviour", "flashinfer.mm no longer supports sm120"),
        ("additive", "flashinfer.mm with backend cudnn now supports sm120"),
    ]


def test_what_one_release_does_not_say_is_no_change() -> None:
    assert texts(release((100, 120), None), release(None, (100,))) == []
    assert texts(release((100,), (100,)), release((120,), (120,), "flashinfer.other")) == []


def test_helpers_are_left_out() -> None:
    name = "flashinfer.get_module"
    assert texts(release((100,), (100,), name), release((120,), (120,), name)) == []
