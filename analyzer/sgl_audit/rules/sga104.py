"""SGA104: an open range that sweeps newer capabilities into a choice."""

from __future__ import annotations

from collections.abc import Iterator

from sgl_audit.extract.gates import GateSite
from sgl_audit.model.facts import Decision, GateForm
from sgl_audit.model.guard import Atom, AtomKind, atoms, text_of
from sgl_audit.model.report import Finding, Severity
from sgl_audit.model.source import Place
from sgl_audit.rules.advised import said_of
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.choosing import in_server
from sgl_audit.rules.chosen import option_of
from sgl_audit.rules.families import beyond, bound_of, nvidia, open_from
from sgl_audit.rules.findings import finding, link
from sgl_audit.rules.minimums import reported_for, returned_at
from sgl_audit.rules.options import flag_of, options_by_name
from sgl_audit.rules.picks import made_for, picks
from sgl_audit.rules.ways import ways

_LEAST = 90
_ARGS = """
from sglang.srt.utils import device_sm

ATTENTION_CHOICES = ["triton", "flashinfer", "trtllm_mha"]


class ServerArgs:
    attention_backend: str = None

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--attention-backend", choices=ATTENTION_CHOICES)

    def __post_init__(self):
        if self.attention_backend is None and {test}:
            self.attention_backend = "trtllm_mha"
"""
_UTILS = """
import torch


def device_sm():
    major, minor = torch.cuda.get_device_capability()
    return major * 10 + minor
"""


class OpenRange(Rule):
    """A lower bound on the capability picks a backend for every generation that came after.

    *What it does*
        Finds tests such as `>= 9`, `sm >= 90` or a least capability that admit
        every newer generation and pick a backend, switch on a library or admit
        a quantization.

    *Why it is bad*
        Kernels are written for a generation. SM120 is newer than SM100 and does
        not run its code; a bound written for Hopper or for B200 sends it there.

    *Known limits*
        An open range is right where the code behind it is portable, and the
        tree does not say whether it is: a note, unless the tree picks the same
        value elsewhere for named generations only.

    *What to do instead*
        Name a backend that is known to run on the capability.

    *Seen in*
        DeepGEMM on SM120 with 0.5.9 (sgl-project/sglang#18870), sparse
        attention defaults from 0.5.12 on (sgl-project/sglang#26087), W4A8
        experts (sgl-project/sglang#17494).
    """

    id = "SGA104"
    title = "open range of capabilities picks a backend"
    severity = Severity.NOTE
    compares = True
    INVALID = (
        {
            "sglang/srt/server_args.py": _ARGS.format(test="device_sm() >= 100"),
            "sglang/srt/utils.py": _UTILS,
        },
    )
    VALID = (
        {
            "sglang/srt/server_args.py": _ARGS.format(test="100 <= device_sm() < 110"),
            "sglang/srt/utils.py": _UTILS,
        },
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for pick in picks(context):
            found = _range_of(context, pick)
            if found is not None:
                yield self._pick(context, pick, *found)
        functions = {
            (site.gate.place.file, site.gate.name): site
            for site in context.extraction.sites
            if site.function == "<module>" and in_server(context, site.gate.place)
        }
        for site in functions.values():
            least = open_from(_held(site))
            if least is not None and least >= _LEAST and beyond(least, _held(site)):
                yield from self._switch(context, site, least)

    def _pick(
        self, context: RuleContext, pick: Decision, atom: Atom, swept: frozenset[str]
    ) -> Finding:
        value = str(pick.literal)
        option = options_by_name(context).get(pick.option) or option_of(context, pick)
        meant = made_for(context, pick.option, value)
        elsewhere = bool(meant) and not meant & swept
        flag = flag_of(option) if option is not None else ""
        return finding(
            self,
            capabilities=swept,
            place=pick.place,
            function=pick.function,
            line=f"{pick.excerpt} {text_of(pick.guard)}",
            option=option.name if option is not None else None,
            value=value,
            message=f"`{atom.text}` has no upper end, so {pick.option} = {value} is picked on "
            "generations newer than the one it was written for"
            + ("; elsewhere the tree picks it for named generations only" if elsewhere else ""),
            remedy=f"name a value with {flag}" if flag else "",
            chain=(
                link(
                    context, f"{pick.option} becomes {value} when {text_of(pick.guard)}", pick.place
                ),
            ),
            severity=Severity.WARNING if elsewhere else Severity.NOTE,
        )

    def _switch(self, context: RuleContext, site: GateSite, least: int) -> Iterator[Finding]:
        gate = site.gate
        if gate.form not in (GateForm.FUNCTION, GateForm.ALIAS):
            return
        place, text = _bound_in(context, site)
        minimum = gate.name.endswith("get_min_capability")
        if not text and not minimum:
            return
        if minimum and (
            _checked(context, site) or not gate.name.partition(".")[0].endswith("Config")
        ):
            return
        what = (
            "the least capability is all that is asked" if minimum else f"`{text}` is all it asks"
        )
        names = beyond(least, _held(site))
        bad = reported_for(context, gate.name.partition(".")[0], names) if minimum else {}
        place = returned_at(context, place) if minimum else place
        yield finding(
            self,
            capabilities=names,
            place=place,
            function=gate.name,
            line=text,
            value=gate.name,
            message=f"{gate.name} holds on every capability from sm{least} on: {what}, though the "
            "kernels behind it may be of one generation"
            + "".join(f"; on {name}: {said_of(hit)}" for name, hit in bad.items()),
            chain=(link(context, f"{gate.name} is an open range", gate.place),),
            severity=Severity.WARNING if bad else None,
        )


def _held(site: GateSite) -> frozenset[str]:
    return nvidia(name for name, value in site.gate.holds if value)


def _range_of(context: RuleContext, pick: Decision) -> tuple[Atom, frozenset[str]] | None:
    """The open range that lets a pick happen, with the newer capabilities that it lets in."""
    swept: set[str] = set()
    found: Atom | None = None
    for capability in context.capabilities:
        for way in ways(context, pick.guard, capability):
            for atom, asked in (*way.machine, *way.literals):
                least = bound_of(atom) if asked else None
                if least is not None and least >= _LEAST and beyond(least, [capability]):
                    found = found or atom
                    swept.add(capability)
    return None if found is None else (found, frozenset(swept))


def _bound_in(context: RuleContext, site: GateSite) -> tuple[Place, str]:
    """The comparison inside a gate function that makes it an open range."""
    for other in context.extraction.sites:
        same = other.gate.place.file == site.gate.place.file
        if same and other.function == site.gate.name and other.gate.form is GateForm.INLINE:
            held = _held(other)
            every = nvidia(context.capabilities)
            if held and (held == _held(site) or held == every - _held(site)):
                return other.gate.place, other.gate.name
    return site.gate.place, ""


def _checked(context: RuleContext, site: GateSite) -> bool:
    """Whether something in the same file asks for the capability too, and may say more."""
    file = site.gate.place.file
    guards = [item.guard for item in context.facts.decisions if item.place.file == file]
    guards += [item.guard for item in context.facts.rejections if item.place.file == file]
    return any(atom.kind is AtomKind.GATE for guard in guards for atom in atoms(guard))
