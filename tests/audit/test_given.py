"""Guards once an option has a value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgl_audit.audit.given import assume, assume_all
from sgl_audit.audit.vocabulary import Vocabulary
from sgl_audit.model.facts import BackendEnum, EnumMember, Option, Scalar
from sgl_audit.model.guard import ALWAYS, NEVER, Atom, AtomKind, Not, all_of
from sgl_audit.model.source import Place

PLACE = Place("sglang/srt/layers/moe/utils.py", 1)
CHOICES = ("auto", "triton", "deep_gemm", "deep_gemm_v2")
ENUM = BackendEnum(
    "MoeRunnerBackend",
    tuple(EnumMember(value.upper(), value) for value in CHOICES),
    ("is_auto", "is_triton", "is_deep_gemm", "is_deep_gemm_v2"),
    False,
    PLACE,
)
OPTION = Option(
    "moe_runner_backend", (), "str", "auto", True, CHOICES, None, None, False, PLACE, True
)
WORDS = Vocabulary(
    {"MoeRunnerBackend": ENUM},
    {"FAST": ("triton", "deep_gemm")},
    {OPTION.name: OPTION},
    {OPTION.name: "MoeRunnerBackend"},
    {
        ("MoeRunnerBackend", "is_auto"): frozenset({"AUTO"}),
        ("MoeRunnerBackend", "is_deep_gemm"): frozenset({"DEEP_GEMM", "DEEP_GEMM_V2"}),
        ("MoeRunnerBackend", "is_triton"): None,
    },
)


def asks(text: str, *options: str) -> Atom:
    return Atom(AtomKind.OPTION, text, None, options or (OPTION.name,))


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ('self.moe_runner_backend == "auto"', "auto", True),
        ('self.moe_runner_backend == "auto"', "triton", False),
        ('"auto" == cfg.moe_runner_backend', "auto", True),
        ('backend == "auto"', "auto", True),
        ('server_args.moe_runner_backend in ["auto", "triton"]', "triton", True),
        ("view.moe_runner_backend in FAST", "deep_gemm", True),
        ("view.moe_runner_backend in FAST", "auto", False),
        ('view.moe_runner_backend in ("auto", other)', "triton", None),
        ('view.moe_runner_backend in ("auto", other)', "auto", True),
        ('"deep" in self.moe_runner_backend', "deep_gemm", True),
        ('self.moe_runner_backend.startswith("deep_")', "deep_gemm", True),
        ('self.moe_runner_backend.lower() == "auto"', "auto", True),
        ("self.moe_runner_backend is None", None, True),
        ("self.moe_runner_backend is None", "auto", False),
        ('getattr(args, "moe_runner_backend", None) == "auto"', "auto", True),
        ("MoeRunnerBackend(self.moe_runner_backend) == MoeRunnerBackend.TRITON", "triton", True),
        ("get_moe_runner_backend().is_auto()", "auto", True),
        ("get_moe_runner_backend().is_auto()", "triton", False),
        ("backend.is_deep_gemm()", "deep_gemm_v2", True),
        ("backend.is_triton()", "triton", True),
        # A predicate whose definition was not understood is trusted for nothing else.
        ("backend.is_triton()", "auto", None),
        ("self.moe_runner_backend", "auto", True),
        ("self.moe_runner_backend", None, False),
        ("self.moe_runner_backend == other_backend", "auto", None),
        ("supports(self.moe_runner_backend)", "auto", None),
        # The checkpoint has settings of like names.
        ('model_config.moe_runner_backend == "auto"', "auto", None),
    ],
)
def test_shapes(text: str, value: Scalar, expected: bool | None) -> None:
    found = assume(asks(text), OPTION.name, value, WORDS)
    assert found == {True: ALWAYS, False: NEVER, None: asks(text)}[expected]


def test_numbers_are_compared_as_numbers() -> None:
    atom = asks("self.ep_size > 1", "ep_size")
    assert assume(atom, "ep_size", 1, WORDS) == NEVER
    assert assume(atom, "ep_size", 8, WORDS) == ALWAYS
    assert assume(asks("self.ep_size == True", "ep_size"), "ep_size", 1, WORDS) == NEVER


def test_other_tests_stay_as_they_are() -> None:
    model = Atom(AtomKind.MODEL, "is_nvfp4")
    guard = all_of(asks('self.moe_runner_backend == "auto"'), model)
    assert assume(guard, OPTION.name, "auto", WORDS) == model
    assert assume(guard, OPTION.name, "triton", WORDS) == NEVER
    assert assume(guard, "other_option", "auto", WORDS) == guard


def test_several_values_settle_what_they_agree_on() -> None:
    atom = asks('self.moe_runner_backend == "deep_gemm"')
    assert assume_all(atom, {OPTION.name: ("auto", "triton")}, WORDS) == NEVER
    assert assume_all(atom, {OPTION.name: ("auto", "deep_gemm")}, WORDS) == atom
    assert assume_all(atom, {OPTION.name: ()}, WORDS) == atom


def test_an_atom_of_two_options_is_not_settled_by_one() -> None:
    atom = asks("self.moe_runner_backend == self.other", "moe_runner_backend", "other")
    assert assume(atom, OPTION.name, "auto", WORDS) == atom


@given(st.sampled_from(CHOICES), st.lists(st.sampled_from(CHOICES), min_size=1, max_size=3))
def test_membership_agrees_with_python(value: str, listed: list[str]) -> None:
    atom = asks(f"self.moe_runner_backend in {listed!r}")
    assert assume(atom, OPTION.name, value, WORDS) == (ALWAYS if value in listed else NEVER)
    assert assume(Not(atom), OPTION.name, value, WORDS) == (NEVER if value in listed else ALWAYS)
