"""SGA111: name bound only under a gate and used outside it."""

from __future__ import annotations

from collections.abc import Iterator

from sgl_audit.extract.reads import ConditionalName
from sgl_audit.model.guard import AtomKind, all_of, atoms, text_of
from sgl_audit.model.report import Finding, Severity
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.findings import finding, link
from sgl_audit.rules.reach import Reach
from sgl_audit.rules.unbound import Use, unbound_on, use_of
from sgl_audit.rules.ways import ways
from sgl_audit.rules.wording import conditions, several

_ARGS = """
class ServerArgs:
    attention_backend: str = None
"""
_GATES = """
import torch


def is_sm90_or_newer():
    return torch.cuda.get_device_capability()[0] >= 9
"""
_KERNELS = """
from sglang.srt.utils import is_sm90_or_newer

ENABLE_DEEPGEMM = is_sm90_or_newer()
if ENABLE_DEEPGEMM:
    import deep_gemm


def set_sms(count):
    if {test}:
        deep_gemm.set_num_sms(count)
"""
_LAYER = """
from sglang.srt.layers.kernels import set_sms


def forward(self, count):
    set_sms(count)
"""


class UnboundName(Rule):
    """A module binds a name only where a gate holds, and a function reads it elsewhere too.

    *What it does*
        Takes every import that stands under a test of the machine, and every
        function that reads the imported name without that test, and looks
        whether some caller gets there on a capability on which the test is
        false.

    *Why it is bad*
        `NameError` in the middle of a forward pass; often on the very setting
        that was meant to avoid the library.

    *Known limits*
        Methods are not followed to where their objects are made, and callers
        that carry the library's name are taken to be chosen for it.

    *What to do instead*
        Nothing helps but a setting that does not lead to the call, or a release
        that has the test.

    *Seen in*
        DeepGEMM's SM count up to 0.5.9 (sgl-project/sglang#20868);
        hyper-connection pre-norm from 0.5.15 to 0.5.20
        (sgl-project/sglang#29738).
    """

    id = "SGA111"
    title = "name bound only under a gate and used outside it"
    severity = Severity.WARNING
    INVALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/utils.py": _GATES,
            "sglang/srt/layers/kernels.py": _KERNELS.format(test="count > 0"),
            "sglang/srt/layers/linear.py": _LAYER,
        },
    )
    VALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/utils.py": _GATES,
            "sglang/srt/layers/kernels.py": _KERNELS.format(test="ENABLE_DEEPGEMM and count > 0"),
            "sglang/srt/layers/linear.py": _LAYER,
        },
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        seen: set[tuple[str, str]] = set()
        for name in context.extraction.names:
            missing = unbound_on(context, name)
            for place, function, guard in name.reads if missing else ():
                if (place.file, function) in seen or "." in function:
                    continue
                use = use_of(context, name, place, function, guard, missing)
                if use is not None:
                    seen.add((place.file, function))
                    yield self._report(context, name, use)

    def _report(self, context: RuleContext, name: ConditionalName, use: Use) -> Finding:
        first = next(iter(use.reaches))
        found = ways(context, all_of(use.site.guard, use.guard), first)
        # A variable is often switched off for the very models that would get here.
        switched = any(
            atom.kind is AtomKind.ENVIRONMENT for way in found for atom, _ in way.literals
        )
        clean = not switched and all(reach <= Reach.MODEL for reach in use.reaches.values())
        switches = [a.text for a in atoms(name.guard) if a.kind is AtomKind.ENVIRONMENT]
        more = f", and anywhere with {several(switches)} off" if switches else ""
        return finding(
            self,
            capabilities=use.reaches,
            place=use.place,
            function=use.function,
            line=name.name,
            value=name.name,
            message=f"{use.function} reads {name.name}, which is bound only if "
            f"{text_of(name.guard)}: NameError where that is false{more}",
            when=conditions(found[0].literals) if found else "",
            chain=(
                link(context, f"{name.name} is bound if {text_of(name.guard)}", name.place),
                link(context, f"{use.function} reads it if {text_of(use.guard)}", use.place),
                link(
                    context,
                    f"{use.site.function} calls {use.function} if {text_of(use.site.guard)}",
                    use.site.place,
                ),
            ),
            severity=Severity.ERROR if clean else Severity.WARNING,
        )
