"""The list of rules, and one rule explained."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from sgl_audit.model.report import RuleDoc
from sgl_audit_reports.common.text import visible_lines
from sgl_audit_reports.terminal.console import (
    HEADING,
    QUIET,
    SEVERITY_STYLE,
    heading,
    indented,
    line,
    plain_table,
    text,
)


def render_rules(rules: Sequence[RuleDoc], console: Console) -> None:
    """One line a rule."""
    rows = [
        (text(rule.id), text(rule.severity.value, SEVERITY_STYLE[rule.severity]), text(rule.title))
        for rule in rules
    ]
    console.print(plain_table(("rule", "severity", "what it finds"), rows))
    if rules:
        console.print(text(f"sgl-audit explain {rules[0].id} prints one with examples", QUIET))


def render_explain(rule: RuleDoc, console: Console) -> None:
    """The rule's documentation and its examples."""
    severity = (rule.severity.value, SEVERITY_STYLE[rule.severity])
    console.print(line((f"{rule.id} ", HEADING), severity, "  ", (rule.title, HEADING)))
    if rule.description:
        console.print()
        for row in visible_lines(rule.description):
            console.print(text(row))
    for example in rule.examples:
        heading(console, "Accepted" if example.valid else "Reported")
        for file, source in example.files:
            indented(console, text(file, QUIET))
            for row in visible_lines(source):
                indented(console, text(row), 4)
