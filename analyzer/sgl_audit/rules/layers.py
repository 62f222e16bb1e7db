"""Quantization layers: which class serves a quantization, and whether it makes a runner at all."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sgl_audit.model.source import Place
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.sources import data_of, server_files, syntax_of
from sgl_audit.rules.ways import ways

_MAKER = "create_moe_runner"


@dataclass(frozen=True, slots=True)
class MoeLayer:
    """One class that runs the experts of one quantization.

    Attributes:
        config: the configuration class that hands it out.
        place: of the method that makes the runner.
        settled: whether that method decides `auto` itself, or makes a runner, or refuses, on
            every way through it.
    """

    quantization: str
    config: str
    name: str
    place: Place
    settled: bool


def moe_layers(context: RuleContext) -> dict[str, list[MoeLayer]]:
    """The classes that run experts, by the quantization whose configuration hands them out."""
    return context.once(_moe_layers)


def _moe_layers(context: RuleContext) -> dict[str, list[MoeLayer]]:
    found: dict[str, list[MoeLayer]] = {}
    for file in server_files(context):
        if "/quantization/" not in file or _MAKER.encode() not in data_of(context, file):
            continue
        tree = syntax_of(context, file)
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef)] if tree else []
        makers = {node.name: method for node in classes if (method := _method(node, _MAKER))}
        for node in classes:
            quantization = _name_of(node)
            for name in _handed_out(node, quantization, makers.keys()) if quantization else ():
                maker = makers[name]
                place = Place(file, maker.lineno, maker.col_offset)
                layer = MoeLayer(quantization, node.name, name, place, _settled(maker))
                found.setdefault(quantization, []).append(layer)
    return found


def _method(node: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name == name:
            return item
    return None


def _name_of(node: ast.ClassDef) -> str:
    """What a configuration class calls its quantization: by `get_name`, or by `name`."""
    method = _method(node, "get_name")
    body = [method.body[-1]] if method is not None else node.body
    for item in body:
        match item:
            case ast.Return(value=ast.Constant(value=str() as text)):
                return text
            case ast.Assign(
                targets=[ast.Name(id="name")], value=ast.Constant(value=str() as text)
            ) if node.name.endswith("Config"):
                return text
    return ""


def _handed_out(node: ast.ClassDef, quantization: str, makers: Iterable[str]) -> list[str]:
    """The classes that a configuration names, else those of its file named after its format."""
    known = set(makers)
    named = {item.id for item in ast.walk(node) if isinstance(item, ast.Name)} & known
    form = quantization.rpartition("_")[2]
    return sorted(named or {name for name in known if form in name.lower()})


def _settled(maker: ast.FunctionDef) -> bool:
    asks = any(
        isinstance(node, ast.Attribute) and node.attr == "is_auto" for node in ast.walk(maker)
    )
    return asks or always_makes(maker.body)


def always_makes(body: Sequence[ast.stmt]) -> bool:
    """Whether every way through the statements gives `self.runner` a value, or does not end."""
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Attribute(attr="runner")]) | ast.Raise():
                return True
            case ast.If(body=inner, orelse=orelse) if orelse:
                if always_makes(inner) and always_makes(orelse):
                    return True
            case ast.With(body=inner) if always_makes(inner):
                return True
    return False


def quantizations_of(context: RuleContext, name: str) -> list[MoeLayer]:
    """The quantizations that a class runs experts of."""
    return [
        layer for group in moe_layers(context).values() for layer in group if layer.name == name
    ]


def admitted(context: RuleContext, layer: MoeLayer, capability: str) -> bool:
    """Whether the layer can be made on a capability at all."""
    least = f"{layer.config}.get_min_capability"
    below = any(
        gate.name == least and dict(gate.holds).get(capability) is False
        for gate in context.facts.gates
    )
    return not below and not unusable(context, layer.name, capability)


def unusable(context: RuleContext, name: str, capability: str) -> bool:
    """Whether making an object of a class is refused on a capability whatever else holds."""
    return any(
        way.certain and not way.literals
        for rejection in context.facts.rejections
        if rejection.function == f"{name}.__init__"
        for way in ways(context, rejection.guard, capability)
    )
