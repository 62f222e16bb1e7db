"""SGA101: default or automatic choice that the same tree refuses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sgl_audit.model.guard import text_of
from sgl_audit.model.report import ChainLink, Finding, Severity
from sgl_audit.model.source import Place
from sgl_audit.rules.atoms import OR
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.findings import finding, link
from sgl_audit.rules.launched import Stopped, stopped
from sgl_audit.rules.meetings import Meeting, meetings
from sgl_audit.rules.models import specific
from sgl_audit.rules.options import flag_of, options_by_name
from sgl_audit.rules.refusing import refused_at, ways_out
from sgl_audit.rules.wording import conditions, one_of, several, shortened

_SHOWN = 3
_Key = tuple[Place, str, str]
_ARGS = """
from sglang.srt.utils import is_blackwell

ATTENTION_CHOICES = ["triton", "flashinfer", "fa3"]


class ServerArgs:
    attention_backend: str = None

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--attention-backend", choices=ATTENTION_CHOICES)

    def __post_init__(self):
        if self.attention_backend is None:
            self.attention_backend = {chosen}
"""
_UTILS = """
import torch


def is_blackwell():
    return torch.cuda.get_device_capability()[0] in (10, 12)
"""
_REGISTRY = """
from sglang.srt.utils import is_blackwell


def wrap(runner, full):
    if runner.hybrid_gdn_config is not None:
        if is_blackwell():
            assert runner.server_args.attention_backend == "triton", "pass another backend"
    return full
"""


class DefaultRefused(Rule):
    """The tree picks a value by itself and refuses the same value further on.

    *What it does*
        Follows every place that gives a backend option a value with no flag set
        (the declared default, an assignment, an override) to every place that
        refuses values of that option because of the machine, and reports pairs
        whose conditions can hold together.

    *Why it is bad*
        The server starts, may load weights for minutes, and then stops on a
        setting that nobody chose.

    *Known limits*
        Conditions that are calls on more than the machine are taken as
        possible; such findings are warnings. Two conditions that single out
        models in different words are taken as being about different models.

    *What to do instead*
        Pass one of the values that the refusal names, as the finding says.

    *Seen in*
        Qwen3-Next on B200 with 0.5.2 to 0.5.5 (sgl-project/sglang#10366);
        hybrid linear attention on SM120 with 0.5.9.
    """

    id = "SGA101"
    title = "default or automatic choice that the same tree refuses"
    severity = Severity.ERROR
    INVALID = (
        {
            "sglang/srt/server_args.py": _ARGS.format(chosen='"flashinfer"'),
            "sglang/srt/utils.py": _UTILS,
            "sglang/srt/layers/attention/registry.py": _REGISTRY,
        },
    )
    VALID = (
        {
            "sglang/srt/server_args.py": _ARGS.format(
                chosen='"triton" if is_blackwell() else "flashinfer"'
            ),
            "sglang/srt/utils.py": _UTILS,
            "sglang/srt/layers/attention/registry.py": _REGISTRY,
        },
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        groups: dict[tuple[object, ...], list[Meeting]] = {}
        for meeting in meetings(context):
            rejection = meeting.refusal.rejection
            key = (meeting.severity, rejection.place, meeting.selection.option.name)
            groups.setdefault((*key, meeting.selection.value), []).append(meeting)
        met: dict[_Key, Stopped] = {(s.place, s.option, s.value): s for s in stopped(context)}
        for group in groups.values():
            found = self._report(context, group)
            seen = met.pop(_key(found, met), None)
            yield found if seen is None else _confirmed(context, found, seen)
        for item in met.values():
            yield self._launched(context, item)

    def _launched(self, context: RuleContext, item: Stopped) -> Finding:
        option = options_by_name(context)[item.option]
        return finding(
            self,
            capabilities=[row.capability for row in item.rows],
            place=item.place,
            function=item.rejection.function,
            line=item.rejection.excerpt,
            option=item.option,
            value=item.value,
            message=f"{item.option} = {item.value}, which nobody set, is refused: "
            f"{shortened(item.rejection.message)}",
            when=several(row.family for row in item.rows),
            remedy=f"another value of {flag_of(option)}",
            chain=(_ends_here(context, item), link(context, "refused here", item.place)),
        )

    def _report(self, context: RuleContext, group: list[Meeting]) -> Finding:
        first = group[0]
        option, value = first.selection.option, first.selection.value
        rejection = first.refusal.rejection
        out = ways_out(context, first.refusal, first.capability)
        flag = flag_of(option)
        how = "is the declared default" if first.selection.declared else "is chosen automatically"
        return finding(
            self,
            capabilities=[meeting.capability for meeting in group],
            place=refused_at(context, rejection),
            function=rejection.function,
            line=rejection.excerpt,
            option=option.name,
            value=value,
            message=f"{option.name} = {value} {how} and then refused: "
            f"{shortened(rejection.message)}",
            when=_when(context, group),
            remedy=f"{flag} {one_of(out)}" if flag and out else "",
            chain=_chain(context, group),
            severity=first.severity,
        )


def _key(found: Finding, met: dict[_Key, Stopped]) -> _Key:
    """The finding as launches would have met it: they know the line of the place only."""
    lines = {(item.file, item.line): item for item, _, _ in met}
    place = lines.get((found.place.file, found.place.line), found.place)
    return place, found.option or "", found.value or ""


def _confirmed(context: RuleContext, found: Finding, item: Stopped) -> Finding:
    chain = (*found.chain, _ends_here(context, item))
    return replace(found, chain=chain, severity=Severity.ERROR)


def _ends_here(context: RuleContext, item: Stopped) -> ChainLink:
    names = several(row.family for row in item.rows)
    return link(context, f"launches with nothing set end here: {names}")


def _when(context: RuleContext, group: list[Meeting]) -> str:
    """For which models the value is chosen, and under which conditions refused."""
    marks = dict.fromkeys(
        conditions([lit for lit in meeting.chosen.literals if specific(context, lit)], 2)
        for meeting in group
    )
    chosen = OR.join(list(marks)[:_SHOWN]) if all(marks) else ""
    return " and ".join(text for text in (chosen, conditions(group[0].refusing.literals)) if text)


def _chain(context: RuleContext, group: list[Meeting]) -> list[ChainLink]:
    chosen = {meeting.selection.place: meeting.selection for meeting in group}
    links = [
        link(
            context,
            f"{item.option.name} becomes {item.value} when {text_of(item.guard)}",
            item.place,
        )
        for item in list(chosen.values())[:_SHOWN]
    ]
    rejection = group[0].refusal.rejection
    text = f"{rejection.exception} when {text_of(rejection.guard)}"
    return [*links, link(context, text, refused_at(context, rejection))]
