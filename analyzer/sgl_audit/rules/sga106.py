"""SGA106: equality where the family was meant, and one name for both."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sgl_audit.model.facts import Decision, Gate, GateForm, Rejection
from sgl_audit.model.guard import Atom, AtomKind, Guard, atoms
from sgl_audit.model.report import Finding, Severity
from sgl_audit.model.source import Place
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.choosing import in_server
from sgl_audit.rules.families import nvidia, siblings
from sgl_audit.rules.findings import finding, link, ordered

_EXACT = re.compile(r"== ?\(|== ?\d|\bin [(\[{]|\bis_sm\d+\(")
_WHERE = ("/layers/", "server_args.py", "/arg_groups/", "/model_executor/")
_UTILS = """
import torch


def is_sm120_supported():
    return torch.cuda.get_device_capability()[0] == 12


def is_sm120():
    return torch.cuda.get_device_capability() == (12, 0)
"""
_LAYER = """
from sglang.srt.utils import is_sm120, is_sm120_supported


class SparseBackend:
    def resolve_backend(self):
        if {test}():
            return kernels.fast(self)
        return None
"""
_ARGS = "class ServerArgs:\n    attention_backend: str = None\n"


class ExactCapability(Rule):
    """A test is true on one member of a generation only, and the others take another path.

    *What it does*
        Finds tests for exactly one capability of a generation from Blackwell on
        ((12, 0) and not (12, 1), 100 and not 103) where a backend or path is
        chosen, and gate names that mean the exact capability at one place and
        the family at another.

    *Why it is bad*
        SM120 and SM121, or SM100 and SM103, run the same code for most kernels
        and differ for a few. Where equality was written for the family, a card
        silently loses a kernel or keeps one that was switched off for its
        sibling.

    *Known limits*
        Whether the member or the family was meant is not in the tree: a note,
        and a warning only where the sibling keeps what is switched off.

    *What to do instead*
        Check the path that the other card takes; where it is the wrong one,
        name a backend.

    *Seen in*
        Sparse attention on SM121 (sgl-project/sglang#36497); DeepGEMM left on
        for SM121 while it is off for SM120, from 0.5.15 on.
    """

    id = "SGA106"
    title = "exact capability beside its family"
    severity = Severity.NOTE
    compares = True
    INVALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/utils.py": _UTILS,
            "sglang/srt/layers/attention/sparse.py": _LAYER.format(test="is_sm120"),
        },
    )
    VALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/utils.py": _UTILS,
            "sglang/srt/layers/attention/sparse.py": _LAYER.format(test="is_sm120_supported"),
        },
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        seen: set[tuple[str, str, str]] = set()
        for place, function, guard, line in _sites(context):
            for atom in atoms(guard):
                others = _others(atom)
                key = (place.file, function, atom.text)
                if others and key not in seen:
                    seen.add(key)
                    yield self._exact(context, atom, others, place, function, line)
        yield from self._names(context)

    def _exact(
        self,
        context: RuleContext,
        atom: Atom,
        others: frozenset[str],
        place: Place,
        function: str,
        line: str,
    ) -> Finding:
        one = ", ".join(ordered(nvidia(atom.capabilities or ())))
        return finding(
            self,
            capabilities=others,
            place=place,
            function=function,
            line=line,
            value=atom.text,
            message=f"`{atom.text}` holds on {one} and not on {', '.join(ordered(others))} of the "
            f"same generation: they take different paths in {function}",
            chain=(link(context, f"asks {atom.text}", place),),
        )

    def _names(self, context: RuleContext) -> Iterator[Finding]:
        named: dict[str, list[Gate]] = {}
        for gate in (*context.facts.gates, *context.facts.platform):
            asked = gate.form in (GateForm.FUNCTION, GateForm.ALIAS, GateForm.ATTRIBUTE)
            if asked and in_server(context, gate.place) and "." not in gate.name:
                named.setdefault(gate.name, []).append(gate)
        for name, gates in sorted(named.items()):
            first = gates[0]
            for other in gates[1:]:
                if first.capabilities is None or other.capabilities is None:
                    continue
                differ = nvidia(first.capabilities ^ other.capabilities)
                if differ:
                    yield self._two(context, name, first, other, differ)

    def _two(
        self, context: RuleContext, name: str, one: Gate, other: Gate, differ: frozenset[str]
    ) -> Finding:
        return finding(
            self,
            capabilities=differ,
            place=one.place,
            function=name,
            line=str(other.place.file),
            value=name,
            message=f"{name} has two meanings: it holds on {_text(one)} here and on "
            f"{_text(other)} at {other.place}",
            chain=(
                link(context, f"{name} on {_text(one)}", one.place),
                link(context, f"{name} on {_text(other)}", other.place),
            ),
        )


def _text(gate: Gate) -> str:
    return ", ".join(ordered(nvidia(gate.capabilities or ()))) or "no NVIDIA capability"


def _sites(context: RuleContext) -> Iterator[tuple[Place, str, Guard, str]]:
    items: list[Decision | Rejection] = [*context.facts.decisions, *context.facts.rejections]
    for item in items:
        if in_server(context, item.place) and any(part in item.place.file for part in _WHERE):
            yield item.place, item.function, item.guard, item.excerpt


def _others(atom: Atom) -> frozenset[str]:
    if atom.kind is not AtomKind.GATE or atom.capabilities is None:
        return frozenset()
    return siblings(atom.capabilities) if _EXACT.search(atom.text) else frozenset()
