"""SGA124: refusal of a value that the option only comes to later."""

from __future__ import annotations

from collections.abc import Iterator

from sgl_audit.model.facts import Rejection
from sgl_audit.model.guard import text_of
from sgl_audit.model.report import Finding, Severity
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.findings import finding, link
from sgl_audit.rules.stale import Stale, refusing, stale_readings
from sgl_audit.rules.wording import conditions, shortened

_ARGS = """
from sglang.srt.utils import is_sm120

ATTENTION_CHOICES = ["triton", "flashinfer", "trtllm_mha"]
KV_CHOICES = ["auto", "fp8_e4m3", "bfloat16"]


class ServerArgs:
    attention_backend: str = "trtllm_mha"
    kv_cache_dtype: str = "auto"

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--attention-backend", choices=ATTENTION_CHOICES)
        parser.add_argument("--kv-cache-dtype", choices=KV_CHOICES, default="auto")

    def __post_init__(self):
        self.{first}()
        self.{second}()

    def _check_attention(self):
        if self.kv_cache_dtype == "fp8_e4m3" and is_sm120():
            raise ValueError("an FP8 cache does not work here")

    def _handle_cache(self):
        if self.kv_cache_dtype == "auto" and is_sm120():
            self.kv_cache_dtype = "fp8_e4m3"
"""
_UTILS = """
import torch


def is_sm120():
    return torch.cuda.get_device_capability()[0] == 12
"""


class RefusalTooEarly(Rule):
    """A check refuses a value by name, and the option comes to that value only after the check.

    *What it does*
        Takes every refusal that asks for one value of an option, and every
        later step of the same launch that gives the option that very value with
        no flag set.

    *Why it is bad*
        The pair is known to be bad and refused where somebody writes it down;
        where the tree comes to it by itself it passes, and the kernel gives
        what the check was to prevent.

    *Known limits*
        As for SGA123: only steps whose order is known.

    *What to do instead*
        Pass another value of the option.

    *Seen in*
        The check of an FP8 cache on SM12x from 0.5.20 on, which compares the
        literal only (sgl-project/sglang#39807).
    """

    id = "SGA124"
    title = "value refused by name before the option comes to it"
    severity = Severity.WARNING
    INVALID = (
        {
            "sglang/srt/server_args.py": _ARGS.format(
                first="_check_attention", second="_handle_cache"
            ),
            "sglang/srt/utils.py": _UTILS,
        },
    )
    VALID = (
        {
            "sglang/srt/server_args.py": _ARGS.format(
                first="_handle_cache", second="_check_attention"
            ),
            "sglang/srt/utils.py": _UTILS,
        },
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for item in stale_readings(context, refusing(context)):
            if isinstance(item.reading, Rejection):
                yield self._report(context, item, item.reading)

    def _report(self, context: RuleContext, item: Stale, reading: Rejection) -> Finding:
        later, option = item.later, item.later.option
        return finding(
            self,
            capabilities=item.capabilities,
            place=reading.place,
            function=reading.function,
            line=f"{reading.excerpt} {later.value}",
            option=option.name,
            value=later.value,
            message=f"`{item.atom.text}` is refused here ({shortened(reading.message)}), but "
            f"{option.name} comes to {later.value} only afterwards and passes",
            when=conditions(item.way.literals),
            chain=(
                link(context, f"refused when {text_of(reading.guard)}", reading.place),
                link(context, f"then {option.name} becomes {later.value}", later.place),
            ),
        )
