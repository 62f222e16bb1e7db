"""SGA110: option whose explicit value is silently replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sgl_audit.model.facts import Decision, DecisionKind, Option
from sgl_audit.model.guard import AtomKind, text_of
from sgl_audit.model.report import Finding, Severity
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.choosing import in_server
from sgl_audit.rules.explicit import asked_for, by_machine, unasked, wanted
from sgl_audit.rules.findings import finding, link
from sgl_audit.rules.options import UNDECIDED, flag_of, options_by_name
from sgl_audit.rules.picks import picks
from sgl_audit.rules.ways import ways
from sgl_audit.rules.wording import conditions

_KERNEL = re.compile(r"(?:attention|runner|sampling|prefill|decode|a2a)_backend$|^kv_cache_dtype$")
_OUTSIDE = ("/entrypoints/", "/managers/", "/hardware_backend/", "/disaggregation/", "/models/")
_ARGS = """
from sglang.srt.utils import is_blackwell

DSA_CHOICES = ["flashmla_sparse", "fa3", "trtllm"]


class ServerArgs:
    dsa_prefill_backend: str = None

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--dsa-prefill-backend", choices=DSA_CHOICES)

    def __post_init__(self):
        if {test}:
            self.dsa_prefill_backend = "trtllm"
"""
_UTILS = """
import torch


def is_blackwell():
    return torch.cuda.get_device_capability()[0] == 10
"""


class ExplicitReplaced(Rule):
    """A value is set without asking whether the user gave one.

    *What it does*
        Finds places that give a kernel option a value under conditions none of
        which asks for the option's own value, places in layers that turn one
        named backend into another because of the capability, and environment
        variables that are set over what the user exported.

    *Why it is bad*
        The flag is accepted, does nothing, and the report of what runs is
        wrong; often the replaced value was the way out of a fault.

    *Known limits*
        Whether the tree says so in a log line is not asked. Conditions kept in
        calls may ask for the value after all.

    *What to do instead*
        Mostly nothing helps but the condition itself: see which part of it can
        be changed.

    *Seen in*
        Sparse attention choices with an FP8 cache in 0.5.10; the pooled index
        in 0.5.20 (sgl-project/sglang#37105); FP8 output projection on SM12x
        (sgl-project/sglang#34018).
    """

    id = "SGA110"
    title = "explicit value silently replaced"
    severity = Severity.WARNING
    INVALID = (
        {
            "sglang/srt/server_args.py": _ARGS.format(test="is_blackwell()"),
            "sglang/srt/utils.py": _UTILS,
        },
    )
    VALID = (
        {
            "sglang/srt/server_args.py": _ARGS.format(
                test="self.dsa_prefill_backend is None and is_blackwell()"
            ),
            "sglang/srt/utils.py": _UTILS,
        },
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        options = options_by_name(context)
        variables = {variable.name for variable in context.facts.environment}
        for item in context.facts.decisions:
            if item.kind not in (DecisionKind.ASSIGNMENT, DecisionKind.DECLARED):
                continue
            if not in_server(context, item.place) or any(o in item.place.file for o in _OUTSIDE):
                continue
            option = options.get(item.option)
            if option is not None and _KERNEL.search(item.option) and option.flags:
                yield from self._option(context, item, option)
            elif option is None and item.option in variables:
                yield from self._variable(context, item)
        for pick in picks(context):
            yield from self._turned(context, pick)

    def _option(self, context: RuleContext, item: Decision, option: Option) -> Iterator[Finding]:
        if item.literal in UNDECIDED or item.literal not in (option.choices or ()):
            return
        found = unasked(context, item)
        if found:
            way = next(iter(found.values()))
            yield finding(
                self,
                capabilities=found,
                place=item.place,
                function=item.function,
                line=item.excerpt,
                option=option.name,
                value=str(item.literal),
                message=f"{option.name} becomes {item.literal} whatever {flag_of(option)} says",
                when=conditions(way.literals),
                chain=(link(context, f"set when {text_of(item.guard)}", item.place),),
            )

    def _variable(self, context: RuleContext, item: Decision) -> Iterator[Finding]:
        found = unasked(context, item)
        gated = {
            capability: way
            for capability, way in found.items()
            if any(wanted and atom.kind is AtomKind.GATE for atom, wanted in way.machine)
        }
        if gated:
            way = next(iter(gated.values()))
            yield finding(
                self,
                capabilities=gated,
                place=item.place,
                function=item.function,
                line=item.excerpt,
                value=item.option,
                message=f"{item.option} is set to {item.value} here, over a value that was "
                "exported",
                when=conditions(way.literals),
                chain=(link(context, f"set when {text_of(item.guard)}", item.place),),
                severity=Severity.NOTE,
            )

    def _turned(self, context: RuleContext, pick: Decision) -> Iterator[Finding]:
        found: dict[str, str] = {}
        for capability in context.capabilities:
            for way in ways(context, pick.guard, capability):
                gated = any(by_machine(literal, capability) for literal in wanted(way))
                given = asked_for(context, way, pick) if gated and way.certain else None
                if given is not None:
                    found[capability] = given
        if found and "/layers/" in pick.place.file:
            given = next(iter(found.values()))
            yield finding(
                self,
                capabilities=found,
                place=pick.place,
                function=pick.function,
                line=pick.excerpt,
                value=given,
                message=f"{given} is turned into {pick.literal} in {pick.function} because of the "
                "capability, also where it was asked for by name",
                chain=(link(context, f"turned when {text_of(pick.guard)}", pick.place),),
            )
