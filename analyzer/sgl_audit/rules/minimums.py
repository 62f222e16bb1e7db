"""Quantizations that are admitted by a least capability, and what advisories say of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from sgl_audit.model.kernels import AdvisoryHit
from sgl_audit.model.source import Place
from sgl_audit.rules.advised import BAD, hits
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.findings import ordered
from sgl_audit.rules.layers import moe_layers
from sgl_audit.rules.sources import syntax_of


def reported_for(context: RuleContext, config: str, names: Iterable[str]) -> dict[str, AdvisoryHit]:
    """What advisories say against the quantization of a configuration class, per capability."""
    layers = (item for group in moe_layers(context).values() for item in group)
    quantizations = {item.quantization for item in layers if item.config == config}
    found: dict[str, AdvisoryHit] = {}
    for quantization in sorted(quantizations):
        for name in ordered(names):
            for hit in hits(context, "quantization", quantization, name, {})[:1]:
                if hit.outcome in BAD:
                    found.setdefault(name, hit)
    return found


def returned_at(context: RuleContext, place: Place) -> Place:
    """The `return` of the function that begins at a place, or the place."""
    tree = syntax_of(context, place.file)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef) and node.lineno <= place.line <= node.body[-1].lineno:
            for item in node.body:
                if isinstance(item, ast.Return):
                    return Place(place.file, item.lineno, item.col_offset)
    return place
