"""The rules as Markdown pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sgl_audit.model.report import RuleDoc, RuleExample
from sgl_audit_reports.common.text import visible_lines
from sgl_audit_reports.markdown.escape import code, fenced, table

_HEADING = re.compile(r"\*(.+)\*")
_INDENT = "    "


def rule_page(doc: RuleDoc) -> str:
    """One rule: its documentation, and mini-trees that it reports and accepts."""
    lines = [f"# {doc.id}: {doc.title}", "", f"Severity: {doc.severity.value}.", ""]
    lines += _described(doc.description)
    for title, valid in (("Reported", False), ("Accepted", True)):
        examples = [item for item in doc.examples if item.valid is valid]
        for number, example in enumerate(examples, 1):
            count = f" ({number} of {len(examples)})" if len(examples) > 1 else ""
            lines += [f"## {title}{count}", "", *_files(example)]
    return "\n".join(lines).rstrip() + "\n"


def _described(description: str) -> Iterator[str]:
    for row in visible_lines(description):
        heading = _HEADING.fullmatch(row)
        if heading is not None:
            yield from (f"## {heading[1]}", "")
        else:
            # Indented text is a block of code to Markdown.
            yield row.removeprefix(_INDENT)
    yield ""


def _files(example: RuleExample) -> Iterator[str]:
    for name, source in example.files:
        yield from (code(name), "", *fenced(visible_lines(source.strip("\n")), "python"), "")


def rules_index(docs: Sequence[RuleDoc]) -> str:
    """The list of rules, each with a link to its page."""
    rows = [(f"[{doc.id}]({doc.id}.md)", doc.severity.value, doc.title) for doc in docs]
    lines = [
        "# Rules",
        "",
        "Each rule is a fault shape that is looked for in the source; none knows a model or a",
        "release by name. `sgl-audit explain ID` prints one. Severities may be changed and rules",
        "switched off in the [configuration](../configuration.md).",
        "",
        *table(("rule", "severity", "what it finds"), rows),
    ]
    return "\n".join(lines).rstrip() + "\n"
