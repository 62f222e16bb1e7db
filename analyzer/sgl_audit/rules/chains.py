"""Chains of tests for checkpoint schemes (`_is_...`) that end in `raise`."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from sgl_audit.model.source import Place
from sgl_audit.rules.base import RuleContext
from sgl_audit.rules.sources import data_of, server_files, syntax_of

_SCHEME = re.compile(r"^_?is_\w+$")


@dataclass(frozen=True, slots=True)
class Chain:
    """One function that asks for schemes one after the other and raises at the end."""

    file: str
    function: str
    asks: tuple[str, ...]
    end: Place


def chains(context: RuleContext) -> tuple[Chain, ...]:
    """The chains of checkpoint schemes in quantization layers that end in an error."""
    return context.once(_find_chains)


def _find_chains(context: RuleContext) -> tuple[Chain, ...]:
    found: list[Chain] = []
    for file in server_files(context):
        if "/quantization/" not in file or data_of(context, file).count(b"._is_") < 2:
            continue
        tree = syntax_of(context, file)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.FunctionDef):
                chain = chain_of(file, node)
                if chain is not None:
                    found.append(chain)
    return tuple(found)


def chain_of(file: str, node: ast.FunctionDef) -> Chain | None:
    end = _last(node.body)
    if not isinstance(end, ast.Raise):
        return None
    asks = [
        call.func.attr
        for item in ast.walk(node)
        if isinstance(item, ast.If)
        for call in ast.walk(item.test)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and _SCHEME.match(call.func.attr)
        and len(call.args) > 1
    ]
    names = tuple(dict.fromkeys(asks))
    return (
        Chain(file, node.name, names, Place(file, end.lineno, end.col_offset))
        if (len(names) > 1)
        else None
    )


def _last(body: list[ast.stmt]) -> ast.stmt:
    """The statement a function ends in when no branch was taken."""
    last = body[-1]
    return _last(last.orelse) if isinstance(last, ast.If) and last.orelse else last
