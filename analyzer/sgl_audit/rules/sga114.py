"""SGA114: value accepted though an advisory says that it does not work on the capability."""

from __future__ import annotations

from collections.abc import Iterator

from sgl_audit.model.facts import Option
from sgl_audit.model.kernels import AdvisoryHit, Certainty
from sgl_audit.model.report import Finding, Severity
from sgl_audit.rules.accepted import let_through
from sgl_audit.rules.advised import BAD, hits, only_for, said_of, vouched
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.findings import finding, link
from sgl_audit.rules.options import UNDECIDED, both_stages, flag_of, options_by_name
from sgl_audit.rules.reach import FROM_MODEL
from sgl_audit.rules.refusing import turned_away
from sgl_audit.rules.wording import several

Found = dict[str, AdvisoryHit]

_ARGS = """
from sglang.srt.utils import is_blackwell, is_sm100

ATTENTION_CHOICES = ["triton", "flashinfer", "trtllm_mla"]


class ServerArgs:
    attention_backend: str = None

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--attention-backend", choices=ATTENTION_CHOICES)

    def __post_init__(self):
        if self.attention_backend == "trtllm_mla":
            if not {gate}():
                raise ValueError("TRTLLM MLA is only supported on Blackwell")
"""
_UTILS = """
import torch


def is_blackwell():
    return torch.cuda.get_device_capability()[0] in (10, 12)


def is_sm100():
    return torch.cuda.get_device_capability()[0] == 10
"""


class AcceptedWithoutKernel(Rule):
    """A value is accepted on a capability on which an advisory says that it does not work.

    *What it does*
        For each choice of each backend option, asks whether the tree refuses it
        on a capability, and where it does not, whether an advisory says that it
        fails or gives wrong results there with the pinned versions.

    *Why it is bad*
        Flags copied from a recipe for another card pass every check, the
        weights are loaded for minutes, and the first request or the tuner stops
        in the kernel.

    *Known limits*
        An advisory is what others reported. Refusals that rest on more than the
        machine and the model are not counted as refusals.

    *What to do instead*
        Pass another value.

    *Seen in*
        `trtllm_mla` on SM120 from 0.5.5 on (sgl-project/sglang#24633); `fa4`
        beside the guarded `fa3` (sgl-project/sglang#23985); sparse attention
        and experts with flags for B200 (sgl-project/sglang#40558).
    """

    id = "SGA114"
    title = "choice accepted though it is reported bad on the capability"
    severity = Severity.WARNING
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
        options = options_by_name(context)
        seen: set[tuple[str, str, str]] = set()
        for option in sorted(options.values(), key=lambda item: len(item.name)):
            if not option.choices or option.name in FROM_MODEL or not option.flags:
                continue
            groups: dict[tuple[object, ...], list[tuple[str, Found]]] = {}
            for choice in option.choices:
                bad = _bad(context, option, str(choice)) if choice not in UNDECIDED else {}
                for advisory, found in bad.items():
                    key = (both_stages(option.name), str(choice), advisory)
                    if key not in seen or both_stages(option.name) not in options:
                        seen.add(key)
                        place = let_through(context, option, str(choice))[1]
                        groups.setdefault((advisory, place, *found), []).append(
                            (str(choice), found)
                        )
            for group in groups.values():
                yield self._report(context, option, [v for v, _ in group], group[0][1])

    def _report(
        self, context: RuleContext, option: Option, values: list[str], found: Found
    ) -> Finding:
        first = next(iter(found.values()))
        how, place, function = let_through(context, option, values[0])
        names = [str(choice) for choice in option.choices or () if choice not in UNDECIDED]
        others = [
            name
            for name in vouched(context, option.name, names, first.capability, {})
            if not turned_away(context, option, name, first.capability)
        ]
        flag = flag_of(option)
        doubtful = first.advisory.certainty is Certainty.LOW or bool(only_for(first, {}))
        return finding(
            self,
            capabilities=found,
            place=place,
            function=function,
            line=first.advisory.id,
            option=option.name,
            value=", ".join(values),
            message=f"{flag} {' or '.join(values)} is accepted, but {said_of(first)}: "
            f"{first.advisory.effect}",
            when=only_for(first, {}),
            remedy=f"{flag} {others[0]}" if others else "",
            chain=(
                link(context, how, place),
                link(context, f"{several(values)} can be passed with {flag}", option.place),
            ),
            severity=Severity.NOTE if doubtful else Severity.WARNING,
        )


def _bad(context: RuleContext, option: Option, value: str) -> dict[str, Found]:
    """Advisory id -> capabilities on which the value is accepted and reported bad."""
    found: dict[str, Found] = {}
    for capability in context.capabilities:
        for hit in hits(context, option.name, value, capability, {})[:1]:
            if hit.outcome in BAD and not turned_away(context, option, value, capability):
                found.setdefault(hit.advisory.id, {})[capability] = hit
    return found
