"""Which kind a change is, and the order of harm. docs/upgrades.md explains these rules."""

from __future__ import annotations

from collections.abc import Iterable

from sgl_audit.model.report import Severity
from sgl_audit.model.review import Change, ChangeKind, ChangeSubject

_KINDS = tuple(ChangeKind)
_SUBJECTS = tuple(ChangeSubject)
# They are about what launches choose, whether or not an option has that name.
_FIRST = (ChangeSubject.FAMILY, ChangeSubject.ADVISORY, ChangeSubject.GATE)

FINDING_KIND = {
    Severity.ERROR: ChangeKind.BREAKING,
    Severity.WARNING: ChangeKind.BEHAVIOUR,
    Severity.NOTE: ChangeKind.INFORMATIONAL,
}


def ordered(changes: Iterable[Change], chosen: frozenset[str] = frozenset()) -> tuple[Change, ...]:
    """Changes in order of harm: kind, then backends before the rest, then weight.

    Args:
        chosen: the options that the launches of model families have a value for; what concerns
            them comes before other backends.
    """
    return tuple(
        sorted(
            changes,
            key=lambda c: (
                _KINDS.index(c.kind),
                not c.backend,
                c.option not in chosen and c.subject not in _FIRST,
                -c.weight,
                _SUBJECTS.index(c.subject),
                c.name,
                c.text,
            ),
        )
    )
