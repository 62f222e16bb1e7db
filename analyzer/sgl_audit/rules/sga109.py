"""SGA109: exact alias and deprecation traps."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sgl_audit.model.facts import Choice, ChoiceList, Decision, EnvironmentVariable, Option
from sgl_audit.model.guard import atoms, text_of
from sgl_audit.model.report import Finding, Severity
from sgl_audit.rules.atoms import vocabulary
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.findings import finding, link
from sgl_audit.rules.options import flag_of, options_by_name
from sgl_audit.rules.ways import Demand, demands, ways
from sgl_audit.rules.wording import several

OLD = re.compile(r"deprecat|\balias\b", re.IGNORECASE)
_ENVIRON = """
class EnvStr:
    def __init__(self, default):
        self.default = default


class Envs:
    SGLANG_FLASHINFER_FP4_GEMM_BACKEND = EnvStr("")


envs = Envs()


def _warn_deprecated_env(name, text):
    print(name, text)


_warn_deprecated_env(
    "SGLANG_FLASHINFER_FP4_GEMM_BACKEND", "Please use --fp4-gemm-backend instead."
)
"""
_ARGS = """
FP4_CHOICES = ["auto", "flashinfer_cudnn", "flashinfer_cutlass"]


class ServerArgs:
    fp4_gemm_runner_backend: str = "flashinfer_cutlass"

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument(
            "--fp4-gemm-backend",
            dest="fp4_gemm_runner_backend",
            choices=FP4_CHOICES,
            default="flashinfer_cutlass",
        )
"""
_CONFIG = """
from sglang.srt.environ import envs


def initialize_fp4_gemm_config(server_args):
    backend = server_args.fp4_gemm_runner_backend
    if envs.SGLANG_FLASHINFER_FP4_GEMM_BACKEND.is_set():
        if backend == "auto":
            backend = "flashinfer_cudnn"
    return backend
"""


class DeprecatedTrap(Rule):
    """A deprecated variable or name still takes part in a choice, or silently does not.

    *What it does*
        For each deprecated environment variable that is still read where a
        backend is chosen, says when it wins over the flag that replaced it. For
        each choice that its own comment calls a deprecated alias, says of what.

    *Why it is bad*
        A variable left in a start script goes on choosing kernels after an
        upgrade, or stops doing so without a word, depending on the default of
        the new flag.

    *Known limits*
        Variables are found by their names in the tests around a decision.

    *What to do instead*
        Unset the variable and pass the flag; write the current name of a
        choice.

    *Seen in*
        `SGLANG_FLASHINFER_FP4_GEMM_BACKEND` in 0.5.9, which only counts where
        the flag is set to `auto`, while the flag's default is another value.
    """

    id = "SGA109"
    title = "alias or deprecation trap"
    severity = Severity.NOTE
    INVALID = (
        {
            "sglang/srt/environ.py": _ENVIRON,
            "sglang/srt/server_args.py": _ARGS,
            "sglang/srt/layers/fp4_utils.py": _CONFIG,
        },
        {
            "sglang/srt/server_args.py": _ARGS.replace(
                '"flashinfer_cudnn",', '\n    "cudnn",  # Deprecated alias for "flashinfer_cudnn"\n'
            ),
        },
    )
    VALID = ({"sglang/srt/server_args.py": _ARGS},)

    def check(self, context: RuleContext) -> Iterator[Finding]:
        options = tuple(options_by_name(context).values())
        for variable in context.facts.environment:
            flag = variable.replacement if variable.deprecated else None
            option = next((o for o in options if flag in {f.name for f in o.flags}), None)
            if option is not None and option.choices:
                using = [d for d in context.facts.decisions if _named(d, variable.name)]
                if using:
                    yield self._variable(context, variable, option, using)
        for listed in context.facts.choice_lists:
            using_it = [option for option in options if _lists(option, listed)]
            for choice in listed.choices if using_it else ():
                if choice.note and OLD.search(choice.note):
                    yield self._choice(context, using_it, choice)

    def _variable(
        self,
        context: RuleContext,
        variable: EnvironmentVariable,
        option: Option,
        using: list[Decision],
    ) -> Finding:
        demand = _demand(context, option, using[0])
        flag = flag_of(option)
        if demand is None or demand == Demand():
            when, severity = f"it wins over {flag}, whatever that is", Severity.WARNING
        elif isinstance(option.default, str) and demand.admits(option.default):
            when, severity = f"it wins where {flag} is left at {option.default}", Severity.NOTE
        else:
            asked = " or ".join(sorted(str(value) for value in demand.allowed or ()))
            when = (
                f"it wins only where {flag} {asked or 'another value'} is passed; with {flag} at "
                f"its default {option.default} it is ignored"
            )
            severity = Severity.WARNING
        return finding(
            self,
            capabilities=context.capabilities,
            place=using[0].place,
            function=using[0].function,
            option=option.name,
            value=variable.name,
            message=f"{variable.name} is deprecated in favour of {flag}, and {when}",
            remedy=f"unset {variable.name} and pass {flag}",
            chain=(
                link(context, f"{variable.name} is declared", variable.place),
                *(link(context, f"read when {text_of(d.guard)}", d.place) for d in using[:3]),
            ),
            severity=severity,
        )

    def _choice(self, context: RuleContext, options: list[Option], choice: Choice) -> Finding:
        # The shortest name is the one that the others put a word before.
        option = min(options, key=lambda item: len(item.name))
        place = choice.place or option.place
        return finding(
            self,
            capabilities=context.capabilities,
            place=place,
            option=option.name,
            value=str(choice.value),
            message=f"the choice {choice.value} of "
            f"{several(flag_of(item) or item.name for item in options)} is marked: {choice.note}",
            chain=(link(context, f"{choice.value}: {choice.note}", place),),
        )


def _named(decision: Decision, name: str) -> bool:
    return any(name in atom.text for atom in atoms(decision.guard))


def _demand(context: RuleContext, option: Option, decision: Decision) -> Demand | None:
    words = vocabulary(context)
    for capability in context.capabilities:
        for way in ways(context, decision.guard, capability):
            return demands(way.literals, words).get(option.name)
    return None


def _lists(option: Option, listed: ChoiceList) -> bool:
    """Whether the choices of an option are those of a list."""
    if not option.choices or None in option.choices:
        return False
    return listed.name == option.choice_list or listed.values == option.choices
