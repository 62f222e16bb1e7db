"""SGA121: sibling without the gate."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sgl_audit.model.capability import BY_NAME
from sgl_audit.model.report import Finding, Severity
from sgl_audit.model.source import Place
from sgl_audit.rules.advised import vouched
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.families import nvidia
from sgl_audit.rules.findings import finding, link
from sgl_audit.rules.options import options_by_name
from sgl_audit.rules.refusing import refused
from sgl_audit.rules.registered import Registered, registrations
from sgl_audit.rules.siblings import dense_gates
from sgl_audit.rules.sources import syntax_of

_REGISTRY = """
import torch


def register_attention_backend(name):
    def add(fn):
        return fn

    return add


@register_attention_backend("fa3")
def create_v3(runner):
    assert torch.cuda.get_device_capability()[0] == 9, "needs SM90"
    return FlashAttentionBackend(runner)


@register_attention_backend("fa4")
def create_v4(runner):{check}
    return FlashAttentionBackend(runner, version=4)
"""
_ARGS = """
ATTENTION_CHOICES = ["fa3", "fa4", "triton"]


class ServerArgs:
    attention_backend: str = None

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--attention-backend", choices=ATTENTION_CHOICES)
"""


class SiblingWithoutGate(Rule):
    """One of two siblings asks for the capability, and the other goes the same way without.

    *What it does*
        Compares functions that are registered under values of one option and
        make an object of the same class, and in a quantization's file the class
        for dense layers with the class for experts: where the one falls back on
        a test of the capability that the other never makes.

    *Why it is bad*
        The gate was needed for one of them; the other is reached on the same
        cards and fails in the kernel.

    *Known limits*
        The sibling may run where the other does not: a note, and nothing is
        said where an advisory says that the value works.

    *What to do instead*
        Another value of the option.

    *Seen in*
        `fa4` beside `fa3` (sgl-project/sglang#23985); FP8 experts beside FP8
        dense layers on SM80 (sgl-project/sglang#12887).
    """

    id = "SGA121"
    title = "sibling without the gate"
    severity = Severity.NOTE
    INVALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/layers/attention/registry.py": _REGISTRY.format(check=""),
        },
    )
    VALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/layers/attention/registry.py": _REGISTRY.format(
                check="\\n    assert torch.cuda.get_device_capability()[0] == 9"
            ),
        },
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for name, entries in registrations(context).items():
            made = {item: (_makes(context, place), place) for item, place in entries}
            for item, (cls, place) in made.items():
                for other, (same, beside) in made.items():
                    if cls and cls == same and other != item:
                        yield from self._pair(context, name, item, place, other, beside)
        for gate in dense_gates(context):
            yield finding(
                self,
                capabilities=gate.capabilities,
                place=gate.experts,
                function=gate.name,
                line=gate.test,
                option="moe_runner_backend",
                value=gate.test,
                message=f"{gate.dense_name} asks {gate.test} and takes another path there; "
                f"{gate.name}, for the experts of the same checkpoints, never asks",
                chain=(
                    link(context, f"{gate.dense_name} asks", gate.dense),
                    link(context, f"{gate.name} picks without asking", gate.experts),
                ),
            )

    def _pair(
        self,
        context: RuleContext,
        name: str,
        item: Registered,
        place: Place,
        other: Registered,
        beside: Place,
    ) -> Iterator[Finding]:
        option = options_by_name(context)[name]
        names = [
            capability
            for capability in nvidia(BY_NAME)
            if refused(context, option, other.value, capability)
            and not refused(context, option, item.value, capability)
            and not vouched(context, name, [item.value], capability, {})
        ]
        asks = any(refused(context, option, item.value, capability) for capability in BY_NAME)
        if names and not asks:
            yield finding(
                self,
                capabilities=names,
                place=place,
                option=name,
                value=item.value,
                message=f"{other.value} is refused there, and {item.value}, which makes an object "
                "of the same class, is not asked about",
                chain=(
                    link(context, f"{item.value} is registered without a test", place),
                    link(context, f"{other.value} is registered with one", beside),
                ),
            )


def _makes(context: RuleContext, place: Place) -> str:
    """The class of which a registered function returns an object."""
    tree = syntax_of(context, place.file)
    for node in tree.body if tree is not None else ():
        if isinstance(node, ast.FunctionDef) and any(
            item.lineno == place.line for item in node.decorator_list
        ):
            made = [
                item.value.func.id
                for item in ast.walk(node)
                if isinstance(item, ast.Return)
                and isinstance(item.value, ast.Call)
                and isinstance(item.value.func, ast.Name)
            ]
            return made[0] if len(set(made)) == 1 else ""
    return ""
