"""SGA102: selection gate wider than the preparation gate for the same value."""

from __future__ import annotations

from collections.abc import Iterator

from sgl_audit.model.guard import text_of
from sgl_audit.model.report import Finding, Severity
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.choosing import Selection, selections
from sgl_audit.rules.findings import finding, link, ordered
from sgl_audit.rules.models import specific
from sgl_audit.rules.options import flag_of
from sgl_audit.rules.preparing import Preparation, preparations
from sgl_audit.rules.reach import Reach, reach_of
from sgl_audit.rules.ways import Way, ways
from sgl_audit.rules.wording import conditions

_ARGS = """
from sglang.srt.utils import is_blackwell, is_sm100

MOE_CHOICES = ["auto", "triton", "flashinfer_mxfp4"]


class ServerArgs:
    moe_runner_backend: str = "auto"

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--moe-runner-backend", choices=MOE_CHOICES, default="auto")

    def __post_init__(self):
        if self.moe_runner_backend == "auto" and {gate}():
            self.moe_runner_backend = "flashinfer_mxfp4"
"""
_UTILS = """
import torch


def is_sm100():
    return torch.cuda.get_device_capability()[0] == 10


def is_blackwell():
    return torch.cuda.get_device_capability()[0] in (10, 12)
"""
_ENUM = """
from enum import Enum


class MoeRunnerBackend(Enum):
    AUTO = "auto"
    TRITON = "triton"
    FLASHINFER_MXFP4 = "flashinfer_mxfp4"

    def is_flashinfer_mxfp4(self):
        return self == MoeRunnerBackend.FLASHINFER_MXFP4
"""
_LAYER = """
from sglang.srt.utils import is_sm100


class Mxfp4Method:
    def __init__(self):
        self.use_flashinfer = get_moe_runner_backend().is_flashinfer_mxfp4()

    def create_weights(self, layer, size):
        if is_sm100():
            if self.use_flashinfer:
                size = round_up(size, 256)
        return size
"""
_TREE = {
    "sglang/srt/utils.py": _UTILS,
    "sglang/srt/layers/moe/utils.py": _ENUM,
    "sglang/srt/layers/quantization/mxfp4.py": _LAYER,
}


class SelectionWiderThanPreparation(Rule):
    """A value is chosen on more capabilities than its weights are prepared on.

    *What it does*
        Compares the places that choose a value by themselves with branches in
        layers that test the capability first and only inside ask for that very
        value.

    *Why it is bad*
        On the capabilities in between the kernel gets weights in a layout or
        size that it was not made for: an assertion while loading, or wrong
        numbers.

    *Known limits*
        Only questions kept in an attribute of the layer are followed. That the
        unprepared weights really fail is not proven by the tree, so this is a
        warning.

    *What to do instead*
        Pass another value of the option.

    *Seen in*
        GPT-OSS in MXFP4 on SM12x, 0.5.5 to 0.5.9 (sgl-project/sglang#13061):
        chosen on Blackwell, padded on SM100 only.
    """

    id = "SGA102"
    title = "selection gate wider than the preparation gate for the same value"
    severity = Severity.WARNING
    compares = True
    INVALID = ({**_TREE, "sglang/srt/server_args.py": _ARGS.format(gate="is_blackwell")},)
    VALID = ({**_TREE, "sglang/srt/server_args.py": _ARGS.format(gate="is_sm100")},)

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for preparation in preparations(context):
            for selection in selections(context):
                if selection.option.name != preparation.option or selection.declared:
                    continue
                if selection.value == preparation.value:
                    wide = _chosen_on(context, selection)
                    names = [name for name in wide if not ways(context, preparation.guard, name)]
                    if names and len(names) < len(wide):
                        yield self._report(context, selection, preparation, names, wide[names[0]])

    def _report(
        self,
        context: RuleContext,
        selection: Selection,
        preparation: Preparation,
        names: list[str],
        way: Way,
    ) -> Finding:
        option, value = selection.option, selection.value
        marks = [literal for literal in way.literals if specific(context, literal)]
        return finding(
            self,
            capabilities=names,
            place=selection.place,
            function=selection.function,
            line=selection.line + preparation.line,
            option=option.name,
            value=value,
            message=f"{option.name} = {value} is chosen here, but {preparation.function} prepares "
            f"for it only on {', '.join(_prepared_on(context, preparation))}",
            when=conditions(marks),
            remedy=f"another value of {flag_of(option)}" if flag_of(option) else "",
            chain=(
                link(
                    context,
                    f"{option.name} becomes {value} when {text_of(selection.guard)}",
                    selection.place,
                ),
                link(
                    context,
                    f"{preparation.function} branches on {text_of(preparation.guard)}",
                    preparation.place,
                ),
                link(context, f"here it asks for {value}", preparation.asks),
            ),
        )


def _chosen_on(context: RuleContext, selection: Selection) -> dict[str, Way]:
    """The capabilities on which a value is chosen with no flag set, each with one way to it."""
    found: dict[str, Way] = {}
    for capability in context.capabilities:
        for way in ways(context, selection.guard, capability):
            if way.certain and reach_of(context, way.literals) is not Reach.FLAG:
                found.setdefault(capability, way)
    return found


def _prepared_on(context: RuleContext, preparation: Preparation) -> tuple[str, ...]:
    return ordered(c for c in context.capabilities if ways(context, preparation.guard, c))
