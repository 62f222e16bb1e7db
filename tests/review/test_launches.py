"""Launches under two trees: verdicts, values, and lines that the new tree takes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sgl_audit.model.resolution import Launch, Outcome, Refusal, Resolution, ResolvedValue
from sgl_audit.model.review import LaunchReview, LaunchVerdict, Review, UpgradeVerdict
from sgl_audit.review.bench import different_words
from sgl_audit.review.ends import compare
from sgl_audit.review.launches import Asked, Side
from sgl_audit.review.run import run_review
from sgl_audit.review.words import renamed_flag, value_of, without_flag

from .trees import MiniTree, changed, tree

LAUNCH = Launch("a", "sm120", ("--model-path", "x"))
BASE = Resolution(LAUNCH, Outcome.OK, late=())
REFUSAL = Refusal("ValueError", "no", None)


def value(name: str, held: object) -> ResolvedValue:
    return ResolvedValue(name, True, held)  # type: ignore[arg-type]


def unknown(name: str) -> ResolvedValue:
    return ResolvedValue(name, False, reason="it is measured")


def ended(**more: object) -> Resolution:
    return replace(BASE, **more)  # type: ignore[arg-type]


REJECTED = ended(outcome=Outcome.REJECTED, rejection=REFUSAL, late=None)


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        (BASE, BASE, LaunchVerdict.SAME),
        (
            ended(options=(value("x", 1),)),
            ended(options=(value("x", 2),)),
            LaunchVerdict.CHANGES,
        ),
        # An option that only one version has is no change of the launch.
        (ended(options=(value("x", 1),)), BASE, LaunchVerdict.SAME),
        (BASE, REJECTED, LaunchVerdict.REFUSED),
        (BASE, ended(late=(REFUSAL,)), LaunchVerdict.REFUSED),
        (REJECTED, BASE, LaunchVerdict.WORKS),
        (REJECTED, REJECTED, LaunchVerdict.BOTH_REFUSED),
        # Where something is not known, the launch is never called the same, nor mended.
        (BASE, ended(outcome=Outcome.UNKNOWN), LaunchVerdict.UNKNOWN),
        (ended(outcome=Outcome.UNKNOWN), BASE, LaunchVerdict.UNKNOWN),
        (ended(outcome=Outcome.UNKNOWN), REJECTED, LaunchVerdict.UNKNOWN),
        (BASE, ended(late=None), LaunchVerdict.UNKNOWN),
        (REJECTED, ended(late=None), LaunchVerdict.UNKNOWN),
        (
            ended(options=(value("x", 1),)),
            ended(options=(unknown("x"),)),
            LaunchVerdict.UNKNOWN,
        ),
    ],
)
def test_verdicts(old: Resolution, new: Resolution, verdict: LaunchVerdict) -> None:
    assert compare(old, new, {}).verdict is verdict


def test_values_of_one_side_are_listed_apart() -> None:
    old = ended(options=(value("nsa", "a"), value("x", 1), value("y", None)))
    new = ended(options=(value("dsa", "b"), value("y", None), value("z", 2)))
    found = compare(old, new, {"nsa": "dsa"})
    assert [(c.old_name, c.name, c.before, c.after) for c in found.changes] == [
        ("nsa", "dsa", "a", "b")
    ]
    assert [(v.name, v.value, v.other_name) for v in found.gone] == [
        ("nsa", "a", "dsa"),
        ("x", 1, ""),
    ]
    assert [(v.name, v.other_name) for v in found.added] == [("dsa", "nsa"), ("z", "")]


def test_a_record_that_the_run_time_settles() -> None:
    old = ended(options=(value("x", "a"),), runtime=(value("x", "a"),))
    new = ended(options=(value("x", "auto"),), runtime=(value("x", "a"),))
    assert [c.settled for c in compare(old, new, {}).changes] == [True]


def test_a_refused_launch_has_no_values_to_compare() -> None:
    old = ended(options=(value("x", 1),))
    assert compare(old, REJECTED, {}).changes == ()


def test_words() -> None:
    argv = ("--a", "1", "2", "--b=3", "--c")
    assert renamed_flag(argv, "--b", "--d") == ("--a", "1", "2", "--d=3", "--c")
    assert without_flag(argv, "--a") == ("--b=3", "--c")
    assert without_flag(argv, "--b") == ("--a", "1", "2", "--c")
    assert [value_of(argv, flag) for flag in ("--a", "--b", "--c")] == ["1", "3", ""]


FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
SERVER_ARGS = "sglang/srt/server_args.py"
DENSE = str(FIXTURES / "models" / "dense_bf16")
SAMPLING = (
    'self.sampling_backend = "flashinfer" if is_flashinfer_available() else "pytorch"',
    'self.sampling_backend = "pytorch"',
)


def whole_tree(*changes: tuple[str, str]) -> MiniTree:
    """One of our own trees with parts of its server arguments replaced."""
    root = FIXTURES / "flat_2025"
    texts = {
        path.relative_to(root).as_posix(): path.read_text("utf-8") for path in root.rglob("*.py")
    }
    texts[SERVER_ARGS] = changed(texts[SERVER_ARGS], *changes)
    return MiniTree(texts, tree(pins={"flashinfer-python": "0.6.3"}).info)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("nsa_prefill_backend", "dsa_prefill_backend", ("nsa", "dsa")),
        ("a_b_c", "a_x_y_c", ("b", "x_y")),
        ("same", "same", ("", "")),
    ],
)
def test_what_two_names_differ_by(old: str, new: str, words: tuple[str, str]) -> None:
    assert different_words(old, new) == words


def reviewed(new: MiniTree, *flags: str) -> Review:
    launch = Launch("mine", "sm120", ("--model-path", DENSE, *flags))
    return run_review(
        Side(whole_tree()),
        Side(new),
        capabilities=("sm120",),
        launches=[Asked(launch)],
        trees=False,
    )


def only(review: Review) -> LaunchReview:
    assert len(review.launches) == 1
    return review.launches[0]


def test_a_renamed_flag_is_put_into_the_line() -> None:
    new = whole_tree(
        ("moe_runner_backend", "expert_backend"), ("--moe-runner-backend", "--expert-backend")
    )
    review = reviewed(new, "--moe-runner-backend", "triton")
    found = only(review)
    assert found.verdict is LaunchVerdict.REFUSED
    assert found.edit is not None
    assert found.edit.argv[-2:] == ("--expert-backend", "triton")
    assert "likely" in found.edit.steps[0]
    assert review.verdict is UpgradeVerdict.WITH_FLAGS


def test_a_default_that_flips_is_kept_by_a_flag() -> None:
    review = reviewed(whole_tree(SAMPLING))
    found = only(review)
    assert found.verdict is LaunchVerdict.CHANGES
    assert [(c.name, c.before, c.after) for c in found.changes] == [
        ("sampling_backend", "flashinfer", "pytorch")
    ]
    assert found.edit is not None
    assert found.edit.argv[-2:] == ("--sampling-backend", "flashinfer")
    assert found.edit.left == ()
    assert review.verdict is UpgradeVerdict.WITH_FLAGS


def test_a_choice_that_is_gone_is_left_out() -> None:
    new = whole_tree(('choices=["flashinfer", "pytorch"]', 'choices=["flashinfer"]'))
    review = reviewed(new, "--sampling-backend", "pytorch")
    found = only(review)
    assert found.verdict is LaunchVerdict.REFUSED
    assert found.edit is not None
    assert "--sampling-backend" not in found.edit.argv
    assert [(c.name, c.before, c.after) for c in found.edit.left] == [
        ("sampling_backend", "pytorch", "flashinfer")
    ]
    assert review.verdict is UpgradeVerdict.DIFFERENT


def test_where_nothing_helps_the_upgrade_is_not_safe() -> None:
    refusing = "        if self.sampling_backend is None:"
    new = whole_tree(
        (refusing, f'        raise ValueError("this version starts nothing")\n{refusing}')
    )
    review = reviewed(new)
    assert only(review).verdict is LaunchVerdict.REFUSED
    assert only(review).edit is None
    assert review.verdict is UpgradeVerdict.NOT_SAFE


def test_nothing_changes() -> None:
    review = reviewed(whole_tree(("mid 2025", "late 2025")))
    assert only(review).verdict is LaunchVerdict.SAME
    assert only(review).edit is None
    assert review.verdict is UpgradeVerdict.SAFE
