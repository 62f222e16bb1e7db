"""SGA125: two readers of one setting, one of what was passed and one of what it became."""

from __future__ import annotations

from collections.abc import Iterator

from sgl_audit.model.facts import Decision, Rejection
from sgl_audit.model.guard import Atom, atoms, text_of
from sgl_audit.model.report import Finding, Severity
from sgl_audit.rules.atoms import question_of, vocabulary
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.choosing import Selection, in_server
from sgl_audit.rules.findings import finding, link
from sgl_audit.rules.options import flag_of, options_by_name
from sgl_audit.rules.settled import settled_late

_ARGS = """
FP8_CHOICES = ["auto", "triton", "cutlass"]


class ServerArgs:
    fp8_gemm_runner_backend: str = "auto"

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--fp8-gemm-runner-backend", choices=FP8_CHOICES, default="auto")
"""
_UTILS = """
import torch


def is_sm120():
    return torch.cuda.get_device_capability()[0] == 12
"""
_CONFIG = """
from sglang.srt.utils import is_sm120

FP8_GEMM_RUNNER_BACKEND = None


def initialize_fp8_gemm_config(server_args):
    global FP8_GEMM_RUNNER_BACKEND
    backend = server_args.fp8_gemm_runner_backend
    if backend == "auto" and is_sm120():
        backend = "triton"
    FP8_GEMM_RUNNER_BACKEND = backend
"""
_LAYER = """
class Fp8LinearMethod:
    def create_weights(self, server_args, layer):
        backend = "cutlass"
        if {reads} == "triton":
            backend = "triton"
        return backend
"""


class TwoReaders(Rule):
    """A layer reads what was passed, where the tree has made something else of it.

    *What it does*
        Where an initialiser turns `auto` into a value that it keeps elsewhere,
        finds layers that go on comparing the server's argument, and reports the
        capabilities on which the two come out differently.

    *Why it is bad*
        One part of a layer prepares for one kernel and another part calls the
        other: an assertion, a wrong layout, or a path that is never taken.

    *Known limits*
        Only settings that an initialiser of the layers keeps are followed.

    *What to do instead*
        Pass the value that the setting becomes: then both read the same.

    *Seen in*
        Nothing reported; the shape was found in the source.
    """

    id = "SGA125"
    title = "two readers of one setting, one of them of the raw value"
    severity = Severity.WARNING
    INVALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/utils.py": _UTILS,
            "sglang/srt/layers/quantization/fp8_utils.py": _CONFIG,
            "sglang/srt/layers/quantization/fp8.py": _LAYER.format(
                reads="server_args.fp8_gemm_runner_backend"
            ),
        },
    )
    VALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/utils.py": _UTILS,
            "sglang/srt/layers/quantization/fp8_utils.py": _CONFIG,
            "sglang/srt/layers/quantization/fp8.py": _LAYER.format(
                reads="get_fp8_gemm_runner_backend()"
            ),
        },
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        settled = settled_late(context)
        places: list[Decision | Rejection] = [*context.facts.decisions, *context.facts.rejections]
        seen: set[tuple[str, str, str]] = set()
        for item in places if settled else ():
            late = "/layers/" in item.place.file or "/models/" in item.place.file
            for atom in atoms(item.guard) if late and in_server(context, item.place) else ():
                if len(atom.options) != 1 or "server_args" not in atom.text:
                    continue
                for selection, names in settled.get(atom.options[0], ()):
                    own = selection.function == item.function
                    key = (item.place.file, item.function, atom.text + selection.value)
                    if not own and key not in seen and _differs(context, atom, selection):
                        seen.add(key)
                        yield self._report(context, item, atom, selection, names)

    def _report(
        self,
        context: RuleContext,
        item: Decision | Rejection,
        atom: Atom,
        selection: Selection,
        names: list[str],
    ) -> Finding:
        option, flag = selection.option, flag_of(selection.option, selection.value)
        return finding(
            self,
            capabilities=names,
            place=item.place,
            function=item.function,
            line=atom.text,
            option=option.name,
            value=selection.value,
            message=f"{item.function} asks `{atom.text}` of what was passed, while {option.name} "
            f"has become {selection.value} there",
            remedy=flag,
            chain=(
                link(context, f"read when {text_of(item.guard)}", item.place),
                link(context, f"{option.name} becomes {selection.value}", selection.place),
            ),
        )


def _differs(context: RuleContext, atom: Atom, selection: Selection) -> bool:
    """Whether the test comes out otherwise for the value than for the option's default."""
    question = question_of(atom, vocabulary(context))
    default = options_by_name(context)[selection.option.name].default
    if question is None or isinstance(default, (list, dict)):
        return False
    return (default in question.values) is not (selection.value in question.values)
