"""Model families under both trees: with nothing set, and with the flags that the old one needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sgl_audit.model.report import FamilyRow
from sgl_audit.model.review import (
    Change,
    ChangeKind,
    ChangeSubject,
    FamilyChange,
    Rename,
)

OK, REFUSED, UNKNOWN = "ok", "refused", "unknown"
UNSET = "unset"


def family_changes(
    old: Iterable[FamilyRow],
    new: Iterable[FamilyRow],
    renamed: Mapping[str, Rename],
    options: frozenset[str],
    flags: tuple[str, ...] = (),
) -> list[FamilyChange]:
    """Rows of the same family on the same capability, compared.

    Args:
        options: those that both trees have, by their new names.
        flags: what was added to each launch.
    """
    after = {(row.family, row.capability): row for row in new}
    found = []
    for was in old:
        now = after.get((was.family, was.capability))
        if now is not None:
            found.append(
                FamilyChange(
                    was.family,
                    was.group or was.family,
                    was.capability,
                    flags,
                    was.outcome,
                    now.outcome,
                    was.why,
                    now.why,
                    was.place,
                    now.place,
                    tuple(_values(was, now, renamed, options)),
                )
            )
    return found


def _values(
    was: FamilyRow, now: FamilyRow, renamed: Mapping[str, Rename], options: frozenset[str]
) -> Iterator[tuple[str, str, str]]:
    """Values that differ; a row leaves out those that are unset."""
    before = {renamed[n].new if n in renamed else n: value for n, value in was.values}
    after = dict(now.values)
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name, UNSET), after.get(name, UNSET)
        if old == new or (name not in options):
            continue
        if old.startswith("unknown:") or new.startswith("unknown:"):
            continue
        yield name, old, new


def changes_of(families: Iterable[FamilyChange], asked: int) -> Iterator[Change]:
    """The changes that families show, equal ones together.

    Args:
        asked: how many families there are in all.
    """
    rows = list(families)
    yield from _outcomes(rows)
    yield from _settings(rows, asked)


def _outcomes(rows: list[FamilyChange]) -> Iterator[Change]:
    grouped: dict[tuple[str, str, tuple[str, ...], str], list[FamilyChange]] = {}
    for row in rows:
        if row.before != row.after and UNKNOWN not in (row.before, row.after):
            said = row.why_after if row.after == REFUSED else row.why_before
            grouped.setdefault((row.before, row.after, row.flags, said), []).append(row)
    for (_, after, flags, said), members in grouped.items():
        worse = after == REFUSED
        given = f" with {' '.join(flags)}" if flags else " with nothing set"
        what = "is refused now" if worse else "was refused and is accepted now"
        first = members[0]
        names = tuple(dict.fromkeys(row.group for row in members))
        yield Change(
            ChangeKind.BREAKING if worse else ChangeKind.ADDITIVE,
            ChangeSubject.FAMILY,
            ", ".join(names),
            f"{_listed(names)}{given} {what}: {said}",
            before=first.before,
            after=first.after,
            capabilities=tuple(dict.fromkeys(row.capability for row in members)),
            families=tuple(dict.fromkeys(row.family for row in members)),
            groups=names,
            old_place=first.place_before,
            new_place=first.place_after,
            backend=True,
            weight=10,
        )


def _settings(rows: list[FamilyChange], asked: int) -> Iterator[Change]:
    grouped: dict[tuple[str, str, str, tuple[str, ...]], list[FamilyChange]] = {}
    for row in rows:
        # What a launch was set to before it was refused is nobody's behaviour.
        if row.before == OK and row.after == OK:
            for name, before, after in row.values:
                grouped.setdefault((name, before, after, row.flags), []).append(row)
    for (name, before, after, flags), members in grouped.items():
        groups = tuple(dict.fromkeys(row.group for row in members))
        families = tuple(dict.fromkeys(row.family for row in members))
        given = f" with {' '.join(flags)}" if flags else " with nothing set"
        every = len(families) == asked and asked > 2 and not flags
        who = f"all {asked} model families" if every else _listed(groups)
        yield Change(
            ChangeKind.BEHAVIOUR,
            ChangeSubject.FAMILY,
            name,
            f"{name} becomes {after}, was {before}, for {who}{given}",
            before=before,
            after=after,
            option=name,
            capabilities=tuple(dict.fromkeys(row.capability for row in members)),
            families=families,
            groups=groups,
            backend=True,
            weight=5,
        )


def _listed(names: tuple[str, ...], limit: int = 6) -> str:
    if len(names) <= limit:
        return ", ".join(names)
    return f"{', '.join(names[:limit])} and {len(names) - limit} more"
