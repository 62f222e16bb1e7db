"""Order and numbers of findings, and what they touch."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sgl_audit.model.report import Audit, Finding, OptionBehaviour, Severity
from sgl_audit.model.triage import Handled, Handling
from sgl_audit_reports.common.names import SEVERITIES
from sgl_audit_reports.common.text import default_text, value_text, visible


@dataclass(frozen=True, slots=True)
class Numbered:
    """A finding with the number that tables refer to it by and the anchor that links do.

    Attributes:
        handled: why it does not count ("suppressed: we pass triton"), or "" where it does.
    """

    number: int
    anchor: str
    finding: Finding
    handled: str = ""


def severity_rank(severity: Severity) -> int:
    """0 for the worst."""
    return SEVERITIES.index(severity)


def numbered(findings: Iterable[Finding]) -> tuple[Numbered, ...]:
    """Findings, worst first, numbered from 1, each with an anchor of its own."""
    ordered = sorted(
        findings,
        key=lambda f: (severity_rank(f.severity), f.rule, f.place, f.option or "", f.value or ""),
    )
    taken: dict[str, int] = {}
    result = []
    for number, finding in enumerate(ordered, 1):
        base = _anchor(finding.fingerprint) or f"finding-{number}"
        taken[base] = taken.get(base, 0) + 1
        anchor = base if taken[base] == 1 else f"{base}-{taken[base]}"
        result.append(Numbered(number, anchor, finding))
    return tuple(result)


def numbered_of(audit: Audit, *, everything: bool = False) -> tuple[Numbered, ...]:
    """The findings to list: those that count, then those that were dealt with.

    Args:
        everything: also findings of rules that are off.
    """
    rest = [
        item for item in audit.triage.handled if everything or item.handling is not Handling.OFF
    ]
    said = {item.finding: handled_text(item) for item in rest}
    counting = audit.triage.counting(audit.findings)
    ordered = [item.finding for item in (*numbered(counting), *numbered(said))]
    anchors = {item.finding: item.anchor for item in numbered(ordered)}
    return tuple(
        Numbered(number, anchors[finding], finding, said.get(finding, ""))
        for number, finding in enumerate(ordered, 1)
    )


def handled_text(item: Handled) -> str:
    """`suppressed: we pass triton`."""
    reason = f": {visible(item.reason)}" if item.reason else ""
    return f"{item.handling.value}{reason}"


def _anchor(fingerprint: str) -> str:
    # An id with spaces or markup could not be linked to.
    return fingerprint if re.fullmatch(r"[A-Za-z0-9_.-]+", fingerprint) else ""


def default_values(behaviour: OptionBehaviour) -> frozenset[str]:
    """What the option is with nothing set, as text: the default and all it may become."""
    return frozenset(
        {default_text(behaviour.default), *(value_text(case.value) for case in behaviour.becomes)}
    )


def touches_default(audit: Audit, finding: Finding, capability: str) -> bool:
    """Whether a launch with nothing set can meet the finding on that capability."""
    if capability not in finding.capabilities:
        return False
    if finding.option is None or finding.value is None:
        return True
    return any(
        default_text(finding.value) in default_values(behaviour)
        for behaviour in audit.behaviours
        if behaviour.option == finding.option and behaviour.capability == capability
    )
