"""Rules as SARIF describes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sgl_audit.model.report import Finding, RuleDoc, Severity
from sgl_audit_reports.common.text import visible_lines
from sgl_audit_reports.json.encode import JsonObject
from sgl_audit_reports.sarif.parts import message

LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
# `problem.severity` is what GitHub orders its alerts by.
_PROBLEM = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.NOTE: "recommendation",
}


def descriptors(rules: Sequence[RuleDoc], findings: Iterable[Finding]) -> list[JsonObject]:
    """Every rule, by id; one that only a finding names is described by that finding."""
    known = {doc.id: _descriptor(doc) for doc in rules}
    for finding in findings:
        if finding.rule not in known:
            known[finding.rule] = _descriptor(
                RuleDoc(finding.rule, finding.severity, finding.title)
            )
    return [known[name] for name in sorted(known)]


def _descriptor(doc: RuleDoc) -> JsonObject:
    paragraphs = "\n".join(visible_lines(doc.description))
    found: JsonObject = {
        "id": doc.id,
        "name": _name(doc),
        "shortDescription": message(doc.title),
        "defaultConfiguration": {"level": LEVEL[doc.severity]},
        "properties": {
            "tags": ["sglang", "configuration"],
            "problem.severity": _PROBLEM[doc.severity],
        },
    }
    if paragraphs:
        found["fullDescription"] = message(paragraphs.split("\n\n")[0].replace("\n", " "))
        found["help"] = {
            "text": paragraphs,
            "markdown": f"{paragraphs}\n\n`sgl-audit explain {doc.id}` shows examples.",
        }
    return found


def _name(doc: RuleDoc) -> str:
    words = re.findall(r"[A-Za-z0-9]+", doc.title)
    return "".join(word[:1].upper() + word[1:] for word in words[:8]) or doc.id
