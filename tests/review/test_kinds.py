"""Which kind each change is: old code, new code, expected change. docs/upgrades.md says why."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from sgl_audit.model.review import Change, Review
from sgl_audit.review.launches import Side
from sgl_audit.review.run import run_review

from .trees import ARGS, ENVIRON, UTILS, MiniTree, changed, tree

WHERE = ("sm100", "sm120")


@dataclass(frozen=True)
class Example:
    """A change of the tree, and what must be said of it: (kind, subject, words of its text)."""

    name: str
    old: MiniTree
    new: MiniTree
    expected: tuple[str, str, str]
    capabilities: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = field(default=())


CHOICES = '["auto", "triton", "cutlass", "flashinfer_trtllm"]'
SPARSE = (
    ("sparse_backend", "dsa_backend"),
    ("--sparse-backend", "--dsa-backend"),
)
NO_FLAG = (
    ('        parser.add_argument("--page-size", type=int, default=ServerArgs.page_size)\n', ""),
    ("            page_size=args.page_size,\n", ""),
)
ONE_SPELLING = ('"--moe-runner-backend", "--moe-runner",', '"--moe-runner-backend",')
MARLIN = (CHOICES, CHOICES.replace("]", ', "marlin"]'))
DEFAULT = ('moe_runner_backend: str = "auto"', 'moe_runner_backend: str = "triton"')
WITHOUT_PAGE_SIZE = changed(ARGS, *NO_FLAG, ("    page_size: int = 1\n", ""))
EXAMPLES = (
    Example(
        "a flag removed, while the field stays",
        tree(),
        tree(args=changed(ARGS, *NO_FLAG)),
        ("breaking", "flag", "--page-size is gone; only code sets page_size"),
    ),
    Example(
        "an option removed",
        tree(),
        tree(args=WITHOUT_PAGE_SIZE),
        ("breaking", "option", "--page-size is gone"),
    ),
    Example(
        "an option added",
        tree(args=WITHOUT_PAGE_SIZE),
        tree(),
        ("additive", "option", "new: --page-size"),
    ),
    Example(
        "a spelling removed",
        tree(),
        tree(args=changed(ARGS, ONE_SPELLING)),
        ("breaking", "flag", "--moe-runner is now --moe-runner-backend"),
    ),
    Example(
        "a spelling added",
        tree(args=changed(ARGS, ONE_SPELLING)),
        tree(),
        ("additive", "flag", "new spelling --moe-runner"),
    ),
    Example(
        "an option renamed: same choices, same code, same description",
        tree(),
        tree(args=changed(ARGS, *SPARSE)),
        ("breaking", "flag", "it likely goes on as --dsa-backend"),
        unexpected=("no option was found to be the same", "new: --dsa-backend"),
    ),
    Example(
        "a similar name alone is no rename",
        tree(),
        tree(args=changed(
            ARGS,
            ('parser.add_argument("--page-size", type=int, default=ServerArgs.page_size)',
             'parser.add_argument("--page-sizes", type=str, default="small", '
             'choices=["small", "large"], help="Which table of sizes.")'),
            ("page_size=args.page_size", "page_sizes=args.page_sizes"),
            ("page_size: int = 1", 'page_sizes: str = "small"'),
        )),
        ("breaking", "option", "--page-size is gone"),
    ),
    Example(
        "a choice removed",
        tree(),
        tree(args=changed(ARGS, (CHOICES, '["auto", "triton", "flashinfer_trtllm"]'))),
        ("breaking", "choice", "no longer takes cutlass"),
    ),
    Example(
        "a choice added",
        tree(),
        tree(args=changed(ARGS, MARLIN)),
        ("additive", "choice", "also takes marlin"),
    ),
    Example(
        "a declared default changed",
        tree(),
        tree(args=changed(ARGS, DEFAULT)),
        ("behaviour", "default", "the declared default of moe_runner_backend is triton, was auto"),
    ),
    Example(
        "a value refused on a capability",
        tree(),
        tree(args=changed(ARGS, (
            '        if self.sparse_backend == "auto":',
            '        if self.attention_backend == "flashinfer" and is_sm100_supported():\n'
            '            raise ValueError("flashinfer does not run on SM100")\n'
            '        if self.sparse_backend == "auto":',
        ))),
        ("breaking", "explicit value", "attention_backend = flashinfer is refused now"),
        ("sm100",),
    ),
    Example(
        "a value no longer refused",
        tree(),
        tree(args=changed(ARGS, (
            '"trtllm_mha" and not is_sm100_supported():', '"trtllm_mha" and False:'
        ))),
        ("additive", "explicit value", "attention_backend = trtllm_mha is no longer refused"),
        ("sm120",),
    ),
    Example(
        "a gate with another set under the same name",
        tree(),
        tree(utils=changed(UTILS, ("[0] == 10", "[0] in (10, 12)"))),
        ("behaviour", "gate", "is_sm100_supported now holds on sm120"),
        ("sm120",),
    ),
    Example(
        "a variable without effect",
        tree(),
        tree(environ=changed(ENVIRON, ("    SGLANG_FAST_MOE = EnvBool(False)\n", "    pass\n"))),
        ("behaviour", "environment variable", "SGLANG_FAST_MOE has no effect any more"),
    ),
    Example(
        "a variable with another default",
        tree(),
        tree(environ=changed(ENVIRON, ("EnvBool(False)", "EnvBool(True)"))),
        ("behaviour", "environment variable", "without SGLANG_FAST_MOE it is now True, was False"),
    ),
    Example(
        "a pinned version",
        tree(pins={"flashinfer-python": "0.6.3"}),
        tree(pins={"flashinfer-python": "0.7.2"}),
        ("informational", "pinned version", "flashinfer-python 0.6.3 -> 0.7.2"),
    ),
    Example(
        "a requirement under its new name is the same requirement",
        tree(pins={"sgl-kernel": "0.3.21"}),
        tree(pins={"sglang-kernel": "0.4.1"}),
        ("informational", "pinned version", "sglang-kernel 0.3.21 -> 0.4.1"),
    ),
    Example(
        "a known fault that the new library has",
        tree(pins={"flashinfer-python": "0.6.15"}),
        tree(pins={"flashinfer-python": "0.6.17"}),
        ("informational", "advisory", "comes into the range of a known fault: trtllm-gen NVFP4"),
        ("sm100",),
    ),
    Example(
        "a known fault left behind",
        tree(pins={"flashinfer-python": "0.6.17"}),
        tree(pins={"flashinfer-python": "0.6.18"}),
        ("additive", "advisory", "leaves the range of a known fault: trtllm-gen NVFP4 MoE"),
        ("sm100",),
    ),
    Example(
        "a default that the same tree refuses",
        tree(),
        tree(args=changed(ARGS, (
            '"trtllm_mha" if is_sm100_supported() else "triton"', '"trtllm_mha"'
        ))),
        ("breaking", "finding", "SGA101 error introduced"),
        ("sm120",),
    ),
)  # fmt: skip


def reviewed(example: Example) -> Review:
    return run_review(Side(example.old), Side(example.new), capabilities=WHERE)


def matching(review: Review, expected: tuple[str, str, str]) -> list[Change]:
    kind, subject, words = expected
    return [
        change
        for change in review.changes
        if (change.kind.value, change.subject.value) == (kind, subject) and words in change.text
    ]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_of_the_rules(example: Example) -> None:
    review = reviewed(example)
    found = matching(review, example.expected)
    assert found, [(c.kind.value, c.subject.value, c.text) for c in review.changes]
    if example.capabilities:
        assert found[0].capabilities == example.capabilities
    texts = " ".join(change.text for change in review.changes)
    assert not [words for words in example.unexpected if words in texts]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_nothing_is_said_without_a_change(example: Example) -> None:
    review = run_review(Side(example.old), Side(example.old), capabilities=WHERE)
    assert review.same
    assert not review.changes


def test_harm_comes_first() -> None:
    both = changed(
        ARGS,
        (CHOICES, '["auto", "triton", "flashinfer_trtllm", "marlin"]'),
        DEFAULT,
    )
    review = run_review(Side(tree()), Side(tree(args=both)), capabilities=WHERE)
    kinds = [change.kind.value for change in review.changes]
    assert kinds == sorted(kinds, key=("breaking", "behaviour", "additive", "informational").index)
    assert {"breaking", "behaviour", "additive"} <= set(kinds)
