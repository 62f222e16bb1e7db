"""SGA127: call that names a library's backend without code for the capability."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sgl_audit.model.capability import BY_NAME
from sgl_audit.model.guard import all_of, text_of
from sgl_audit.model.kernels import Answer
from sgl_audit.model.report import Finding, Severity
from sgl_audit.model.requirements import BackendSupport, FunctionRequirements
from sgl_audit.model.source import Place
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.callers import CallSite, call_sites, entry_guard
from sgl_audit.rules.families import nvidia
from sgl_audit.rules.findings import finding, link, ordered
from sgl_audit.rules.reach import Reach, reach_of
from sgl_audit.rules.sources import data_of, syntax_of
from sgl_audit.rules.ways import ways
from sgl_audit.rules.wording import conditions, several

_LIBRARY = b"flashinfer"
_ARGS = "class ServerArgs:\n    attention_backend: str = None\n"
_UTILS = """
import torch


def is_sm100():
    return torch.cuda.get_device_capability()[0] == 10
"""
_LAYER = """
from flashinfer import mm_fp4

from sglang.srt.utils import is_sm100


def fp4_linear(x, weight):
    if {test}:
        return mm_fp4(x, weight, backend="trtllm")
    return mm_fp4(x, weight, backend="cudnn")
"""


class CallNamesBackend(Rule):
    """A call names a backend of FlashInfer that has no code for a card for which another has.

    *What it does*
        Finds calls of FlashInfer functions with a literal `backend=`, and
        compares what FlashInfer's own source declares for that backend with the
        capabilities on which the call is reached. Reported where the same
        function has another backend for the capability.

    *Why it is bad*
        FlashInfer refuses the call on the first forward pass, although it could
        do the work.

    *Known limits*
        Needs FlashInfer's source; without it nothing is said. Methods are not
        followed to where their objects are made.

    *What to do instead*
        Another value of the option that leads to the function.

    *Seen in*
        Block FP8 on SM120 with 0.5.9 (kvcache-ai/ktransformers#1889): the call
        names `trtllm`.
    """

    id = "SGA127"
    title = "call names a library's backend without code for the capability"
    severity = Severity.WARNING
    INVALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/utils.py": _UTILS,
            "sglang/srt/layers/quantization/fp4_utils.py": _LAYER.format(test="len(x)"),
        },
    )
    VALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/utils.py": _UTILS,
            "sglang/srt/layers/quantization/fp4_utils.py": _LAYER.format(test="is_sm100()"),
        },
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        functions = context.kernels.functions if context.kernels is not None else ()
        for item in functions:
            if not item.backends:
                continue
            for site in call_sites(context, item.name.rpartition(".")[2]):
                found = _named(context, item, site)
                names = _reached(context, site, item, found[0]) if found is not None else []
                if found is not None and names:
                    yield self._report(context, item, site, found, names)

    def _report(
        self,
        context: RuleContext,
        item: FunctionRequirements,
        site: CallSite,
        where: tuple[BackendSupport, Place],
        names: list[str],
    ) -> Finding:
        named, place = where
        number = BY_NAME[names[0]].number
        others = [b.name for b in item.backends if b.support.answer(number) is Answer.YES]
        version = context.kernels.version if context.kernels is not None else None
        held = ordered(n for n in nvidia(BY_NAME) if BY_NAME[n].number in _numbers(named))
        found = ways(context, site.guard, names[0])
        return finding(
            self,
            capabilities=names,
            place=place,
            function=site.function,
            line=f"{item.name} {named.name}",
            value=named.name,
            message=f"{site.function} calls {item.name} with backend {named.name}, which FlashInfer"
            f" {version or ''} declares for {', '.join(held) or 'none'}; {several(others)} would do"
            " there",
            when=conditions(found[0].literals) if found else "",
            chain=(
                link(context, f"called when {text_of(site.guard)}", site.place),
                link(context, f"declared in FlashInfer at {named.support.place or item.place}"),
            ),
        )


def _numbers(named: BackendSupport) -> tuple[int, ...]:
    return named.support.numbers or ()


def _named(
    context: RuleContext, item: FunctionRequirements, site: CallSite
) -> tuple[BackendSupport, Place] | None:
    """The backend that a call of the library's function names literally, and where it does."""
    if _LIBRARY not in data_of(context, site.place.file):
        return None
    tree = syntax_of(context, site.place.file)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Call) and _at(node, site.place):
            for given in node.keywords:
                match given:
                    case ast.keyword(
                        arg="backend", value=ast.Constant(value=str() as name) as value
                    ):
                        named = item.backend(name)
                        place = Place(site.place.file, value.lineno, value.col_offset)
                        return (named, place) if named is not None else None
    return None


def _at(node: ast.Call, place: Place) -> bool:
    return (node.lineno, node.col_offset) == (place.line, place.column)


def _reached(
    context: RuleContext, site: CallSite, item: FunctionRequirements, named: BackendSupport
) -> list[str]:
    """The capabilities without code for the backend on which the call can be reached."""
    guard = all_of(entry_guard(context, site.place.file, site.function), site.guard)
    return [
        name
        for name in nvidia(context.capabilities)
        if named.support.answer(BY_NAME[name].number) is Answer.NO
        and any(b.support.answer(BY_NAME[name].number) is Answer.YES for b in item.backends)
        and any(
            reach_of(context, way.literals) is not Reach.FLAG for way in ways(context, guard, name)
        )
    ]
