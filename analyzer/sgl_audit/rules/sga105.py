"""SGA105: an `else` that sweeps a capability into a choice made for another."""

from __future__ import annotations

from collections.abc import Iterator

from sgl_audit.model.facts import Decision
from sgl_audit.model.guard import text_of
from sgl_audit.model.report import Finding, Severity
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.families import nvidia
from sgl_audit.rules.findings import finding, link, ordered
from sgl_audit.rules.layers import admitted, quantizations_of, unusable
from sgl_audit.rules.options import flag_of, options_by_name
from sgl_audit.rules.picks import decided_early, made_for, picks, swept_by
from sgl_audit.rules.reach import Reach, reach_of
from sgl_audit.rules.ways import ways

_ARGS = """
from sglang.srt.utils import is_sm90, is_sm100

MOE_CHOICES = ["auto", "triton", "flashinfer_trtllm"]


class ServerArgs:
    moe_runner_backend: str = "auto"
    quantization: str = None

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--moe-runner-backend", choices=MOE_CHOICES, default="auto")

    def __post_init__(self):
        if self.quantization == "fp8" and is_sm100():
            self.moe_runner_backend = "flashinfer_trtllm"
        elif self.quantization == "mxfp8" and is_sm100():
            self.moe_runner_backend = "flashinfer_trtllm"
        elif self.quantization == "modelopt_fp8" and is_sm100():
            self.moe_runner_backend = "flashinfer_trtllm"
        if self.quantization == "modelopt_fp4":
            if is_sm90():
                self.moe_runner_backend = "triton"
            {rest}:
                self.moe_runner_backend = "flashinfer_trtllm"
"""
_UTILS = """
import torch


def is_sm90():
    return torch.cuda.get_device_capability()[0] == 9


def is_sm100():
    return torch.cuda.get_device_capability()[0] == 10
"""


class SweepingElse(Rule):
    """What is left after some capabilities were named gets a value that is made for one of them.

    *What it does*
        Finds places that pick a backend only because the capability is none of
        those asked before, where the tree itself picks the same backend, at two
        places or more, by name of other capabilities.

    *Why it is bad*
        A capability that nobody thought of gets a kernel of another generation.

    *Known limits*
        Needs the tree's own evidence of what the value is for; without two such
        places it says nothing.

    *What to do instead*
        Name a backend that is known to run on the capability.

    *Seen in*
        NVFP4 experts on SM120 from 0.5.15 on: everything that is not SM8x or
        SM90 gets the TensorRT-LLM kernels.
    """

    id = "SGA105"
    title = "`else` sweeps a capability into a choice made for another"
    severity = Severity.WARNING
    compares = True
    INVALID = (
        {"sglang/srt/server_args.py": _ARGS.format(rest="else"), "sglang/srt/utils.py": _UTILS},
    )
    VALID = (
        {
            "sglang/srt/server_args.py": _ARGS.format(rest="elif is_sm100()"),
            "sglang/srt/utils.py": _UTILS,
        },
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for pick in picks(context):
            meant = made_for(context, pick.option, str(pick.literal))
            swept = _swept(context, pick) - meant if meant else frozenset()
            if swept:
                yield self._report(context, pick, swept, meant)

    def _report(
        self, context: RuleContext, pick: Decision, swept: frozenset[str], meant: frozenset[str]
    ) -> Finding:
        value = str(pick.literal)
        option = options_by_name(context).get(pick.option)
        flag = flag_of(option) if option is not None else ""
        return finding(
            self,
            capabilities=swept,
            place=pick.place,
            function=pick.function,
            line=pick.excerpt,
            option=option.name if option is not None else None,
            value=value,
            message=f"{pick.option} = {value} is what is left when the capability is none of "
            f"those asked before; elsewhere the tree picks it for {', '.join(ordered(meant))} only",
            when=_when(context, pick, swept),
            remedy=f"name a value with {flag}" if flag else "",
            chain=(
                link(
                    context,
                    f"{pick.option} becomes {value} when {text_of(pick.guard)}",
                    pick.place,
                ),
                *(
                    link(context, f"picked when {text_of(item.guard)}", item.place)
                    for item in _named(context, pick)[:3]
                ),
            ),
        )


def _swept(context: RuleContext, pick: Decision) -> frozenset[str]:
    """The NVIDIA capabilities that get to a place by elimination only."""
    found: set[str] = set()
    owner = pick.function.rpartition(".")[0]
    for capability in nvidia(context.capabilities):
        every = ways(context, pick.guard, capability)
        reaches = [reach_of(context, way.literals) for way in every if way.certain]
        reached = min(reaches, default=Reach.FLAG) is not Reach.FLAG
        by_rest = all(swept_by(way) for way in every)
        if reached and by_rest and not _never_there(context, pick, owner, capability):
            found.add(capability)
    return frozenset(found)


def _never_there(context: RuleContext, pick: Decision, owner: str, capability: str) -> bool:
    """Whether a layer's pick is not reached: the layer is refused, or the value decided before."""
    if not owner:
        return False
    if unusable(context, owner, capability):
        return True
    known = quantizations_of(context, owner)
    return bool(known) and not _open_quantizations(context, pick, owner, capability)


def _open_quantizations(
    context: RuleContext, pick: Decision, owner: str, capability: str
) -> list[str]:
    """The quantizations of a layer for which nothing decided the value before the layer."""
    return [
        layer.quantization
        for layer in quantizations_of(context, owner)
        if admitted(context, layer, capability)
        and not decided_early(context, pick.option, layer.quantization, capability)
    ]


def _when(context: RuleContext, pick: Decision, swept: frozenset[str]) -> str:
    owner = pick.function.rpartition(".")[0]
    names = {
        name
        for capability in swept
        for name in _open_quantizations(context, pick, owner, capability)
    }
    return f"quantization is {' or '.join(sorted(names))}" if names else ""


def _named(context: RuleContext, pick: Decision) -> list[Decision]:
    """The places that pick the same value for capabilities they name."""
    return [
        item
        for item in picks(context)
        if (item.option, item.literal) == (pick.option, pick.literal)
        and item.place != pick.place
        and not _swept(context, item)
    ]
