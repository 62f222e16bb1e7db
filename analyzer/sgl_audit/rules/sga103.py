"""SGA103: `auto` that nobody decides on a capability."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sgl_audit.model.facts import Option
from sgl_audit.model.guard import text_of
from sgl_audit.model.report import Finding, Severity
from sgl_audit.rules.atoms import vocabulary
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.choosing import Selection, selections
from sgl_audit.rules.findings import finding, link, ordered
from sgl_audit.rules.layers import MoeLayer, moe_layers, unusable
from sgl_audit.rules.options import flag_of
from sgl_audit.rules.refusing import refused
from sgl_audit.rules.sga107 import enums_of_options
from sgl_audit.rules.ways import Way, demands, possible, ways

_ARGS = """
from sglang.srt.utils import is_sm100_supported

MOE_CHOICES = ["auto", "triton", "flashinfer_trtllm", "flashinfer_cutlass"]


class ServerArgs:
    moe_runner_backend: str = "auto"
    quantization: str = None

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--moe-runner-backend", choices=MOE_CHOICES, default="auto")
        parser.add_argument("--quantization", choices=["modelopt_fp4", "fp8"])

    def __post_init__(self):
        if self.quantization == "modelopt_fp4" and self.moe_runner_backend == "auto":
            if is_sm100_supported():
                self.moe_runner_backend = "flashinfer_trtllm"
"""
_UTILS = """
import torch


def is_sm100_supported():
    return torch.cuda.get_device_capability()[0] == 10
"""
_ENUM = """
from enum import Enum


class MoeRunnerBackend(Enum):
    AUTO = "auto"
    TRITON = "triton"
    FLASHINFER_TRTLLM = "flashinfer_trtllm"
    FLASHINFER_CUTLASS = "flashinfer_cutlass"

    def is_flashinfer_trtllm(self):
        return self == MoeRunnerBackend.FLASHINFER_TRTLLM
"""
_LAYER = """
class Fp4Config:
    def get_name(self):
        return "modelopt_fp4"

    def get_quant_method(self, layer, prefix):
        return Fp4MoEMethod(self)


class Fp4MoEMethod:
    def create_moe_runner(self, layer, config):
        if get_moe_runner_backend().is_flashinfer_trtllm():
            self.runner = MoeRunner(MoeRunnerBackend.FLASHINFER_TRTLLM, config)
"""
_FALLBACK = """        else:
            self.runner = MoeRunner(MoeRunnerBackend.TRITON, config)
