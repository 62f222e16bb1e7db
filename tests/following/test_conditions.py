"""The small parts: names of kernels, conditions of several ways, verdicts in order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sgl_audit.audit.verdicts.judge import unmet
from sgl_audit.audit.verdicts.recommend import with_flags
from sgl_audit.audit.verdicts.settings import Setting
from sgl_audit.evaluate.following.follower import shortest
from sgl_audit.evaluate.following.libraries import kernel_of
from sgl_audit.model.paths import KernelCall, LayerPath, Site
from sgl_audit.model.source import Place
from sgl_audit.model.verdict import ValueVerdict, Verdict, worst

A, B = ("a",), ("b",)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("flashinfer.mm_fp4", ("flashinfer", "flashinfer.mm_fp4")),
        ("flashinfer.mm_fp4(...).view", None),
        ("flashinfer.Wrapper", None),
        ("flashinfer.Wrapper(...).run", ("flashinfer", "flashinfer.Wrapper.run")),
        ("torch.ops.sgl_kernel.gemm", ("sgl_kernel", "sgl_kernel.gemm")),
        ("torch.ops.sglang.fp4_gemm", None),
        ("kernel decorated by triton.jit[...]", ("triton", "kernel")),
        ("kernel decorated by triton.jit[...](...).view", None),
        ("helper decorated by somebody", None),
        ("torch.empty", None),
        ("torch.nn.functional.linear", ("torch", "torch.nn.functional.linear")),
    ],
)
def test_names_of_kernels(name: str, expected: tuple[str, str] | None) -> None:
    assert kernel_of(name, "sglang") == expected


def test_what_is_met_either_way_has_no_condition() -> None:
    assert shortest({frozenset({(A, True)}), frozenset({(A, False)})}) == frozenset()


def test_what_ways_share_remains() -> None:
    ways = {frozenset({(A, True), (B, True)}), frozenset({(A, True), (B, False)})}
    assert shortest(ways) == frozenset({(A, True)})


def test_one_way_keeps_its_condition() -> None:
    assert shortest({frozenset({(A, True), (B, False)})}) == frozenset({(A, True), (B, False)})


def test_flags_replace_what_they_stand_for() -> None:
    settings = {"x": Setting("x", ("--x-backend", "--x"), ("a", "b"))}
    argv = ("--model-path", "m", "--x", "a", "--tp", "2")
    expected = ("--model-path", "m", "--tp", "2", "--x-backend", "b")
    assert with_flags(argv, {"x": "b"}, settings) == expected
    assert with_flags(("--x=a",), {"x": "b"}, settings) == ("--x-backend", "b")


def test_the_worst_verdict_counts() -> None:
    assert worst((Verdict.WORKS, Verdict.UNKNOWN, Verdict.SLOW)) is Verdict.UNKNOWN
    assert worst(()) is Verdict.UNKNOWN
    assert Verdict.SLOW.good and not Verdict.UNKNOWN.good


def test_a_verdict_without_ground_gives_no_reason() -> None:
    row = ValueVerdict("x", "a", "sm120", Verdict.UNKNOWN)
    assert row.reason == "" and row.place is None


def test_what_runs_before_a_kernel_is_not_the_kernel() -> None:
    dispatch = KernelCall("triton", "fused_moe_dispatch_index_triton_kernel", Place("a.py", 1))
    path = LayerPath(Site.EXPERTS, "FusedMoE", "Mxfp4MoEMethod", None, calls=(dispatch,))
    assert unmet(path, "deep_gemm")
    assert not unmet(path, "triton")
    gemm = KernelCall("deep_gemm", "deep_gemm.m_grouped_fp8_gemm_nt_contiguous", Place("a.py", 2))
    assert not unmet(replace(path, calls=(dispatch, gemm)), "deep_gemm")
