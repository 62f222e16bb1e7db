"""SGA123: decision that rests on a value which a later step changes."""

from __future__ import annotations

from collections.abc import Iterator

from sgl_audit.model.facts import Decision
from sgl_audit.model.guard import text_of
from sgl_audit.model.report import Finding, Severity
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.findings import finding, link
from sgl_audit.rules.models import specific
from sgl_audit.rules.options import flag_of, options_by_name
from sgl_audit.rules.stale import Stale, deciding, stale_readings
from sgl_audit.rules.wording import conditions

_ARGS = """
from sglang.srt.utils import is_sm100

ATTENTION_CHOICES = ["triton", "flashinfer", "trtllm_mha"]
MOE_CHOICES = ["auto", "triton", "flashinfer_trtllm"]


class ServerArgs:
    attention_backend: str = "flashinfer"
    moe_runner_backend: str = "auto"

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--attention-backend", choices=ATTENTION_CHOICES)
        parser.add_argument("--moe-runner-backend", choices=MOE_CHOICES, default="auto")

    def __post_init__(self):
        self.{first}()
        self.{second}()

    def _handle_moe(self):
        if self.attention_backend == "flashinfer":
            self.moe_runner_backend = "triton"

    def _handle_attention(self):
        if is_sm100():
            self.attention_backend = "trtllm_mha"
"""
_UTILS = """
import torch


def is_sm100():
    return torch.cuda.get_device_capability()[0] == 10
"""


class StaleDecision(Rule):
    """A decision reads an option before the step that still changes it.

    *What it does*
        Takes every place that gives an option a value under a test of another
        option's value, and every later step of the same launch that gives that
        other option a value for which the test comes out otherwise.

    *Why it is bad*
        What was decided was right for a value that the launch does not run
        with: two settings end up together that nobody chose together.

    *Known limits*
        Later is known for lines of one function, for the steps that the
        beginning of a launch calls in turn, for functions that one decorator
        files as steps, and for layers after the server's arguments.

    *What to do instead*
        Pass both options.

    *Seen in*
        Nowhere yet: only the order of the steps shows it.
    """

    id = "SGA123"
    title = "decision on a value that a later step changes"
    severity = Severity.WARNING
    INVALID = (
        {
            "sglang/srt/server_args.py": _ARGS.format(
                first="_handle_moe", second="_handle_attention"
            ),
            "sglang/srt/utils.py": _UTILS,
        },
    )
    VALID = (
        {
            "sglang/srt/server_args.py": _ARGS.format(
                first="_handle_attention", second="_handle_moe"
            ),
            "sglang/srt/utils.py": _UTILS,
        },
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for item in stale_readings(context, deciding(context)):
            if isinstance(item.reading, Decision):
                yield self._report(context, item, item.reading)

    def _report(self, context: RuleContext, item: Stale, reading: Decision) -> Finding:
        later, other = item.later, item.later.option
        option = options_by_name(context)[reading.option]
        marks = [literal for literal in item.way.literals if specific(context, literal)]
        flags = [flag for flag in (flag_of(option), flag_of(other)) if flag]
        return finding(
            self,
            capabilities=item.capabilities,
            place=reading.place,
            function=reading.function,
            line=f"{reading.excerpt} {other.name} {later.value}",
            option=reading.option,
            value=str(reading.literal),
            message=f"{reading.option} = {reading.literal} is decided by `{item.atom.text}`, and "
            f"{other.name} becomes {later.value} only afterwards",
            when=conditions(marks),
            remedy=f"pass {' and '.join(flags)}" if flags else "",
            chain=(
                link(context, f"decided when {text_of(reading.guard)}", reading.place),
                link(context, f"then {other.name} becomes {later.value}", later.place),
            ),
        )
