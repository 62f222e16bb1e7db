"""Attributes of tensors that were made just now, and of classes that derive from them."""

from __future__ import annotations

from typing import Any

import pytest

from sgl_audit.evaluate import tensors
from sgl_audit.evaluate.values import Unknown

from .trees import module_namespace

SOURCE = """
import torch
from torch.nn import Parameter
from elsewhere import Other


class Weight(Parameter):
    pass


class Both(Parameter, Other):
    pass


def marked(weight):
    weight.output_dim = 0
    return weight


made = torch.empty(1)
"""


def evaluated(expression: str) -> Any:
    """The value of an expression beside the source; tensors are made anew with each call."""
    session, _ = module_namespace(SOURCE + f"\n\ndef f(weight, other):\n    return {expression}\n")
    weight = Unknown("torch.nn.Parameter(...)", "outside the tree", None, "external")
    other = Unknown("something(...)", "outside the tree", None, "external")
    return session.machine.call(session.get("pkg.m", "f"), [weight, other], {})


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("hasattr(weight, 'output_dim')", False),
        ("getattr(weight, 'output_dim', None)", None),
        ("hasattr(marked(weight), 'output_dim')", True),
        ("getattr(marked(weight), 'output_dim', None)", 0),
        ("hasattr(Weight.__new__(Weight), 'output_dim')", False),
    ],
)
def test_what_a_new_tensor_certainly_has_or_lacks(expression: str, value: object) -> None:
    assert evaluated(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "hasattr(weight, 'is_sparse')",
        "hasattr(other, 'output_dim')",
        "hasattr(weight.data, 'output_dim')",
        "hasattr(Both.__new__(Both), 'output_dim')",
    ],
)
def test_what_stays_unknown(expression: str) -> None:
    assert isinstance(evaluated(expression), Unknown)


def test_the_names_are_those_of_a_tensor() -> None:
    assert {"shape", "dtype", "data", "requires_grad", "__class__"} <= tensors.NAMES
    assert not {"weight_loader", "output_dim", "input_dim"} & tensors.NAMES
