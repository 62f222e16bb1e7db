"""The rules there are, and running them over one tree."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from sgl_audit.model.capability import NVIDIA_NAMES
from sgl_audit.model.report import Finding, RuleDoc, Severity
from sgl_audit.model.source import Diagnostic
from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.findings import ordered
from sgl_audit.rules.sga101 import DefaultRefused
from sgl_audit.rules.sga102 import SelectionWiderThanPreparation
from sgl_audit.rules.sga103 import AutoUndecided
from sgl_audit.rules.sga104 import OpenRange
from sgl_audit.rules.sga105 import SweepingElse
from sgl_audit.rules.sga106 import ExactCapability
from sgl_audit.rules.sga107 import ChoiceAndMember
from sgl_audit.rules.sga108 import AllowListWithoutDefault
from sgl_audit.rules.sga109 import DeprecatedTrap
from sgl_audit.rules.sga110 import ExplicitReplaced
from sgl_audit.rules.sga111 import UnboundName
from sgl_audit.rules.sga112 import MissingPair
from sgl_audit.rules.sga113 import AutomaticIsAdvisedAgainst
from sgl_audit.rules.sga114 import AcceptedWithoutKernel
from sgl_audit.rules.sga115 import CallWithoutGate
from sgl_audit.rules.sga116 import DefaultBesideOptions
from sgl_audit.rules.sga117 import GapInGenerations
from sgl_audit.rules.sga118 import TileTooLarge
from sgl_audit.rules.sga119 import StaleDispatcher
from sgl_audit.rules.sga120 import ExceptionForOneModel
from sgl_audit.rules.sga121 import SiblingWithoutGate
from sgl_audit.rules.sga122 import NameAndCapabilities
from sgl_audit.rules.sga123 import StaleDecision
from sgl_audit.rules.sga124 import RefusalTooEarly
from sgl_audit.rules.sga125 import TwoReaders
from sgl_audit.rules.sga126 import FlagAgainstRunner
from sgl_audit.rules.sga127 import CallNamesBackend
from sgl_audit.rules.sga128 import ChoiceHandedOn

RULES: tuple[type[Rule], ...] = (
    DefaultRefused,
    SelectionWiderThanPreparation,
    AutoUndecided,
    OpenRange,
    SweepingElse,
    ExactCapability,
    ChoiceAndMember,
    AllowListWithoutDefault,
    DeprecatedTrap,
    ExplicitReplaced,
    UnboundName,
    MissingPair,
    AutomaticIsAdvisedAgainst,
    AcceptedWithoutKernel,
    CallWithoutGate,
    DefaultBesideOptions,
    GapInGenerations,
    TileTooLarge,
    StaleDispatcher,
    ExceptionForOneModel,
    SiblingWithoutGate,
    NameAndCapabilities,
    StaleDecision,
    RefusalTooEarly,
    TwoReaders,
    FlagAgainstRunner,
    CallNamesBackend,
    ChoiceHandedOn,
)
_RANK = {severity: position for position, severity in enumerate(Severity)}


@dataclass(frozen=True, slots=True)
class RulesResult:
    """What the rules found, and which of them could not be run to the end."""

    findings: tuple[Finding, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


def all_rules() -> tuple[RuleDoc, ...]:
    """What every rule says of itself, by id."""
    return tuple(rule.doc() for rule in RULES)


def rule_doc(rule_id: str) -> RuleDoc:
    """What one rule says of itself.

    Raises:
        KeyError: there is no such rule.
    """
    return {rule.id: rule for rule in RULES}[rule_id].doc()


def run_rules(
    context: RuleContext, select: Collection[str] = (), ignore: Collection[str] = ()
) -> tuple[Finding, ...]:
    """The findings of the rules, the worst first, without what stopped a rule."""
    return check_rules(context, select, ignore).findings


def check_rules(
    context: RuleContext, select: Collection[str] = (), ignore: Collection[str] = ()
) -> RulesResult:
    """The findings of the rules and what stopped any of them.

    Args:
        select: rule ids, or beginnings of them, to run; all where empty.
        ignore: rule ids, or beginnings of them, not to run.
    """
    found: list[Finding] = []
    diagnostics: list[Diagnostic] = []
    wide = replace(context, capabilities=read_on(context), memory={})
    for rule in RULES:
        if (select and not _starts(rule.id, select)) or _starts(rule.id, ignore):
            continue
        if rule.compares and not set(NVIDIA_NAMES) <= set(wide.capabilities):
            reason = f"facts were read on {', '.join(wide.capabilities)} only"
            diagnostics.append(Diagnostic(f"rule {rule.id} did not run: {reason}"))
            continue
        try:
            found += merged(asked(rule().check(wide), context.capabilities))
        except Exception as error:  # A fault in one rule must not cost the others' findings.
            reason = f"{type(error).__name__}: {error}"
            diagnostics.append(Diagnostic(f"rule {rule.id} stopped: {reason}"))
    return RulesResult(tuple(sorted(found, key=_key)), tuple(diagnostics))


def read_on(context: RuleContext) -> tuple[str, ...]:
    """The capabilities on which the facts were read: those asked for, and maybe more."""
    gates = (*context.facts.gates, *context.facts.platform)
    known = {name for gate in gates for name, _ in gate.holds}
    return ordered({*known, *context.capabilities})


def asked(findings: Iterable[Finding], capabilities: Collection[str]) -> Iterator[Finding]:
    """The findings that concern one of the capabilities, without the others."""
    for item in findings:
        names = tuple(name for name in item.capabilities if name in capabilities)
        if names:
            yield replace(item, capabilities=names)


def _starts(rule_id: str, prefixes: Collection[str]) -> bool:
    return any(rule_id.startswith(prefix) for prefix in prefixes)


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Findings that say the same at one place, for several capabilities, as one."""
    groups: dict[object, Finding] = {}
    for item in findings:
        what = (item.rule, item.severity, item.place, item.option, item.value)
        key = (what, item.message, item.when, item.remedy)
        known = groups.get(key)
        if known is not None:
            item = replace(known, capabilities=ordered((*known.capabilities, *item.capabilities)))
        groups[key] = item
    return list(groups.values())


def _key(item: Finding) -> tuple[object, ...]:
    return (_RANK[item.severity], item.rule, item.place, item.option or "", item.value or "")
