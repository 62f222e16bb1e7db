"""The stand-in for `compressed_tensors`: values as the library has them."""

from __future__ import annotations

import pytest

from sgl_audit.evaluate.values import Raised

from .trees import session_for

CODE = """
from compressed_tensors import CompressionFormat
from compressed_tensors.config import SparsityCompressionConfig, SparsityStructure
from compressed_tensors.quantization import QuantizationArgs, QuantizationStrategy, QuantizationType

def make(values):
    made = QuantizationArgs.model_validate(values)
    return made.num_bits, made.type, made.strategy, made.dynamic

def same(values):
    made = QuantizationArgs.model_validate(values)
    return (
        made.strategy == QuantizationStrategy.TENSOR_GROUP.value,
        made.strategy == QuantizationStrategy.TENSOR_GROUP,
        made.type == QuantizationType.FLOAT,
    )

def names():
    return (
        CompressionFormat.nvfp4_pack_quantized.value,
        CompressionFormat("pack-quantized") is CompressionFormat.pack_quantized,
        SparsityStructure.TWO_FOUR.value,
        SparsityCompressionConfig.model_validate({"format": "dense"}).sparsity_structure,
    )
"""
NVFP4 = {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16}


def ask(name: str, *args: object) -> object:
    session = session_for({"pkg/m.py": CODE})
    assert session.imports.load("pkg.m") and session.imports.gaps == []
    return session.machine.call(session.get("pkg.m", name), list(args), {})


def test_members_have_their_values() -> None:
    assert ask("names") == ("nvfp4-pack-quantized", True, "2:4", "unstructured")


def test_arguments_compare_with_members_and_text() -> None:
    assert ask("same", dict(NVFP4)) == (True, True, True)


@pytest.mark.parametrize(
    ("given", "strategy"),
    [({}, "tensor"), ({"group_size": 128}, "group"), ({"group_size": -1}, "channel")],
)
def test_the_strategy_follows_from_the_group_size(given: dict[str, object], strategy: str) -> None:
    assert ask("make", dict(given)) == (8, "int", strategy, False)


@pytest.mark.parametrize(
    "given",
    [
        {"strategy": "token"},
        {"strategy": "group"},
        {"strategy": "channel", "group_size": 64},
        {"strategy": "block"},
        {"strategy": "channel", "dynamic": True},
        {"strategy": "nothing_like_it"},
    ],
)
def test_what_the_library_refuses_is_an_error(given: dict[str, object]) -> None:
    with pytest.raises(Raised):
        ask("make", dict(given))
