"""The audit as JSON."""

from __future__ import annotations

from sgl_audit.model.facts import JsonValue
from sgl_audit.model.report import (
    Advice,
    Audit,
    ChainLink,
    ChoiceCell,
    Coverage,
    FamilyRow,
    OptionBehaviour,
)
from sgl_audit.model.triage import Handling
from sgl_audit_reports.common.families import CapabilityOverview, Standing
from sgl_audit_reports.common.findings import Numbered, numbered_of
from sgl_audit_reports.common.names import SEVERITIES
from sgl_audit_reports.common.overview import overview_of
from sgl_audit_reports.json.encode import (
    FORMAT_VERSION,
    JsonObject,
    assumption_json,
    case_json,
    diagnostic_json,
    dump,
    excerpt_json,
    maybe_place,
    place_json,
    plain,
    source_json,
    strings,
)
from sgl_audit_reports.json.verdicts import verdict_json


def audit_to_json(audit: Audit) -> str:
    """The whole audit; the facts themselves are `sgl-audit facts`, too many to repeat here."""
    return dump(audit_object(audit)) + "\n"


def audit_object(audit: Audit) -> JsonObject:
    """The audit as a JSON value."""
    overview = overview_of(audit)
    counting = audit.triage.counting(audit.findings)
    return {
        "format": FORMAT_VERSION,
        "tool": {"name": "sgl-audit", "version": audit.tool_version},
        "source": source_json(audit.source),
        "capabilities": strings(audit.capabilities),
        "summary": {
            "findings": {
                severity.value: sum(1 for f in counting if f.severity is severity)
                for severity in SEVERITIES
            },
            "handled": {how.value: audit.triage.count(how) for how in Handling},
            "by_capability": {
                item.capability: _standing_json(item) for item in overview.capabilities
            },
        },
        "options": [_behaviour_json(item) for item in audit.behaviours],
        "matrix": [_cell_json(cell) for cell in audit.cells],
        "families": [_family_json(row) for row in audit.families],
        "findings": [_finding_json(item) for item in numbered_of(audit, everything=True)],
        "advice": [_advice_json(item) for item in audit.advice],
        "assumptions": [assumption_json(item) for item in audit.assumptions],
        "coverage": _coverage_json(audit.coverage),
        "diagnostics": [diagnostic_json(item) for item in audit.diagnostics],
        "notices": [item.message for item in audit.triage.notices],
    }


def _standing_json(item: CapabilityOverview) -> JsonObject:
    return {
        "standing": item.standing.value,
        **{standing.name.lower(): strings(item.of(standing)) for standing in Standing},
    }


def _behaviour_json(item: OptionBehaviour) -> JsonObject:
    return {
        "option": item.option,
        "capability": item.capability,
        "default": item.default,
        "becomes": [case_json(case) for case in item.becomes],
        "undecided": item.undecided,
        "why": item.why,
        "places": [place_json(place) for place in item.places],
    }


def _cell_json(cell: ChoiceCell) -> JsonObject:
    return {
        "option": cell.option,
        "choice": plain(cell.choice),
        "capability": cell.capability,
        "state": cell.state.value,
        "verdict": None if cell.verdict is None else cell.verdict.value,
        "grounds": strings(cell.grounds),
        "why": cell.why,
        "places": [place_json(place) for place in cell.places],
    }


def _family_json(row: FamilyRow) -> JsonObject:
    return {
        "family": row.family,
        "group": row.group or None,
        "architecture": row.architecture,
        "quantization": row.quantization,
        "capability": row.capability,
        "outcome": row.outcome,
        "values": dict(row.values),
        "why": row.why,
        "where": maybe_place(row.place),
        "findings": strings(row.findings),
        "verdicts": [verdict_json(item) for item in row.verdicts],
    }


def _finding_json(item: Numbered) -> JsonObject:
    finding = item.finding
    chain: list[JsonValue] = [_link_json(link) for link in finding.chain]
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "title": finding.title,
        "message": finding.message,
        "capabilities": strings(finding.capabilities),
        "where": place_json(finding.place),
        "option": finding.option,
        "value": finding.value,
        "when": finding.when,
        "remedy": finding.remedy,
        "chain": chain,
        "fingerprint": finding.fingerprint,
        "handled": item.handled or None,
    }


def _link_json(link: ChainLink) -> JsonObject:
    return {
        "text": link.text,
        "where": maybe_place(link.place),
        "excerpt": excerpt_json(link.excerpt),
    }


def _advice_json(item: Advice) -> JsonObject:
    return {
        "capability": item.capability,
        "family": item.family,
        "flags": strings(item.flags),
        "reasons": strings(item.reasons),
        "safe": item.safe,
    }


def _coverage_json(coverage: Coverage) -> JsonObject:
    return {
        "gates": {"understood": coverage.gates_understood, "total": coverage.gates_total},
        "decisions": {
            "understood": coverage.decisions_understood,
            "total": coverage.decisions_total,
        },
        "not_understood": [diagnostic_json(item) for item in coverage.not_understood],
    }
