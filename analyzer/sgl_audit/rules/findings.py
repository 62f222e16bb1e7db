"""Making findings: chain, capability set, and a fingerprint that survives moved lines."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from sgl_audit.model.capability import CAPABILITIES
from sgl_audit.model.report import ChainLink, Finding, Severity
from sgl_audit.model.source import Place
from sgl_audit.rules.base import Rule, RuleContext

_ORDER = {capability.name: position for position, capability in enumerate(CAPABILITIES)}


def ordered(capabilities: Iterable[str]) -> tuple[str, ...]:
    """Capability names without repetition, as in CAPABILITIES."""
    return tuple(sorted(set(capabilities), key=lambda name: (_ORDER.get(name, 999), name)))


def link(context: RuleContext, text: str, place: Place | None = None) -> ChainLink:
    """One place of a chain, with the source around it."""
    return ChainLink(text, place, context.excerpt(place) if place is not None else None)


def finding(
    rule: Rule,
    *,
    capabilities: Iterable[str],
    place: Place,
    message: str,
    function: str = "",
    line: str = "",
    option: str | None = None,
    value: str | None = None,
    when: str = "",
    remedy: str = "",
    chain: Iterable[ChainLink] = (),
    severity: Severity | None = None,
) -> Finding:
    """A finding of `rule`.

    Args:
        function: the function around the place, for the fingerprint.
        line: the source line at the place, for the fingerprint.
        severity: where it is not the rule's own.
    """
    return Finding(
        rule.id,
        severity or rule.severity,
        rule.title,
        message,
        ordered(capabilities),
        place,
        option,
        value,
        when,
        remedy,
        tuple(chain),
        fingerprint(rule.id, place.file, option, value, function, line),
    )


def fingerprint(*parts: str | None) -> str:
    """A short hash of what stays when lines move: text is compared without its white space."""
    text = "\0".join("".join((part or "").split()) for part in parts)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
