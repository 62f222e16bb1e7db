"""SGA116: default beside the options that is the same where it does not work."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sgl_audit.model.facts import EnvironmentVariable
from sgl_audit.model.guard import text_of
from sgl_audit.model.kernels import AdvisoryHit
from sgl_audit.model.report import Finding, Severity
from sgl_audit.model.source import Place
from sgl_audit.rules.advised import BAD, hits, said_of, severity_of
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.findings import finding, link
from sgl_audit.rules.fixed import FixedDefault, defaults_beside, variables
from sgl_audit.rules.reach import Reach, reach_of
from sgl_audit.rules.ways import ways

_OFF = "false"
_MACHINE = re.compile(r"\bis_sm\d|blackwell|hopper|capability")
_ARGS = """
FP4_CHOICES = ["auto", "flashinfer_cudnn", "flashinfer_trtllm"]
FUSION_CHOICES = ["auto", "trtllm"]


class ServerArgs:
    fp4_gemm_runner_backend: str = "auto"
    fusion_backend: str = "auto"

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--fp4-gemm-runner-backend", choices=FP4_CHOICES, default="auto")
        parser.add_argument("--fusion-backend", choices=FUSION_CHOICES, default="auto")
"""
_PLATFORM = """
from sglang.multimodal_gen import envs
from sglang.multimodal_gen.runtime.utils import is_sm120


class CudaPlatform:
    def get_flashinfer_fp4_backend(cls):
        backend = envs.SGLANG_DIFFUSION_FP4_BACKEND
        default_backend = {value}
        if backend is None:
            return default_backend
        return {{"flashinfer_trtllm": "trtllm"}}.get(backend, backend)
"""
_UTILS = """
import torch


def is_sm120():
    return torch.cuda.get_device_capability()[0] not in (10,)
"""


class DefaultBesideOptions(Rule):
    """A default that no option of the server sets is the same where it does not work.

    *What it does*
        Looks at two kinds of defaults: of environment variables that an
        advisory names, and of backends in the other programs of the package
        (diffusion), where the name of the function or the version of a library
        says which backend is meant. Reports those that an advisory speaks
        against on a capability where no test keeps them away.

    *Why it is bad*
        No flag shows the choice, and the way out is a variable that one has to
        know of.

    *Known limits*
        Backends of other programs are recognised by names only.

    *What to do instead*
        Set the variable.

    *Seen in*
        NVFP4 diffusion checkpoints from 0.5.15 to 0.5.18
        (sgl-project/sglang#35739); FlashAttention 3 in the diffusion runtime of
        0.5.6 (sgl-project/sglang#15342); per-channel FP8 in 0.5.1
        (sgl-project/sglang#9251).
    """

    id = "SGA116"
    title = "default beside the options that is reported bad on the capability"
    severity = Severity.ERROR
    INVALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/multimodal_gen/runtime/utils.py": _UTILS,
            "sglang/multimodal_gen/runtime/platforms/cuda.py": _PLATFORM.format(value='"trtllm"'),
        },
    )
    VALID = (
        {
            "sglang/srt/server_args.py": _ARGS,
            "sglang/multimodal_gen/runtime/utils.py": _UTILS,
            "sglang/multimodal_gen/runtime/platforms/cuda.py": _PLATFORM.format(
                value='"auto" if is_sm120() else "trtllm"'
            ),
        },
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for item in defaults_beside(context):
            bad = _bad(context, item.option, item.value, _reached_on(context, item))
            if bad:
                first = next(iter(bad.values()))
                yield self._finding(
                    context,
                    bad,
                    item.place,
                    f"{item.given} stands here where nobody chose ({item.option} = {item.value} "
                    f"in terms of the server), and {said_of(first)}: {first.advisory.effect}",
                    item.function,
                    (item.option, item.value),
                    f"taken when {text_of(item.guard)}",
                )
        for variable in variables(context):
            bad = _bad(context, variable.name, _default(variable), context.capabilities)
            if bad:
                first = next(iter(bad.values()))
                yield self._finding(
                    context,
                    bad,
                    variable.place,
                    f"{variable.name} is off by default on every capability, and without it "
                    f"{said_of(first)}: {first.advisory.effect}",
                    "",
                    (None, variable.name),
                    f"{variable.name} is read",
                    f"{variable.name}=1",
                )

    def _finding(
        self,
        context: RuleContext,
        bad: dict[str, AdvisoryHit],
        place: Place,
        message: str,
        function: str,
        what: tuple[str | None, str],
        text: str,
        remedy: str = "",
    ) -> Finding:
        first = next(iter(bad.values()))
        return finding(
            self,
            capabilities=bad,
            place=place,
            function=function,
            line=first.advisory.id,
            option=what[0],
            value=what[1],
            message=message,
            remedy=remedy,
            chain=(link(context, text, place),),
            severity=severity_of(first, certain=True),
        )


def _default(variable: EnvironmentVariable) -> str:
    return (variable.default or _OFF).strip("'\"").lower()


def _reached_on(context: RuleContext, item: FixedDefault) -> list[str]:
    return [
        capability
        for capability in context.capabilities
        if capability not in item.changed
        and any(
            way.certain
            and reach_of(context, way.literals) is not Reach.FLAG
            and not any(_aside(item, atom.text, wanted) for atom, wanted in way.literals)
            for way in ways(context, item.guard, capability)
        )
    ]


def _aside(item: FixedDefault, text: str, wanted: bool) -> bool:
    """Whether a test asks for the value by name, or for the machine in a way not understood."""
    return (wanted and item.given in text) or bool(_MACHINE.search(text))


def _bad(
    context: RuleContext, option: str, value: str, names: list[str] | tuple[str, ...]
) -> dict[str, AdvisoryHit]:
    found = {}
    for capability in names:
        for hit in hits(context, option, value, capability, {})[:1]:
            if hit.outcome in BAD:
                found[capability] = hit
    return found
