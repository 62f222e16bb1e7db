"""SGA107: choice without enum member, and member without choice."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sgl_audit.model.facts import BackendEnum, Decision, DecisionKind, Option
from sgl_audit.model.guard import atoms
from sgl_audit.model.report import Finding, Severity
from sgl_audit.model.source import Place
from sgl_audit.rules.atoms import plain, question_of, vocabulary
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.choosing import in_server
from sgl_audit.rules.findings import finding, link
from sgl_audit.rules.options import UNDECIDED, flag_of, options_by_name
from sgl_audit.rules.sources import syntax_of

_LIST = """
MODE_CHOICES = ["auto", "triton", {more}]


class ServerArgs:
    moe_runner_backend: str = "auto"

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--moe-runner-backend", choices=MODE_CHOICES, default="auto")
"""
_ENUM = """
from enum import Enum


class MoeRunnerBackend(Enum):
    AUTO = "auto"
    TRITON = "triton"
    MARLIN = "marlin"
"""


class ChoiceAndMember(Rule):
    """An option's choices and the enum made from its value do not name the same values.

    *What it does*
        Compares the choice list of each backend option with the enum of the
        same name.

    *Why it is bad*
        A choice without member passes the argument parser and raises
        `ValueError` where the enum is made. A member without choice can be set
        by the code only: the command line offers no way to it, though the
        kernels may be there.

    *Known limits*
        Enums whose members have no text values, or that map unknown text by
        `_missing_`, are not compared. Values added through an extension point
        of the list are not seen.

    *What to do instead*
        For a choice without member, pass another value. For a member without
        choice there is nothing to pass; a plug-in can add the choice through
        the list's extension point.

    *Seen in*
        `marlin` in `MoeRunnerBackend` of 0.5.9.
    """

    id = "SGA107"
    title = "choice without enum member, or member without choice"
    severity = Severity.NOTE
    INVALID = (
        {
            "sglang/srt/server_args.py": _LIST.format(more='"cutlass"'),
            "sglang/srt/layers/moe/utils.py": _ENUM,
        },
    )
    VALID = (
        {
            "sglang/srt/server_args.py": _LIST.format(more='"marlin"'),
            "sglang/srt/layers/moe/utils.py": _ENUM,
        },
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for option, enum in enums_of_options(context):
            values = {str(m.value): m for m in enum.members if isinstance(m.value, str)}
            choices = [str(choice) for choice in option.choices or () if choice is not None]
            if len(values.keys() & set(choices)) * 2 < len(choices):
                continue
            for choice in choices:
                # What stands for "not decided" or for another value is replaced before.
                known = choice in values or choice in UNDECIDED or _maps(context, enum)
                if not known and not _translated(context, option, choice):
                    yield self._no_member(context, option, enum, choice)
            for value, member in values.items():
                if value not in choices and member.alias_of is None:
                    place = member.place or enum.place
                    yield self._no_choice(context, option, enum, value, place)

    def _no_member(
        self, context: RuleContext, option: Option, enum: BackendEnum, choice: str
    ) -> Finding:
        return finding(
            self,
            capabilities=context.capabilities,
            place=option.place,
            line=enum.name,
            option=option.name,
            value=choice,
            message=f"{choice} is a choice of {flag_of(option) or option.name}, "
            f"but {enum.name} has no such member",
            chain=(
                link(context, f"{option.name} allows {choice}", option.place),
                link(context, f"{enum.name} lacks it", enum.place),
            ),
            severity=Severity.WARNING,
        )

    def _no_choice(
        self, context: RuleContext, option: Option, enum: BackendEnum, value: str, place: Place
    ) -> Finding:
        setters = setters_of(context, option.name, value)
        how = (
            f"only code sets it ({len(setters)} place{'s' if len(setters) > 1 else ''})"
            if setters
            else "nothing in the tree sets it either"
        )
        return finding(
            self,
            capabilities=context.capabilities,
            place=place,
            line=enum.name,
            option=option.name,
            value=value,
            message=f"{enum.name} has the member {value}, which is no choice of "
            f"{flag_of(option) or option.name}; {how}",
            chain=(
                link(context, f"{enum.name} has {value}", place),
                link(context, f"the choices of {option.name} lack it", option.place),
                *(link(context, f"set to {value} here", item.place) for item in setters[:3]),
            ),
        )


def enums_of_options(context: RuleContext) -> list[tuple[Option, BackendEnum]]:
    """The backend options with a list of choices, each with the enum of its name."""
    enums = {
        plain(enum.name): enum for enum in context.facts.enums if in_server(context, enum.place)
    }
    return [
        (option, enums[plain(option.name)])
        for option in options_by_name(context).values()
        if option.choices and option.name.endswith("backend") and plain(option.name) in enums
    ]


def _maps(context: RuleContext, enum: BackendEnum) -> bool:
    """Whether the enum makes something of texts that it has no member for."""
    tree = syntax_of(context, enum.place.file) if enum.has_missing else None
    for node in tree.body if tree is not None else ():
        if isinstance(node, ast.ClassDef) and node.name == enum.name:
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and method.name == "_missing_":
                    return any(
                        isinstance(item, ast.Return) and item.value is not None
                        for item in ast.walk(method)
                    )
    return enum.has_missing


def _translated(context: RuleContext, option: Option, choice: str) -> bool:
    """Whether some place that sets an option asks for the choice: it is an alias of something."""
    words = vocabulary(context)
    return any(
        choice in question.values and question.inside and question.subject == option.name
        for item in context.facts.decisions
        if item.kind in (DecisionKind.ASSIGNMENT, DecisionKind.DECLARED)
        for atom in atoms(item.guard)
        if (question := question_of(atom, words)) is not None
    )


def setters_of(context: RuleContext, option: str, value: str) -> list[Decision]:
    """The places that set an option, or a local value of the same enum, to a value."""
    return [
        item
        for item in context.facts.decisions
        if item.literal == value
        and item.option in (option, "backend", "runner_backend")
        and item.kind is not DecisionKind.DISPATCH
    ]
