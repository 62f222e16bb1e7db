"""What a team's settings make of the findings of an audit."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from sgl_audit.model.report import Audit, Finding, Severity
from sgl_audit.model.settings import RuleSetting, Settings, Suppression
from sgl_audit.model.source import Diagnostic
from sgl_audit.model.triage import Handled, Handling, Triage
from sgl_audit.settings.baseline import Entry

_SHOWN = 5


def triaged(
    audit: Audit, settings: Settings, baseline: Sequence[Entry] | None, today: date
) -> Audit:
    """The audit with the severities of the settings, and with what does not count marked.

    Nothing is taken out: verdicts rest on every finding, counted or not.

    Args:
        baseline: known findings, or None where there is no baseline.
        today: the day that expiry is compared with.
    """
    found = tuple(_weighed(item, settings) for item in audit.findings)
    handled = [_off(item, settings) for item in found]
    live = [item for item in settings.suppressions if not _expired(item, today)]
    for position, item in enumerate(found):
        handled[position] = handled[position] or _suppressed(item, live)
    rest = [position for position, item in enumerate(handled) if item is None]
    known = _known([found[position] for position in rest], baseline or ())
    for position in rest:
        if found[position] in known:
            handled[position] = Handled(found[position], Handling.KNOWN)
    notices = (*_expiries(settings, today), *_stale(live, found, audit.capabilities))
    notices += _gone(baseline or (), found, audit.capabilities)
    triage = Triage(
        tuple(item for item in handled if item is not None),
        tuple(Diagnostic(text) for text in notices),
        compared=baseline is not None,
    )
    return replace(audit, findings=found, triage=triage)


def _setting(rule: str, settings: Settings) -> RuleSetting | None:
    # The rule's own name counts before a pattern, and a later pattern before an earlier one.
    exact = dict(settings.rules).get(rule)
    fitting = [value for key, value in settings.rules if fnmatch.fnmatchcase(rule, key)]
    return exact or (fitting[-1] if fitting else None)


def _weighed(finding: Finding, settings: Settings) -> Finding:
    setting = _setting(finding.rule, settings)
    if setting in (None, RuleSetting.ON, RuleSetting.OFF):
        return finding
    return replace(finding, severity=Severity(str(setting)))


def _off(finding: Finding, settings: Settings) -> Handled | None:
    if _setting(finding.rule, settings) is not RuleSetting.OFF:
        return None
    return Handled(finding, Handling.OFF, f"{finding.rule} is off in {settings.origin}")


def _expired(item: Suppression, today: date) -> bool:
    return item.expires is not None and item.expires < today


def _suppressed(finding: Finding, live: Sequence[Suppression]) -> Handled | None:
    """The finding as suppressed, where that holds on all of its capabilities."""
    fitting = [item for item in live if _fits(item, finding)]
    accepted = {name for item in fitting for name in item.arch or finding.capabilities}
    if not fitting or not set(finding.capabilities) <= accepted:
        return None
    reasons = dict.fromkeys(item.reason for item in fitting)
    return Handled(finding, Handling.SUPPRESSED, "; ".join(reasons))


def _fits(item: Suppression, finding: Finding) -> bool:
    pairs = (
        (item.rule, finding.rule),
        (item.fingerprint, finding.fingerprint),
        (item.option, finding.option),
        (item.value, finding.value),
    )
    if any(wanted is not None and wanted != given for wanted, given in pairs):
        return False
    if item.file is not None and not fnmatch.fnmatchcase(finding.place.file, item.file):
        return False
    return not item.arch or bool(set(item.arch) & set(finding.capabilities))


def _known(findings: Iterable[Finding], baseline: Sequence[Entry]) -> set[Finding]:
    """The findings that the baseline has; twins need an entry each."""
    left = list(baseline)
    known = set()
    for item in findings:
        on = set(item.capabilities)
        entry = next(
            (e for e in left if e.fingerprint == item.fingerprint and on <= e.capabilities), None
        )
        if entry is not None:
            left.remove(entry)
            known.add(item)
    return known


def _expiries(settings: Settings, today: date) -> tuple[str, ...]:
    return tuple(
        f"{item.origin} ({item.reason}) expired on {item.expires}: what it suppressed counts again"
        for item in settings.suppressions
        if _expired(item, today)
    )


def _stale(
    live: Sequence[Suppression], findings: Sequence[Finding], asked: Sequence[str]
) -> tuple[str, ...]:
    """Suppressions that fit nothing; one for other capabilities than those asked may well fit."""
    return tuple(
        f"{item.origin} ({item.reason}) fits no finding on {_listed(asked)}: drop it"
        for item in live
        if (not item.arch or set(item.arch) & set(asked))
        and not any(_fits(item, finding) for finding in findings)
    )


def _gone(
    baseline: Sequence[Entry], findings: Sequence[Finding], asked: Sequence[str]
) -> tuple[str, ...]:
    """Entries that nothing has any more, of those that could have been found."""
    there = {item.fingerprint for item in findings}
    gone = [
        entry.fingerprint
        for entry in baseline
        if entry.fingerprint not in there and entry.capabilities & set(asked)
    ]
    if not gone:
        return ()
    return (f"findings of the baseline that are gone: {_listed(gone)}; write it anew",)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"
