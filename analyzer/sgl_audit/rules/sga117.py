"""SGA117: refusal that leaves out a generation between two that pass."""

from __future__ import annotations

from collections.abc import Iterator

from sgl_audit.model.capability import BY_NAME
from sgl_audit.model.facts import Rejection
from sgl_audit.model.guard import Atom, AtomKind, atoms, text_of
from sgl_audit.model.report import Finding, Severity
from sgl_audit.rules.accepted import gate_of
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.choosing import in_server
from sgl_audit.rules.families import nvidia
from sgl_audit.rules.findings import finding, link, ordered
from sgl_audit.rules.ways import ways

_NEW = 10
_ARGS = "class ServerArgs:\n    quantization: str = None\n"
_UTILS = """
import torch


def is_blackwell_supported():
    return torch.cuda.get_device_capability()[0] in {majors}
"""
_LAYER = """
from sglang.srt.utils import is_blackwell_supported


class Fp4MoEMethod:
    def __init__(self, quant_config):
        if not is_blackwell_supported():
            raise ValueError("Current platform does not support this quantization")
"""


class GapInGenerations(Rule):
    """A gate admits an older and a newer generation and refuses the one between them.

    *What it does*
        Finds refusals that rest on a gate with a hole: it holds on generations
        from Blackwell on, but not on one that lies between two of them.

    *Why it is bad*
        A list of numbers was written before the card in between was known. It
        is refused, though its kernels may be there.

    *Known limits*
        Now and then the hole is meant: kernels for one generation need not
        exist for its neighbour. So it is a note.

    *What to do instead*
        A later release, or a value that does not need the gate.

    *Seen in*
        NVFP4 on Jetson Thor (SM110) with 0.5.8
        (sgl-project/sglang#18787).
    """

    id = "SGA117"
    title = "gate leaves out a generation between two that pass"
    severity = Severity.NOTE
    compares = True
    INVALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/utils.py": _UTILS.format(majors="(10, 12)"),
            "sglang/srt/layers/quantization/fp4.py": _LAYER,
        },
    )
    VALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/utils.py": _UTILS.format(majors="(10, 11, 12)"),
            "sglang/srt/layers/quantization/fp4.py": _LAYER,
        },
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for rejection in context.facts.rejections:
            if not in_server(context, rejection.place) or not rejection.options:
                continue
            for atom in dict.fromkeys(atoms(rejection.guard)):
                missing = _missing(atom)
                names = [name for name in missing if _refuses(context, rejection, atom, name)]
                if names:
                    yield self._report(context, rejection, atom, names)

    def _report(
        self, context: RuleContext, rejection: Rejection, atom: Atom, names: list[str]
    ) -> Finding:
        held = ", ".join(ordered(_held(atom)))
        place = gate_of(context, rejection)
        return finding(
            self,
            capabilities=names,
            place=place,
            function=rejection.function,
            line=rejection.excerpt,
            option=rejection.options[0],
            value=atom.text,
            message=f"`{atom.text}` holds on {held} and not on {', '.join(names)} between them, "
            f"so {rejection.function} refuses there",
            chain=(link(context, f"refused when {text_of(rejection.guard)}", rejection.place),),
        )


def _held(atom: Atom) -> frozenset[str]:
    return frozenset(n for n in nvidia(atom.capabilities or ()) if BY_NAME[n].major >= _NEW)


def _missing(atom: Atom) -> list[str]:
    """The capabilities whose generation lies between two on which the gate holds."""
    if atom.kind is not AtomKind.GATE or atom.capabilities is None:
        return []
    majors = {BY_NAME[name].major for name in _held(atom)}
    return [
        name
        for name in nvidia(BY_NAME)
        if majors
        and min(majors) < BY_NAME[name].major < max(majors)
        and BY_NAME[name].major not in majors
    ]


def _refuses(context: RuleContext, rejection: Rejection, atom: Atom, name: str) -> bool:
    """Whether the refusal is reached there because the gate does not hold."""
    return any((atom, False) in way.machine for way in ways(context, rejection.guard, name))
