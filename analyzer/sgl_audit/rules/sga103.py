"""SGA103: `auto` that nobody decides on a capability."""

from __future__ import annotations

from collections.abc import Iterator

from sgl_audit.model.guard import text_of
from sgl_audit.model.report import Finding, Severity
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.choosing import selections
from sgl_audit.rules.findings import finding, link, ordered
from sgl_audit.rules.gaps import Gap, gap_ways_out, quantizations_named, widen
from sgl_audit.rules.layers import moe_layers
from sgl_audit.rules.options import flag_of
from sgl_audit.rules.sga107 import enums_of_options

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


class AutoUndecided(Rule):
    """`auto` becomes a backend on some capabilities only, and the layer has no arm for `auto`.

    *What it does*
        For every place that turns `auto` into a backend for a quantization,
        asks on which other capabilities no place does so for the same models,
        and reports those on which `auto` reaches a layer whose method makes no
        runner for it.

    *Why it is bad*
        What runs then is whatever the layer ends in: a path meant for something
        else, a slow one, or none.

    *Known limits*
        Only layers whose configuration class names its quantization are
        followed, and only by the method that makes the runner.

    *What to do instead*
        Name the backend.

    *Seen in*
        NVFP4 experts on SM120 in 0.5.9: only SM100 has a branch.
    """

    id = "SGA103"
    title = "`auto` left undecided on a capability"
    severity = Severity.WARNING
    compares = True
    INVALID = ({**_TREE, "sglang/srt/layers/quantization/fp4.py": _LAYER},)
    VALID = ({**_TREE, "sglang/srt/layers/quantization/fp4.py": _LAYER + _FALLBACK},)

    def check(self, context: RuleContext) -> Iterator[Finding]:
        gaps: dict[tuple[str, str, str], Gap] = {}
        layers = moe_layers(context)
        for option, _ in enums_of_options(context):
            if option.default != "auto" or "moe" not in option.name:
                continue
            for selection in selections(context):
                if selection.option.name == option.name:
                    for quantization in sorted(quantizations_named(context, selection)):
                        for layer in layers.get(quantization, ()):
                            if not layer.settled:
                                key = (option.name, quantization, layer.name)
                                gap = gaps.setdefault(key, Gap(option, quantization, layer))
                                widen(context, gap, selection)
        for gap in gaps.values():
            if gap.capabilities:
                yield self._report(context, gap)

    def _report(self, context: RuleContext, gap: Gap) -> Finding:
        option, layer = gap.option, gap.layer
        names = ordered(gap.capabilities)
        values = gap_ways_out(context, gap, names[0])
        flag = flag_of(option)
        return finding(
            self,
            capabilities=names,
            place=layer.place,
            function=layer.name,
            line=gap.quantization,
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
