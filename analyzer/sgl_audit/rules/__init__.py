"""Rules: fault shapes looked for in the facts of a tree, one file each."""

from sgl_audit.rules.base import Rule, RuleContext
from sgl_audit.rules.registry import (
    RulesResult,
    all_rules,
    check_rules,
    rule_doc,
    run_rules,
)

__all__ = [
    "Rule",
    "RuleContext",
    "RulesResult",
    "all_rules",
    "check_rules",
    "rule_doc",
    "run_rules",
]
