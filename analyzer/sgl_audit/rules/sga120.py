"""SGA120: exception for one model where others of its kind get what does not work."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sgl_audit.model.capability import BY_NAME
from sgl_audit.model.guard import text_of
from sgl_audit.model.report import Finding, Severity
from sgl_audit.rules.advised import BAD, hits, said_of
from sgl_audit.rules.atoms import question_of, vocabulary
from sgl_audit.rules.automatic import Advised, advised
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.choosing import Selection
from sgl_audit.rules.chosen import chosen
from sgl_audit.rules.findings import finding, link
from sgl_audit.rules.models import ARCHITECTURE
from sgl_audit.rules.options import both_stages
from sgl_audit.rules.ways import Literal, Way, ways

_MAJOR = re.compile(r"\bmajor == (\d+)")
_ARGS = """
from sglang.srt.utils import device_major

DSA_CHOICES = ["flashinfer_sparse_mla", "trtllm", "flashmla_kv"]


class ServerArgs:
    dsa_decode_backend: str = None

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--dsa-decode-backend", choices=DSA_CHOICES)

    def _resolve(self, model_arch):
        if self.dsa_decode_backend is not None:
            return
        if {model}device_major() == 12:
            self.dsa_decode_backend = "flashinfer_sparse_mla"
        elif device_major() >= 10:
            self.dsa_decode_backend = "trtllm"
        else:
            self.dsa_decode_backend = "flashmla_kv"
"""
_UTILS = """
import torch


def device_major():
    return torch.cuda.get_device_capability()[0]
"""


class ExceptionForOneModel(Rule):
    """A capability has an exception for one architecture, and the others fall to what fails there.

    *What it does*
        Finds places that give an option a value for one named architecture on
        named capabilities, where the same function gives other models another
        value there that an advisory speaks against.

    *Why it is bad*
        The fault was known and mended for one model. Its siblings, and the next
        one of the kind, still get the kernel that does not run.

    *Known limits*
        Needs an advisory; whether siblings exist is not asked.

    *What to do instead*
        Pass the value of the exception, where the model's layout allows it.

    *Seen in*
        Sparse attention of GLM models on SM12x in 0.5.20
        (sgl-project/sglang#40286).
    """

    id = "SGA120"
    title = "exception for one model, siblings fall to a bad default"
    severity = Severity.WARNING
    INVALID = (
        {
            "sglang/srt/server_args.py": _ARGS.format(model='model_arch == "GlmMoe" and '),
            "sglang/srt/utils.py": _UTILS,
        },
    )
    VALID = ({"sglang/srt/server_args.py": _ARGS.format(model=""), "sglang/srt/utils.py": _UTILS},)

    def check(self, context: RuleContext) -> Iterator[Finding]:
        bad: dict[tuple[str, str], list[Advised]] = {}
        for item in advised(context):
            if item.hit.outcome not in BAD:
                continue
            key = (item.selection.place.file, item.selection.function)
            bad.setdefault(key, []).append(item)
        for selection in chosen(context):
            rest = bad.get((selection.place.file, selection.function), [])
            found: dict[str, tuple[str, Advised]] = {}
            for item in rest:
                other = item.selection
                same = _kind(other) == _kind(selection) and other.value != selection.value
                model = _exception(context, selection, item.capability) if same else ""
                if model and not hits(
                    context, selection.option.name, selection.value, item.capability, {}
                ):
                    found.setdefault(item.capability, (model, item))
            if found:
                yield self._report(context, selection, found)

    def _report(
        self,
        context: RuleContext,
        selection: Selection,
        found: dict[str, tuple[str, Advised]],
    ) -> Finding:
        model, item = next(iter(found.values()))
        other = item.selection
        return finding(
            self,
            capabilities=found,
            place=selection.place,
            function=selection.function,
            line=selection.line + text_of(selection.guard),
            option=selection.option.name,
            value=selection.value,
            message=f"only {model} gets {selection.option.name} = {selection.value} there; other "
            f"models come to {other.value}, and {said_of(item.hit)}",
            chain=(
                link(context, f"the exception for {model}", selection.place),
                link(context, f"everything else becomes {other.value}", other.place),
            ),
        )


def _kind(selection: Selection) -> str:
    return both_stages(selection.option.name)


def _exception(context: RuleContext, selection: Selection, capability: str) -> str:
    """The one architecture that a value is for on named capabilities, this one among them."""
    for way in ways(context, selection.guard, capability):
        named = _by_gate(way) or any(_asks_major(lit, capability) for lit in way.literals)
        models = {name for lit in way.literals for name in _architecture(context, lit)}
        if named and len(models) == 1:
            return next(iter(models))
    return ""


def _by_gate(way: Way) -> bool:
    return any(wanted and atom.text.find(">") < 0 for atom, wanted in way.machine)


def _asks_major(literal: Literal, capability: str) -> bool:
    found = _MAJOR.search(literal[0].text)
    return found is not None and literal[1] and int(found[1]) == BY_NAME[capability].major


def _architecture(context: RuleContext, literal: Literal) -> list[str]:
    atom, wanted = literal
    if not wanted or not ARCHITECTURE.search(atom.text):
        return []
    question = question_of(atom, vocabulary(context))
    if question is None or not question.inside:
        return []
    return [value for value in question.values if isinstance(value, str)]
