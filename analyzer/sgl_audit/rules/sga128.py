"""SGA128: choice handed on to a library."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from sgl_audit.model.capability import BY_NAME
from sgl_audit.model.report import Finding, Severity
from sgl_audit.model.source import Place
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.families import nvidia
from sgl_audit.rules.findings import finding, link, ordered
from sgl_audit.rules.sources import data_of, server_files, syntax_of

_LIBRARY = "flashinfer"
_ARGS = "class ServerArgs:\n    attention_backend: str = None\n"
_LAYER = """
from flashinfer import mm_fp4


def fp4_linear(x, weight):
    return mm_fp4(x, weight, backend="{backend}")
"""


@dataclass(frozen=True, slots=True)
class HandedOn:
    """One call that leaves the backend to the library."""

    name: str
    function: str
    place: Place


class ChoiceHandedOn(Rule):
    """A call leaves it to the library which kernel runs.

    *What it does*
        Finds calls of functions imported from FlashInfer with `backend="auto"`,
        and says in which order FlashInfer tries its backends on each capability
        where its source was read.

    *Why it is bad*
        SGLang's own report shows no backend, and a new release of the library,
        of cuDNN or of CUDA changes the kernel without a line of SGLang.

    *Known limits*
        Only calls that write the literal. What a value from an option becomes
        is shown by `resolve`.

    *What to do instead*
        Name the backend, where an option leads to the call.

    *Seen in*
        Dense NVFP4 on B200 with 0.5.8 (sgl-project/sglang#17309).
    """

    id = "SGA128"
    title = "choice of a kernel is left to the library"
    severity = Severity.NOTE
    INVALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/layers/quantization/fp4_utils.py": _LAYER.format(backend="auto"),
        },
    )
    VALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/layers/quantization/fp4_utils.py": _LAYER.format(backend="cudnn"),
        },
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        seen: set[tuple[str, str, str]] = set()
        for item in _handed_on(context):
            key = (item.place.file, item.function, item.name)
            if key not in seen:
                seen.add(key)
                order = _order(context, item.name)
                yield finding(
                    self,
                    capabilities=ordered(nvidia(context.capabilities)),
                    place=item.place,
                    function=item.function,
                    line=item.name,
                    value="auto",
                    message=f"{item.function} calls FlashInfer's {item.name} with backend auto, so "
                    f"FlashInfer chooses the kernel{order}",
                    chain=(link(context, f"{item.name} is called here", item.place),),
                )


def _order(context: RuleContext, name: str) -> str:
    """What the library tries first on each capability asked, as its source says."""
    for item in context.kernels.functions if context.kernels is not None else ():
        if item.name.rpartition(".")[2] == name and item.auto:
            found = {order.number: order.backends for order in item.auto}
            parts = [
                f"{cap}: {backends[0]}"
                for cap in ordered(nvidia(context.capabilities))
                if (backends := found.get(BY_NAME[cap].number))
            ]
            return f" ({', '.join(parts)})" if parts else ""
    return ""


def _handed_on(context: RuleContext) -> Iterator[HandedOn]:
    for file in server_files(context):
        data = data_of(context, file)
        if b'backend="auto"' not in data or _LIBRARY.encode() not in data:
            continue
        tree = syntax_of(context, file)
        names = _imported(tree) if tree is not None else set()
        for node in ast.walk(tree) if tree is not None and names else ():
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for inner in ast.walk(node):
                    match inner:
                        case ast.Call(func=ast.Name(id=name), keywords=given):
                            if name in names and any(map(_leaves, given)):
                                place = Place(file, inner.lineno, inner.col_offset)
                                yield HandedOn(name, node.name, place)


def _imported(tree: ast.Module) -> set[str]:
    return {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_LIBRARY)
        for alias in node.names
    }


def _leaves(given: ast.keyword) -> bool:
    match given:
        case ast.keyword(arg="backend", value=ast.Constant(value="auto")):
            return True
    return False
