"""SGA111: name bound only under a gate and used outside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sgl_audit.extract.reads import ConditionalName
from sgl_audit.model.guard import AtomKind, Guard, all_of, atoms, text_of
from sgl_audit.model.report import Finding, Severity
from sgl_audit.model.source import Place
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.callers import CallSite, call_sites, entry_guard
from sgl_audit.rules.findings import finding, link
from sgl_audit.rules.reach import Reach, reach_of
from sgl_audit.rules.ways import Literal, ways
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


@dataclass(frozen=True, slots=True)
class _Use:
    """One function that reads the name, and the call that gets there where it is not bound."""

    place: Place
    function: str
    guard: Guard
    site: CallSite
    reaches: dict[str, Reach]


class UnboundName(Rule):
    """A module binds a name only where a gate holds, and a function reads it elsewhere too.

    *What it does*
        Takes every import that stands under a test of the machine, and every function that reads
        the imported name without that test, and looks whether some caller gets there on a
        capability on which the test is false.

    *Why it is bad*
        `NameError` in the middle of a forward pass; often on the very setting that was meant to
        avoid the library.

    *Known limits*
        Methods are not followed to where their objects are made, and callers that carry the
        library's name are taken to be chosen for it.

    *What to do instead*
        Nothing helps but a setting that does not lead to the call, or a release that has the
        test.

    *Seen in*
        DeepGEMM's SM count up to 0.5.9 (sgl-project/sglang#20868); hyper-connection pre-norm
        from 0.5.15 to 0.5.20 (sgl-project/sglang#29738).
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
                use = _use(context, name, place, function, guard, missing)
                if use is not None:
                    seen.add((place.file, function))
                    yield self._report(context, name, use)

    def _report(self, context: RuleContext, name: ConditionalName, use: _Use) -> Finding:
        clean = all(reach <= Reach.MODEL for reach in use.reaches.values())
        first = next(iter(use.reaches))
        found = ways(context, all_of(use.site.guard, use.guard), first)
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


def unbound_on(context: RuleContext, name: ConditionalName) -> list[str]:
    """The capabilities on which a test of the capability keeps the name from being bound."""
    gates = [atom for atom in atoms(name.guard) if atom.kind is AtomKind.GATE]
    if not gates or any(atom.capabilities is None for atom in gates):
        return []
    # On a machine of another kind the whole module is out of use.
    return [
        capability
        for capability in context.capabilities
        if capability.startswith("sm") and not ways(context, name.guard, capability)
    ]


def _use(
    context: RuleContext,
    name: ConditionalName,
    place: Place,
    function: str,
    guard: Guard,
    missing: list[str],
) -> _Use | None:
    if not _reaches(context, guard, missing, name.name):
        return None
    best: _Use | None = None
    for site in call_sites(context, function):
        # A method runs where its object was made for it; that is not followed.
        if "." in site.function or site.owner == name.name or _dedicated(site, name):
            continue
        if not _reaches(context, site.guard, missing, name.name):
            continue
        entered = entry_guard(context, site.place.file, site.function, 1)
        reaches = _reaches(context, all_of(entered, site.guard, guard), missing, name.name)
        if reaches and (best is None or min(reaches.values()) < min(best.reaches.values())):
            best = _Use(place, function, guard, site, reaches)
    return best


def _reaches(context: RuleContext, guard: Guard, missing: list[str], name: str) -> dict[str, Reach]:
    found: dict[str, Reach] = {}
    for capability in missing:
        reaches = [
            reach_of(context, way.literals)
            for way in ways(context, guard, capability)
            if way.certain and not any(_asks(literal, name) for literal in way.literals)
        ]
        if min(reaches, default=Reach.FLAG) is not Reach.FLAG:
            found[capability] = min(reaches)
    return found


def _asks(literal: Literal, name: str) -> bool:
    """Whether a test, other than of a variable, asks for the library by its name."""
    atom, wanted = literal
    text = atom.text.replace("_", "").lower()
    named = name.strip("_").replace("_", "").lower() in text
    return wanted and named and atom.kind is not AtomKind.ENVIRONMENT


def _dedicated(site: CallSite, name: ConditionalName) -> bool:
    """Whether a caller is of the library's own wrapper: it is chosen where the library is."""
    word = name.name.strip("_").replace("_", "").lower()
    file = site.place.file.rpartition("/")[2]
    own = word in f"{file} {site.function}".replace("_", "").lower()
    return own or site.place.file == name.place.file
