"""SGA113: automatic value that an advisory speaks against."""

from __future__ import annotations

from collections.abc import Iterator

from sgl_audit.model.guard import text_of
from sgl_audit.model.report import Finding, Severity
from sgl_audit.rules.advised import only_for, said_of, vouched
from sgl_audit.rules.automatic import Advised, advised, marks_of, undecided_of
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.findings import finding, link
from sgl_audit.rules.layers import quantizations_of
from sgl_audit.rules.options import UNDECIDED, flag_of
from sgl_audit.rules.refusing import turned_away
from sgl_audit.rules.wording import conditions

_ARGS = """
from sglang.srt.utils import is_blackwell, is_sm100

MOE_CHOICES = ["auto", "triton", "flashinfer_trtllm"]


class ServerArgs:
    moe_runner_backend: str = "auto"

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--moe-runner-backend", choices=MOE_CHOICES, default="auto")

    def __post_init__(self):
        if self.moe_runner_backend == "auto" and {gate}():
            self.moe_runner_backend = "flashinfer_trtllm"
"""
_UTILS = """
import torch


def is_blackwell():
    return torch.cuda.get_device_capability()[0] in (10, 12)


def is_sm100():
    return torch.cuda.get_device_capability()[0] == 10
"""


class AutomaticIsAdvisedAgainst(Rule):
    """The tree comes to a value by itself for which an advisory says that it fails there.

    *What it does*
        Takes every place that gives an option a backend with no flag set (the
        declared default, an override, what a layer or a dispatcher makes of
        `auto`), asks on which capabilities it is reached, and looks the value up
        in the advisories, with the versions that this release pins.

    *Why it is bad*
        Nobody asked for the value, the tree does not refuse it, and the kernel
        behind it stops on the first request or gives wrong numbers.

    *Known limits*
        An advisory is what others reported; each says how sure it is. A warning
        where the version of the library is not pinned, where the model decides
        and is not known, or where a condition on the way was not understood.

    *What to do instead*
        Pass another value, as the finding says.

    *Seen in*
        Dense NVFP4 on SM120 with 0.5.9 (sgl-project/sglang#20043), block FP8 on
        SM120 with 0.5.9 (sgl-project/sglang#18870), FP8 experts on SM80
        (sgl-project/sglang#12887), AITER on Radeon (sgl-project/sglang#36867).
    """

    id = "SGA113"
    title = "automatic value that is reported bad on the capability"
    severity = Severity.ERROR
    INVALID = (
        {
            "sglang/srt/server_args.py": _ARGS.format(gate="is_blackwell"),
            "sglang/srt/utils.py": _UTILS,
        },
    )
    VALID = (
        {
            "sglang/srt/server_args.py": _ARGS.format(gate="is_sm100"),
            "sglang/srt/utils.py": _UTILS,
        },
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        groups: dict[tuple[object, ...], list[Advised]] = {}
        for item in advised(context):
            selection = item.selection
            key = (selection.place, selection.option.name, selection.value)
            groups.setdefault((*key, item.hit.advisory.id, item.severity), []).append(item)
        for group in groups.values():
            yield self._report(context, group)

    def _report(self, context: RuleContext, group: list[Advised]) -> Finding:
        first = group[0]
        selection, hit = first.selection, first.hit
        option, value = selection.option, selection.value
        how = "is the declared default" if selection.declared else "is chosen automatically"
        models = (
            conditions(marks_of(context, first)),
            _layers(context, first),
            only_for(hit, first.known),
        )
        others = _others(context, first)
        flag = flag_of(option)
        return finding(
            self,
            capabilities=[item.capability for item in group],
            place=selection.place,
            function=selection.function,
            line=f"{selection.line} {text_of(selection.guard)} {hit.advisory.id} {first.severity}",
            option=option.name,
            value=value,
            message=f"{option.name} = {value} {how}, and {said_of(hit)}: {hit.advisory.effect}",
            when=" and ".join(text for text in models if text),
            remedy=f"{flag} {others[0]}" if flag and others else "",
            chain=(
                link(
                    context,
                    f"{option.name} becomes {value} when {text_of(selection.guard)}",
                    selection.place,
                ),
            ),
            severity=first.severity,
        )


def _layers(context: RuleContext, item: Advised) -> str:
    """Which quantizations a layer is left with, where resolution decides for others before."""
    name = item.selection.function.rpartition(".")[0]
    left = undecided_of(context, item.selection, item.capability)
    every = {layer.quantization for layer in quantizations_of(context, name)}
    return f"quantization is {' or '.join(left)}" if left and set(left) != every else ""


def _others(context: RuleContext, item: Advised) -> list[str]:
    """Values of the option that are said to work there and that the tree does not refuse."""
    option, capability = item.selection.option, item.capability
    choices = [str(choice) for choice in option.choices or () if choice not in UNDECIDED]
    found = vouched(context, option.name, choices, capability, item.known)
    return [value for value in found if not turned_away(context, option, value, capability)]
