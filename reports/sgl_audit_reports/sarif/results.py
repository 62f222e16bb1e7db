"""Findings as SARIF results, their chains as code flows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sgl_audit.model.facts import JsonValue
from sgl_audit.model.report import Audit, ChainLink, Excerpt, Finding
from sgl_audit.model.source import Place
from sgl_audit.model.triage import Handled, Handling
from sgl_audit_reports.common.messages import holds_on, remedy_line
from sgl_audit_reports.common.names import upstream_url
from sgl_audit_reports.json.encode import JsonObject, strings
from sgl_audit_reports.sarif.descriptors import LEVEL
from sgl_audit_reports.sarif.parts import location, message


@dataclass(frozen=True, slots=True)
class _Step:
    place: Place
    text: str
    excerpt: Excerpt | None


def result(finding: Finding, audit: Audit, rule_index: int, twin: int, base: str) -> JsonObject:
    """One finding.

    Args:
        twin: which one it is of those with the same fingerprint, from 1.
        base: see `sgl_audit_reports.common.messages.path_of`.
    """
    found: JsonObject = {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": LEVEL[finding.severity],
        "kind": "fail",
        "message": message(*_said(finding, audit)),
        "locations": [location(finding.place, base, excerpt=_excerpt_at(finding))],
        "partialFingerprints": {
            "sglAudit/v1": finding.fingerprint,
            # The name under which GitHub looks for it; without a line number, so that a finding
            # in a file that is not in the repository stays the same one as well.
            "primaryLocationLineHash": f"{finding.fingerprint}:{twin}",
        },
        "properties": _properties(finding, audit),
    }
    flow: list[JsonValue] = [
        {"location": location(step.place, base, step.text, step.excerpt)}
        for step in _steps(finding.chain)
    ]
    if flow:
        found["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
    return found | _triaged(audit, audit.triage.of(finding))


def _said(finding: Finding, audit: Audit) -> Iterator[str]:
    subject = f"{finding.option} = {finding.value}" if finding.value is not None else finding.option
    yield f"{subject}: {finding.title}" if subject else finding.title
    yield finding.message
    yield holds_on(finding, audit)
    yield remedy_line(finding)


def _properties(finding: Finding, audit: Audit) -> JsonObject:
    return {
        "capabilities": strings(finding.capabilities),
        "option": finding.option,
        "value": finding.value,
        "when": finding.when,
        "remedy": finding.remedy,
        "upstream": upstream_url(audit.source, finding.place),
    }


def _excerpt_at(finding: Finding) -> Excerpt | None:
    return next((link.excerpt for link in finding.chain if link.place == finding.place), None)


def _steps(chain: tuple[ChainLink, ...]) -> Iterator[_Step]:
    """The chain with a place for each step; what has none is said at the step before it."""
    steps: list[_Step] = []
    early: list[str] = []
    for link in chain:
        if link.place is not None:
            text = "; ".join([*early, link.text])
            early = []
            steps.append(_Step(link.place, text, link.excerpt))
        elif steps:
            last = steps[-1]
            steps[-1] = _Step(last.place, f"{last.text}; {link.text}", last.excerpt)
        else:
            early.append(link.text)
    yield from steps


def _triaged(audit: Audit, handled: Handled | None) -> JsonObject:
    found: JsonObject = {}
    if audit.triage.compared:
        known = handled is not None and handled.handling is Handling.KNOWN
        found["baselineState"] = "unchanged" if known else "new"
    if handled is not None and handled.handling is not Handling.KNOWN:
        reason = handled.reason or handled.handling.value
        found["suppressions"] = [{"kind": "external", "justification": reason}]
    return found
