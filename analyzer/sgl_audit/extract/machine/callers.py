"""Which calls a module makes, by the name that is called."""

from __future__ import annotations

import ast

from sgl_audit.extract.machine.scopes import Scope
from sgl_audit.extract.scan import inner_nodes
from sgl_audit.extract.walker import visits


def calls_in(module: Scope) -> dict[str, list[tuple[ast.Call, Scope]]]:
    """Every call of a module with the scope it stands in; made once, when it is first asked."""
    if module.calls is None:
        module.calls = {}
        if isinstance(module.node, ast.Module):
            for visit in visits(module, module.node, lambda node: True):
                for node in inner_nodes(visit.node):
                    if isinstance(node, ast.Call):
                        module.calls.setdefault(_name(node), []).append(
                            (node, visit.function.scope)
                        )
    return module.calls


def _name(node: ast.Call) -> str:
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
