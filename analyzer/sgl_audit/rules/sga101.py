"""SGA101: default or automatic choice that the same tree refuses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sgl_audit.model.guard import AtomKind, Guard, text_of
from sgl_audit.model.report import ChainLink, Finding, Severity
from sgl_audit.rules.atoms import vocabulary
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.choosing import Selection, full_guard, selections
from sgl_audit.rules.findings import finding, link
from sgl_audit.rules.models import related
from sgl_audit.rules.options import flag_of
from sgl_audit.rules.reach import FROM_MODEL, Reach, reach_of
from sgl_audit.rules.refusing import Refusal, refusals, refusing_ways, ways_out
from sgl_audit.rules.ways import Way, possible, subject_of, ways
from sgl_audit.rules.wording import conditions, one_of

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Meeting:
    """A selection and a refusal that meet on one capability, and what it takes.

    Attributes:
        refusing: the way in which the value is refused.
        certain: whether every condition of both was understood.
    """

    selection: Selection
    refusal: Refusal
    capability: str
    refusing: Way
    certain: bool

    @property
    def severity(self) -> Severity:
        """An error where every condition on the way is understood."""
        return Severity.ERROR if self.certain and self.refusing.certain else Severity.WARNING


def meetings(context: RuleContext) -> tuple[Meeting, ...]:
    """Every automatic value that meets a refusal of it."""
    return context.once(_meetings)


def _meetings(context: RuleContext) -> tuple[Meeting, ...]:
    found: list[Meeting] = []
    for selection in selections(context):
        if selection.option.name in FROM_MODEL:
            continue
        for refusal in refusals(context):
            if refusal.option.name != selection.option.name or _before(selection, refusal):
                continue
            for capability in context.capabilities:
                meeting = _meet(context, selection, refusal, capability)
                if meeting is not None:
                    found.append(meeting)
    return tuple(found)


def _before(selection: Selection, refusal: Refusal) -> bool:
    """Whether the refusal stands before the selection in one function: it sees the old value."""
    rejection = refusal.rejection
    same = rejection.place.file == selection.place.file
    same = same and rejection.function == selection.function
    return same and rejection.place.line < selection.place.line


def _meet(
    context: RuleContext, selection: Selection, refusal: Refusal, capability: str
) -> Meeting | None:
    refusing = [
        way
        for way in refusing_ways(context, refusal, selection.value, capability)
        if any(atom.kind is AtomKind.GATE for atom, _ in way.machine)
        and reach_of(context, way.literals) <= Reach.MODEL
    ]
    # The callers are looked at last: that reads files, and few pairs come so far.
    if _joined(context, selection, selection.guard, refusing, capability) is None:
        return None
    guard = full_guard(context, selection)
    found = _joined(context, selection, guard, refusing, capability)
    if found is None:
        return None
    return Meeting(selection, refusal, capability, found[1], found[0].certain)


def _joined(
    context: RuleContext,
    selection: Selection,
    guard: Guard,
    refusing: Sequence[Way],
    capability: str,
) -> tuple[Way, Way] | None:
    """A way to the selection and one to the refusal that one launch can take, none but by flag."""
    words = vocabulary(context)
    for chosen in ways(context, guard, capability) if refusing else ():
        if reach_of(context, chosen.literals) > Reach.MODEL:
            continue
        before = tuple(
            lit for lit in chosen.literals if subject_of(lit, words) != selection.option.name
        )
        for way in refusing:
            together = tuple(dict.fromkeys((*before, *way.literals)))
            if possible(together, words) and related(context, before, way.literals):
                return chosen, way
    return None


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
        Follows every place that gives a backend option a value with no flag set (the declared
        default, an assignment, an override) to every place that refuses values of that option
        because of the machine, and reports pairs whose conditions can hold together.

    *Why it is bad*
        The server starts, may load weights for minutes, and then stops on a setting that nobody
        chose.

    *Known limits*
        Conditions that are calls on more than the machine are taken as possible; such findings
        are warnings. Two conditions that single out models in different words are taken as
        being about different models.

    *What to do instead*
        Pass one of the values that the refusal names, as the finding says.

    *Seen in*
        Qwen3-Next on B200 with 0.5.2 to 0.5.5 (sgl-project/sglang#10366); hybrid linear
        attention on SM120 with 0.5.9.
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
        for group in groups.values():
            yield self._report(context, group)

    def _report(self, context: RuleContext, group: list[Meeting]) -> Finding:
        first = group[0]
        option, value = first.selection.option, first.selection.value
        rejection = first.refusal.rejection
        out = ways_out(context, first.refusal, first.capability)
        flag = flag_of(option)
        how = "is the declared default" if first.selection.declared else "is chosen by itself"
        return finding(
            self,
            capabilities=[meeting.capability for meeting in group],
            place=rejection.place,
            function=rejection.function,
            line=rejection.excerpt,
            option=option.name,
            value=value,
            message=f"{option.name} = {value} {how} and then refused: {rejection.message}",
            when=conditions(first.refusing.literals),
            remedy=f"{flag} {one_of(out)}" if flag and out else "",
            chain=_chain(context, group),
            severity=first.severity,
        )


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
    return [*links, link(context, text, rejection.place)]
