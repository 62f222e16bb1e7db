"""Findings introduced, fixed and moved."""

from __future__ import annotations

from collections.abc import Iterator

from sgl_audit.model.facts import Facts
from sgl_audit.model.report import Audit, Finding, Severity
from sgl_audit.model.review import Change, ChangeKind, ChangeSubject
from sgl_audit.review.kinds import FINDING_KIND

Same = tuple[str, str | None, str | None]


def finding_changes(old: Audit, new: Audit) -> Iterator[Change]:
    """What rules find in one tree and not in the other.

    A finding whose place changed has another fingerprint; the same rule on the same value of the
    same option is then taken to be the same finding, moved.
    """
    before = {item.fingerprint: item for item in old.findings}
    after = {item.fingerprint: item for item in new.findings}
    gone = [item for key, item in before.items() if key not in after]
    fresh = [item for key, item in after.items() if key not in before]
    waiting: dict[Same, list[Finding]] = {}
    for item in gone:
        waiting.setdefault(_same(item), []).append(item)
    for now in fresh:
        others = waiting.get(_same(now))
        if others:
            yield _moved(others.pop(0), now)
        else:
            yield _introduced(now, old.facts)
    for left in waiting.values():
        yield from (_fixed(item) for item in left)


def _same(finding: Finding) -> Same:
    return finding.rule, finding.option, finding.value


def _introduced(now: Finding, old: Facts) -> Change:
    kind = FINDING_KIND[now.severity]
    fresh = _is_new(now, old)
    if fresh:
        # Nothing that runs on the old version can meet it.
        kind = ChangeKind.INFORMATIONAL
    said = " (the value is new in this version)" if fresh else ""
    return Change(
        kind,
        ChangeSubject.FINDING,
        now.rule,
        f"{now.rule} {now.severity.value} introduced{said}: {now.message}",
        after=now.fingerprint,
        option=now.option,
        capabilities=now.capabilities,
        new_place=now.place,
        remedy=now.remedy,
        backend=True,
        weight=0,
    )


def _is_new(now: Finding, old: Facts) -> bool:
    """Whether the old tree has no such option, or the option no such choice."""
    if now.option is None:
        return False
    option = next((item for item in old.options if item.name == now.option), None)
    if option is None:
        return True
    if not option.choices or now.value is None:
        return False
    return now.value not in {str(choice) for choice in option.choices}


def _fixed(was: Finding) -> Change:
    good = was.severity is not Severity.NOTE
    return Change(
        ChangeKind.ADDITIVE if good else ChangeKind.INFORMATIONAL,
        ChangeSubject.FINDING,
        was.rule,
        f"{was.rule} {was.severity.value} is no longer found: {was.message}",
        before=was.fingerprint,
        option=was.option,
        capabilities=was.capabilities,
        old_place=was.place,
        backend=True,
        weight=1 if was.severity is Severity.ERROR else 0,
    )


def _moved(was: Finding, now: Finding) -> Change:
    return Change(
        ChangeKind.INFORMATIONAL,
        ChangeSubject.FINDING,
        now.rule,
        f"{now.rule} {now.severity.value} moved: {now.message}",
        before=was.fingerprint,
        after=now.fingerprint,
        option=now.option,
        capabilities=now.capabilities,
        old_place=was.place,
        new_place=now.place,
    )
