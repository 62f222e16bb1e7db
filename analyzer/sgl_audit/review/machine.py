"""Gates whose capabilities differ, and environment variables that gained or lost their effect."""

from __future__ import annotations

from collections.abc import Iterator

from sgl_audit.model.facts import EnvironmentVariable, Facts, Gate, GateForm
from sgl_audit.model.review import Change, ChangeKind, ChangeSubject


def gate_changes(old: Facts, new: Facts, asked: tuple[str, ...]) -> Iterator[Change]:
    """Gates of the same name that hold on other capabilities than before.

    A capability counts only where both values are known.
    """
    for kind in ("gates", "platform"):
        before, after = _named(getattr(old, kind)), _named(getattr(new, kind))
        for name, was in before.items():
            now = after.get(name)
            if now is not None:
                yield from _gate(was, now, asked)


def _named(gates: tuple[Gate, ...]) -> dict[str, Gate]:
    found: dict[str, Gate] = {}
    for gate in gates:
        if gate.form is not GateForm.INLINE:
            # The server's own definition comes first.
            found.setdefault(gate.name, gate)
    return found


def _gate(was: Gate, now: Gate, asked: tuple[str, ...]) -> Iterator[Change]:
    values = dict(now.holds)
    gained = [n for n, held in was.holds if held is False and values.get(n) is True]
    lost = [n for n, held in was.holds if held is True and values.get(n) is False]
    if not gained and not lost:
        return
    here = tuple(name for name in (*gained, *lost) if name in asked)
    parts = [f"now holds on {', '.join(gained)}"] if gained else []
    parts += [f"no longer holds on {', '.join(lost)}"] if lost else []
    yield Change(
        ChangeKind.BEHAVIOUR if here else ChangeKind.INFORMATIONAL,
        ChangeSubject.GATE,
        was.name,
        f"{was.name} {' and '.join(parts)}",
        before=", ".join(name for name, held in was.holds if held) or "nowhere",
        after=", ".join(name for name, held in now.holds if held) or "nowhere",
        capabilities=here or (*gained, *lost),
        old_place=was.place,
        new_place=now.place,
        backend=bool(here),
        weight=1,
    )


def environment_changes(old: Facts, new: Facts) -> Iterator[Change]:
    """Environment variables that the trees treat differently."""
    before = {item.name: item for item in old.environment}
    after = {item.name: item for item in new.environment}
    replaced = {item.replacement: item for item in new.environment if item.replacement}
    owners = {flag.name: option.name for option in new.options for flag in option.flags}
    for name, was in before.items():
        now = after.get(name)
        if now is None:
            yield _lost(was, replaced.get(name), owners)
        else:
            yield from _differs(was, now)
    for name, now in after.items():
        if name not in before and not now.deprecated:
            yield Change(
                ChangeKind.ADDITIVE,
                ChangeSubject.ENVIRONMENT,
                name,
                f"{name} has an effect now{_default(now)}",
                after=now.default or "",
                new_place=now.place,
            )


def _lost(
    was: EnvironmentVariable, heir: EnvironmentVariable | None, owners: dict[str, str]
) -> Change:
    instead = was.replacement or (heir.name if heir is not None else "")
    return Change(
        ChangeKind.BEHAVIOUR,
        ChangeSubject.ENVIRONMENT,
        was.name,
        f"{was.name} has no effect any more" + (f"; use {instead}" if instead else ""),
        before=was.default or "",
        option=owners.get(instead),
        old_place=was.place,
        remedy=instead,
        backend=bool(was.reads) or bool(was.overrides),
    )


def _differs(was: EnvironmentVariable, now: EnvironmentVariable) -> Iterator[Change]:
    if now.deprecated and not was.deprecated:
        instead = now.replacement or ""
        yield Change(
            ChangeKind.INFORMATIONAL,
            ChangeSubject.ENVIRONMENT,
            was.name,
            f"{was.name} is deprecated" + (f"; use {instead}" if instead else ""),
            old_place=was.place,
            new_place=now.place,
            remedy=instead,
        )
    # A declaration that gives no default is no proof of another one.
    if was.default is not None and now.default is not None and was.default != now.default:
        yield Change(
            ChangeKind.BEHAVIOUR,
            ChangeSubject.ENVIRONMENT,
            was.name,
            f"without {was.name} it is now {now.default}, was {was.default}",
            before=was.default,
            after=now.default,
            old_place=was.place,
            new_place=now.place,
            weight=1,
        )


def _default(variable: EnvironmentVariable) -> str:
    return f" (default {variable.default})" if variable.default is not None else ""
