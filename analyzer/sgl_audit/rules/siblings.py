"""Tests of the capability that a class for dense layers makes and the one for experts does not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from sgl_audit.model.source import Place
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.conditions import gates_by_name
from sgl_audit.rules.families import nvidia, open_from
from sgl_audit.rules.picks import picks
from sgl_audit.rules.sources import data_of, server_files, syntax_of

_DENSE, _EXPERTS = "LinearMethod", "MoEMethod"


@dataclass(frozen=True, slots=True)
class DenseGate:
    """One such test: where the dense class makes it, and where the other picks without it."""

    test: str
    dense_name: str
    dense: Place
    name: str
    experts: Place
    capabilities: tuple[str, ...]


def dense_gates(context: RuleContext) -> Iterator[DenseGate]:
    """Closed tests of older generations that decide an attribute of a dense class only."""
    known = context.once(gates_by_name)
    for file in server_files(context):
        if "/quantization/" not in file or _EXPERTS.encode() not in data_of(context, file):
            continue
        tree = syntax_of(context, file)
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef)] if tree else []
        for dense in classes:
            stem = dense.name.removesuffix(_DENSE)
            experts = next((node for node in classes if node.name == stem + _EXPERTS), None)
            if stem == dense.name or experts is None:
                continue
            asked = _called(experts)
            for call, name in _kept(dense):
                held = nvidia(known.get(name) or ())
                picked = _picked(context, file, experts.name)
                # A range that ends before the newest card is one for which there is a way out.
                if held and open_from(held) is None and name not in asked and picked:
                    place = Place(file, call.lineno, call.col_offset)
                    yield DenseGate(
                        f"{name}()", dense.name, place, experts.name, picked, tuple(held)
                    )


def _kept(node: ast.ClassDef) -> Iterator[tuple[ast.Call, str]]:
    """Calls whose answer goes into an attribute, or into a name that does, when it is made."""
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            for inner in ast.walk(item):
                match inner:
                    case ast.Assign(value=ast.Call(func=ast.Name(id=name), args=[]) as call):
                        yield call, name


def _called(node: ast.ClassDef) -> set[str]:
    return {
        item.func.id
        for item in ast.walk(node)
        if isinstance(item, ast.Call) and isinstance(item.func, ast.Name)
    }


def _picked(context: RuleContext, file: str, name: str) -> Place | None:
    """The last place at which the experts' class picks a runner by itself."""
    found = [
        item.place
        for item in picks(context)
        if item.place.file == file and item.function == f"{name}.create_moe_runner"
    ]
    return max(found, default=None)
