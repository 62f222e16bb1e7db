"""SGA115: library called without asking for the capability."""

from __future__ import annotations

from collections.abc import Iterator

from sgl_audit.model.guard import all_of, text_of
from sgl_audit.model.kernels import AdvisoryHit
from sgl_audit.model.report import Finding, Severity
from sgl_audit.rules.advised import BAD, hits, said_of
from sgl_audit.rules.atoms import question_of, vocabulary
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.callers import entry_guard
from sgl_audit.rules.findings import finding, link
from sgl_audit.rules.options import UNDECIDED
from sgl_audit.rules.reach import Reach, reach_of
from sgl_audit.rules.switched import switched_away
from sgl_audit.rules.uses import LibraryUse, library_uses
from sgl_audit.rules.ways import Way, ways
from sgl_audit.rules.wording import conditions, several

# How advisories name a library that code imports, in place of an option.
IMPORT = "import"
_UTILS = """
import torch


def is_sm120():
    return torch.cuda.get_device_capability()[0] == 12
"""
_LAYER = """
from sglang.srt.utils import is_sm120


class Metadata:
    def __post_init__(self):
        {guard}
        import deep_gemm

        self.schedule = deep_gemm.get_paged_mqa_logits_metadata(self.lengths, 64)
"""
_ARGS = "class ServerArgs:\n    attention_backend: str = None\n"


class CallWithoutGate(Rule):
    """A function calls a library straight away, where an advisory says that it does not work.

    *What it does*
        Finds functions that import a library and call it, past every option and
        registry, and asks whether a test of the capability, or a variable that
        the tree sets by such a test, keeps them from it.

    *Why it is bad*
        No choice of backend avoids the call: the server starts and the first
        request stops in an assertion of the library.

    *Known limits*
        Methods are not followed to where their objects are made; a model that
        never makes one does not get there. Only libraries that an advisory
        names as an import are looked for.

    *What to do instead*
        Nothing but another release, or a model without that layer.

    *Seen in*
        DeepGEMM in the metadata of sparse attention in 0.5.12
        (sgl-project/sglang#26087) and in DeepSeek-V4 (sgl-project/sglang#23657).
    """

    id = "SGA115"
    title = "library called without asking for the capability"
    severity = Severity.WARNING
    INVALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/utils.py": _UTILS,
            "sglang/srt/layers/attention/sparse.py": _LAYER.format(guard="self.pages = 64"),
        },
    )
    VALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/utils.py": _UTILS,
            "sglang/srt/layers/attention/sparse.py": _LAYER.format(
                guard="if is_sm120():\n            return"
            ),
        },
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for module in _modules(context):
            bad = _bad(context, module)
            groups: dict[tuple[str, str], list[LibraryUse]] = {}
            for use in library_uses(context, module) if bad else ():
                # The methods of a class are one thing to a reader: it is used or it is not.
                groups.setdefault((use.place.file, use.function.partition(".")[0]), []).append(use)
            for uses in groups.values():
                reached = {use: _reached(context, use, bad) for use in uses}
                open_ = [use for use in uses if reached[use]]
                if open_:
                    yield self._report(context, open_, reached[open_[0]], bad)

    def _report(
        self,
        context: RuleContext,
        uses: list[LibraryUse],
        reached: dict[str, Way],
        bad: dict[str, AdvisoryHit],
    ) -> Finding:
        first = uses[0]
        capability, way = next(iter(reached.items()))
        hit = bad[capability]
        names = several(use.name for use in uses)
        return finding(
            self,
            capabilities=reached,
            place=first.place,
            function=first.function,
            line=first.name,
            value=first.name.partition(".")[0],
            message=f"{first.function} calls {names} whatever the capability, but {said_of(hit)}: "
            f"{hit.advisory.effect}",
            when=conditions(way.literals),
            chain=[
                link(context, f"{use.name} if {text_of(use.guard)}", use.place) for use in uses[:4]
            ],
        )


def _modules(context: RuleContext) -> list[str]:
    entries = (entry for item in context.advisories for entry in item.values)
    return sorted({entry.value for entry in entries if entry.option == IMPORT})


def _bad(context: RuleContext, module: str) -> dict[str, AdvisoryHit]:
    found = {}
    for capability in context.capabilities:
        for hit in hits(context, IMPORT, module, capability, {})[:1]:
            if hit.outcome in BAD:
                found[capability] = hit
    return found


def _reached(context: RuleContext, use: LibraryUse, bad: dict[str, AdvisoryHit]) -> dict[str, Way]:
    """The bad capabilities on which the use is reached without a flag, and how."""
    guard = all_of(entry_guard(context, use.place.file, use.function), use.guard)
    found: dict[str, Way] = {}
    for capability in bad:
        for way in ways(context, guard, capability):
            free = reach_of(context, way.literals) is not Reach.FLAG
            if (
                free
                and not _by_name(context, way)
                and not switched_away(context, way.literals, capability)
            ):
                found.setdefault(capability, way)
    return found


def _by_name(context: RuleContext, way: Way) -> bool:
    """Whether a way asks a backend enum for a member: that is there where somebody chose it."""
    words = vocabulary(context)
    for atom, wanted in way.literals:
        predicate = atom.text.endswith("()") and ".is_" in atom.text
        question = question_of(atom, words) if predicate and wanted else None
        if question is not None and not question.values & set(UNDECIDED):
            return True
    return False
