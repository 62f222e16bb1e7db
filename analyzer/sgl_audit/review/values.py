"""Explicit values that a capability refuses now, or no longer refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sgl_audit.model.facts import Scalar
from sgl_audit.model.report import Audit, ChoiceCell, ChoiceState
from sgl_audit.model.review import Change, ChangeKind, ChangeSubject, Rename

_ACCEPTED = (ChoiceState.DEFAULT, ChoiceState.AUTOMATIC, ChoiceState.FLAG)
Key = tuple[str, Scalar]


def value_changes(old: Audit, new: Audit, renamed: Mapping[str, Rename]) -> Iterator[Change]:
    """Choices that both trees have and that a capability treats differently.

    Only certain states count: a refusal under some condition is a matter of whole launches.
    """
    after = {(cell.option, cell.choice, cell.capability): cell for cell in new.cells}
    worse: dict[Key, list[tuple[ChoiceCell, ChoiceCell]]] = {}
    better: dict[Key, list[tuple[ChoiceCell, ChoiceCell]]] = {}
    for was in old.cells:
        rename = renamed.get(was.option)
        name = rename.new if rename is not None else was.option
        now = after.get((name, was.choice, was.capability))
        if now is None:
            continue
        if now.state is ChoiceState.REFUSED and was.state in _ACCEPTED:
            worse.setdefault((name, was.choice), []).append((was, now))
        if was.state is ChoiceState.REFUSED and now.state in _ACCEPTED:
            better.setdefault((name, was.choice), []).append((was, now))
    for key, pairs in worse.items():
        yield _change(ChangeKind.BREAKING, key, pairs, f"is refused now: {pairs[0][1].why}")
    for key, pairs in better.items():
        yield _change(ChangeKind.ADDITIVE, key, pairs, "is no longer refused")


def _change(
    kind: ChangeKind, key: Key, pairs: list[tuple[ChoiceCell, ChoiceCell]], said: str
) -> Change:
    option, choice = key
    where = tuple(now.capability for _, now in pairs)
    was, now = pairs[0]
    return Change(
        kind,
        ChangeSubject.VALUE,
        option,
        f"{option} = {choice} {said}",
        before=was.state.value,
        after=now.state.value,
        option=option,
        capabilities=where,
        old_place=was.places[0] if was.places else None,
        new_place=now.places[0] if now.places else None,
        backend=True,
        weight=4 if kind is ChangeKind.BREAKING else 1,
    )