"""
_TREE = {
    "sglang/srt/server_args.py": _ARGS,
    "sglang/srt/utils.py": _UTILS,
    "sglang/srt/layers/moe/utils.py": _ENUM,
}


@dataclass(slots=True)
class _Gap:
    """What is not decided for one quantization, and where it is decided elsewhere."""

    option: Option
    quantization: str
    layer: MoeLayer
    capabilities: set[str] = field(default_factory=set)
    deciders: list[Selection] = field(default_factory=list)


class AutoUndecided(Rule):
    """`auto` becomes a backend on some capabilities only, and the layer has no arm for `auto`.

    *What it does*
        For every place that turns `auto` into a backend for a quantization, asks on which other
        capabilities no place does so for the same models, and reports those on which `auto`
        reaches a layer whose method makes no runner for it.

    *Why it is bad*
        What runs then is whatever the layer ends in: a path meant for something else, a slow
        one, or none.

    *Known limits*
        Only layers whose configuration class names its quantization are followed, and only by
        the method that makes the runner.

    *What to do instead*
        Name the backend.

    *Seen in*
        NVFP4 experts on SM120 in 0.5.9: only SM100 has a branch.
    """

    id = "SGA103"
    title = "`auto` left undecided on a capability"
    severity = Severity.WARNING
    INVALID = ({**_TREE, "sglang/srt/layers/quantization/fp4.py": _LAYER},)
    VALID = ({**_TREE, "sglang/srt/layers/quantization/fp4.py": _LAYER + _FALLBACK},)

    def check(self, context: RuleContext) -> Iterator[Finding]:
        gaps: dict[tuple[str, str, str], _Gap] = {}
        layers = moe_layers(context)
        for option, _ in enums_of_options(context):
            if option.default != "auto" or "moe" not in option.name:
                continue
            for selection in selections(context):
                if selection.option.name == option.name:
                    for quantization in sorted(_quantizations(context, selection)):
                        for layer in layers.get(quantization, ()):
                            if not layer.settled:
                                key = (option.name, quantization, layer.name)
                                gap = gaps.setdefault(key, _Gap(option, quantization, layer))
                                _widen(context, gap, selection)
        for gap in gaps.values():
            if gap.capabilities:
                yield self._report(context, gap)

    def _report(self, context: RuleContext, gap: _Gap) -> Finding:
        option, layer = gap.option, gap.layer
        names = ordered(gap.capabilities)
        values = _ways_out(context, gap, names[0])
        flag = flag_of(option)
        return finding(
            self,
            capabilities=names,
            place=layer.place,
            function=layer.name,
            option=option.name,
            value="auto",
            message=f"no branch decides {option.name} for {gap.quantization} on these "
            f"capabilities, so `auto` survives to run time, where {layer.name} makes no runner "
            "for it and falls through to its last path",
            when=f"quantization is {gap.quantization}",
            remedy=f"{flag} {values[0]}" if flag and values else "",
            chain=(
                link(context, f"{option.name} defaults to auto", option.place),
                *(
                    link(context, f"becomes {s.value} only if {text_of(s.guard)}", s.place)
                    for s in gap.deciders[:4]
                ),
                link(context, f"{layer.name} makes a runner for some values only", layer.place),
            ),
        )


def _quantizations(context: RuleContext, selection: Selection) -> set[str]:
    """The quantizations that a selection is made for by name."""
    found: set[str] = set()
    for capability in context.capabilities:
        for way in ways(context, selection.guard, capability):
            demand = demands(way.literals, vocabulary(context)).get("quantization")
            if demand is not None and demand.allowed is not None:
                left = demand.allowed - demand.excluded
                found |= {value for value in left if isinstance(value, str)}
    return found


def _widen(context: RuleContext, gap: _Gap, selection: Selection) -> None:
    there = {c for c in context.capabilities if ways(context, selection.guard, c)}
    where = [way for c in sorted(there) for way in ways(context, selection.guard, c)][:1]
    missing = {
        capability
        for capability in context.capabilities
        if capability not in there
        and not unusable(context, gap.layer, capability)
        and not any(_decides(context, gap, way, capability) for way in where)
    }
    if missing:
        gap.capabilities |= missing
        gap.deciders.append(selection)


def _decides(context: RuleContext, gap: _Gap, scenario: Way, capability: str) -> bool:
    """Whether some place decides on a capability for the models of a scenario."""
    words = vocabulary(context)
    for other in selections(context):
        if other.option.name != gap.option.name or other.declared:
            continue
        for way in ways(context, other.guard, capability):
            demand = demands(way.literals, words).get("quantization")
            if demand is not None and not demand.admits(gap.quantization):
                continue
            if possible((*scenario.literals, *way.literals), words):
                return True
    return False


def _ways_out(context: RuleContext, gap: _Gap, capability: str) -> list[str]:
    """The values that the tree itself gives the option for the quantization there."""
    words = vocabulary(context)
    found: list[str] = []
    for other in selections(context):
        if other.option.name == gap.option.name and not other.declared:
            for way in ways(context, other.guard, capability):
                demand = demands(way.literals, words).get("quantization")
                if demand is not None and gap.quantization in (demand.allowed or ()):
                    found.append(other.value)
    unique = list(dict.fromkeys(found))
    return [v for v in unique if not refused(context, gap.option, v, capability)]
