"""SGA119: dispatcher that does not know what the setting has become."""

from __future__ import annotations

from collections.abc import Iterator

from sgl_audit.model.facts import Option
from sgl_audit.model.report import Finding, Severity
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.choosing import Selection
from sgl_audit.rules.chosen import called_like, chosen
from sgl_audit.rules.dispatchers import Dispatcher, dispatched, dispatchers
from sgl_audit.rules.findings import finding, link
from sgl_audit.rules.options import flag_of
from sgl_audit.rules.reach import Reach, reach_of
from sgl_audit.rules.refusing import turned_away
from sgl_audit.rules.ways import ways
from sgl_audit.rules.wording import several

_ARGS = """
FP8_CHOICES = ["auto", "triton", "flashinfer_cutlass"]


class ServerArgs:
    fp8_gemm_runner_backend: str = "auto"

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--fp8-gemm-backend", dest="fp8_gemm_runner_backend",
                            choices=FP8_CHOICES, default="auto")
"""
_UTILS = """
import torch


def is_sm120():
    return torch.cuda.get_device_capability()[0] == 12
"""
_LAYER = """
from enum import Enum

from sglang.srt.utils import is_sm120


class Fp8GemmRunnerBackend(Enum):
    AUTO = "auto"
    TRITON = "triton"
    FLASHINFER_CUTLASS = "flashinfer_cutlass"

    def is_auto(self):
        return self == Fp8GemmRunnerBackend.AUTO

    def is_triton(self):
        return self == Fp8GemmRunnerBackend.TRITON

    def is_flashinfer_cutlass(self):
        return self == Fp8GemmRunnerBackend.FLASHINFER_CUTLASS


def initialize_fp8_gemm_config(server_args):
    backend = server_args.fp8_gemm_runner_backend
    if backend == "auto" and is_sm120():
        backend = "triton"
    return Fp8GemmRunnerBackend(backend)


def dispatch_fp8_linear(backend: Fp8GemmRunnerBackend):
    if backend.is_flashinfer_cutlass():
        return flashinfer_fp8_linear
    if backend.is_triton():
        return triton_fp8_linear
    return torch_fp8_linear


def dispatch_mxfp8_linear(backend: Fp8GemmRunnerBackend):
    if backend.is_flashinfer_cutlass(){more}:
        return flashinfer_mxfp8_linear
    return triton_mxfp8_linear
"""


class StaleDispatcher(Rule):
    """A dispatcher asks a setting for values, and the tree has made another one of it.

    *What it does*
        Finds functions that return one kernel per backend and a last one for
        everything else, where the tree turns `auto` into a value on a
        capability that another such function of the file knows and this one
        does not, though one that it knows is admitted there.

    *Why it is bad*
        One setting serves two formats. What was decided for the first sends the
        second to its last path, often many times slower.

    *Known limits*
        That the last path is the slower one is not in the tree: a note.

    *What to do instead*
        Name the backend that the dispatcher knows.

    *Seen in*
        Dense MXFP8 on SM120 in 0.5.15 (sgl-project/sglang#33208).
    """

    id = "SGA119"
    title = "dispatcher does not know what the setting becomes on a capability"
    severity = Severity.NOTE
    INVALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/utils.py": _UTILS,
            "sglang/srt/layers/quantization/fp8_utils.py": _LAYER.format(more=""),
        },
    )
    VALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/utils.py": _UTILS,
            "sglang/srt/layers/quantization/fp8_utils.py": _LAYER.format(
                more=" or backend.is_triton()"
            ),
        },
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        every = dispatchers(context)
        # What a dispatcher comes to is no value of the setting.
        own = {item.returned.place for item in dispatched(context)}
        for item in every:
            beside = {v for o in every if o.file == item.file and o != item for v in o.values}
            for selection in chosen(context):
                value = selection.value
                if (
                    selection.place in own
                    or value in item.values
                    or value not in beside
                    or item.last is None
                ):
                    continue
                option = called_like(context, f"{item.file} {item.function}", value)
                if option != selection.option or selection.function == item.function:
                    continue
                if not set(item.values) <= set(option.choices or ()):
                    # It asks another setting that happens to share some names.
                    continue
                names = _becomes(context, selection)
                better = {name: _admitted(context, option, item, name) for name in names}
                found = [name for name in names if better[name]]
                if found:
                    yield self._report(context, item, selection, found, better[found[0]])

    def _report(
        self,
        context: RuleContext,
        item: Dispatcher,
        selection: Selection,
        names: list[str],
        better: list[str],
    ) -> Finding:
        assert item.last is not None
        option, flag = selection.option, flag_of(selection.option)
        return finding(
            self,
            capabilities=names,
            place=item.last.place,
            function=item.function,
            line=item.last.name + selection.value,
            option=option.name,
            value=selection.value,
            message=f"{option.name} becomes {selection.value} there, which {item.function} does "
            f"not ask for: it returns {item.last.name}, though {several(better)} is admitted",
            remedy=f"{flag} {better[0]}" if flag else "",
            chain=(
                link(context, f"{option.name} becomes {selection.value}", selection.place),
                link(context, f"{item.function} ends in {item.last.name}", item.last.place),
            ),
        )


def _becomes(context: RuleContext, selection: Selection) -> list[str]:
    """The capabilities on which the tree gives the option the value whatever the model."""
    return [
        name
        for name in context.capabilities
        for way in ways(context, selection.guard, name)[:1]
        if way.certain and way.machine and reach_of(context, way.literals) is Reach.DEFAULT
    ]


def _admitted(context: RuleContext, option: Option, item: Dispatcher, name: str) -> list[str]:
    return [value for value in item.values if not turned_away(context, option, value, name)]
