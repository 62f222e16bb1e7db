"""SGA126: runner refuses what a model is built with, where the capability selects it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from sgl_audit.model.report import Finding, Severity
from sgl_audit.model.source import Place
from sgl_audit.rules.automatic import late_one
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.chosen import chosen
from sgl_audit.rules.findings import finding, link
from sgl_audit.rules.options import flag_of, options_by_name
from sgl_audit.rules.reach import Reach, reach_of
from sgl_audit.rules.sources import data_of, server_files, syntax_of
from sgl_audit.rules.ways import ways
from sgl_audit.rules.wording import several

_OPTION = "moe_runner_backend"
_ARGS = """
from sglang.srt.utils import is_sm100

MOE_CHOICES = ["auto", "triton", "flashinfer_trtllm"]


class ServerArgs:
    moe_runner_backend: str = "auto"

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--moe-runner-backend", choices=MOE_CHOICES, default="auto")

    def __post_init__(self):
        if self.moe_runner_backend == "auto" and is_sm100():
            self.moe_runner_backend = "flashinfer_trtllm"
"""
_UTILS = """
import torch


def is_sm100():
    return torch.cuda.get_device_capability()[0] == 10
"""
_RUNNER = """
def run_flashinfer_trtllm(config, hidden_states):
    assert not config.apply_router_weight_on_input, "not supported"
    return kernel(hidden_states)
"""
_MODEL = """
class MoE:
    def __init__(self):
        self.experts = FusedMoE(num_experts=8, apply_router_weight_on_input={value})
"""


@dataclass(frozen=True, slots=True)
class Demand:
    """A runner's assertion that a flag of the experts is off."""

    flag: str
    value: str
    place: Place
    function: str


class FlagAgainstRunner(Rule):
    """A model builds its experts with a flag that the runner chosen for the card asserts is off.

    *What it does*
        Finds assertions in runners of experts that a flag is off, models that
        construct their experts with the flag on, and the capabilities on which
        the tree picks that runner by itself.

    *Why it is bad*
        The model loads, and the first forward pass stops in the assertion, on
        those cards only.

    *Known limits*
        A runner is recognised by its value in the name of the function or file.
        Whether the model's quantization leads to that runner is not asked.

    *What to do instead*
        Pass another runner.

    *Seen in*
        Router weights on the input with FlashInfer's CUTLASS experts
        (sgl-project/sglang#24692).
    """

    id = "SGA126"
    title = "runner refuses a flag that a model sets"
    severity = Severity.NOTE
    INVALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/utils.py": _UTILS,
            "sglang/srt/layers/moe/runner.py": _RUNNER,
            "sglang/srt/models/a.py": _MODEL.format(value="True"),
        },
    )
    VALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/utils.py": _UTILS,
            "sglang/srt/layers/moe/runner.py": _RUNNER,
            "sglang/srt/models/a.py": _MODEL.format(value="False"),
        },
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        picked = _picked(context)
        found = list(_demands(context)) if picked else []
        flags = {item.flag for item in found}
        models = _models(context, flags) if flags else {}
        for item in found:
            sites = models.get(item.flag, [])
            names = picked.get(item.value, [])
            if sites and names:
                yield self._report(context, item, sites, names)

    def _report(
        self, context: RuleContext, item: Demand, sites: list[Place], names: list[str]
    ) -> Finding:
        files = [site.file.rpartition("/")[2].removesuffix(".py") for site in sites]
        flag = flag_of(options_by_name(context)[_OPTION])
        return finding(
            self,
            capabilities=names,
            place=item.place,
            function=item.function,
            line=item.flag,
            option=_OPTION,
            value=item.value,
            message=f"{item.function} asserts that {item.flag} is off, and {several(files)} "
            f"build{'s' if len(files) == 1 else ''} experts with it on; {item.value} is picked "
            "there by itself",
            remedy=f"another value of {flag}" if flag else "",
            chain=(
                link(context, f"{item.function} asserts it", item.place),
                *(link(context, f"{item.flag} is set", site) for site in sites[:4]),
            ),
        )


def _picked(context: RuleContext) -> dict[str, list[str]]:
    """Runner -> the capabilities on which the tree comes to it without a flag, by the machine."""
    found: dict[str, list[str]] = {}
    for selection in chosen(context):
        if selection.option.name != _OPTION or selection.declared:
            continue
        for name in context.capabilities:
            for way in ways(context, selection.guard, name):
                free = reach_of(context, way.literals) <= Reach.MODEL
                if way.certain and free and (way.machine or late_one(selection)):
                    names = found.setdefault(selection.value, [])
                    if name not in names:
                        names.append(name)
    return found


def _demands(context: RuleContext) -> Iterator[Demand]:
    option = options_by_name(context).get(_OPTION)
    values = sorted((str(value) for value in (option.choices if option else None) or ()), key=len)
    for file in server_files(context):
        if "/moe/" not in file or b"assert not" not in data_of(context, file):
            continue
        tree = syntax_of(context, file)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.FunctionDef):
                text = f"{file.rpartition('/')[2]} {node.name}"
                # The longest value: `flashinfer_trtllm_routed` is not `flashinfer_trtllm`.
                value = next((item for item in reversed(values) if item in text), None)
                for flag, place in _asserted(file, node) if value else ():
                    yield Demand(flag, value or "", place, node.name)


def _asserted(file: str, node: ast.FunctionDef) -> Iterator[tuple[str, Place]]:
    for inner in ast.walk(node):
        match inner:
            case ast.Assert(
                test=ast.UnaryOp(op=ast.Not(), operand=ast.Attribute(attr=flag) | ast.Name(id=flag))
            ):
                yield flag, Place(file, inner.lineno, inner.col_offset)


def _models(context: RuleContext, flags: set[str]) -> dict[str, list[Place]]:
    """Flag -> the places at which a model sets it on."""
    found: dict[str, list[Place]] = {}
    words = [flag.encode() for flag in flags]
    for file in server_files(context):
        data = data_of(context, file) if "/models/" in file else b""
        if not any(word in data for word in words):
            continue
        tree = syntax_of(context, file)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Call):
                for given in node.keywords:
                    match given:
                        case ast.keyword(arg=str() as flag, value=ast.Constant(value=True)):
                            if flag in flags:
                                place = Place(file, node.lineno, node.col_offset)
                                found.setdefault(flag, []).append(place)
    return found
