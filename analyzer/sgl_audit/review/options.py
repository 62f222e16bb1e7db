"""Options, flags, choices and declared defaults that differ."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sgl_audit.audit.wording import value_text
from sgl_audit.model.facts import Facts, Option, Scalar
from sgl_audit.model.review import Change, ChangeKind, ChangeSubject, Confidence, Rename

_FLAG = re.compile(r"--[a-z][\w-]*(?:[{<][^\s]*)?")
_LISTED = 12


def option_changes(old: Facts, new: Facts, renamed: Mapping[str, Rename]) -> Iterator[Change]:
    """What differs in how settings are declared.

    Args:
        renamed: by old name.
    """
    before = {option.name: option for option in old.options}
    after = {option.name: option for option in new.options}
    flags = {flag.name: option for option in after.values() for flag in option.flags}
    heirs = {item.new for item in renamed.values()}
    known = {flag.name for option in before.values() for flag in option.flags}
    for name, was in before.items():
        rename = renamed.get(name)
        now = after.get(rename.new if rename is not None else name)
        if now is None:
            yield from _removed(was, [f for f in flags if f not in known])
            continue
        yield from _flag_changes(was, now, flags, rename)
        yield from _declared(was, now)
    for name, now in after.items():
        if name not in before and name not in heirs and now.flags and not now.deprecated:
            yield _added(now)


def _removed(was: Option, fresh: list[str]) -> Iterator[Change]:
    if was.flags:
        flags = ", ".join(flag.name for flag in was.flags)
        # A like name proves nothing, but it is where a reader looks next.
        alike = [name for name in fresh if any(name.startswith(f"{f.name}-") for f in was.flags)]
        hint = f"; new flags that start so: {', '.join(alike)}" if alike else ""
        yield Change(
            ChangeKind.BREAKING,
            ChangeSubject.OPTION,
            was.name,
            f"{flags} is gone: a launch with it is refused; no option was found to be the same"
            f"{hint}",
            before=flags,
            option=was.name,
            old_place=was.place,
            backend=was.backend,
            weight=1,
        )


def _added(now: Option) -> Change:
    flag = next((flag.name for flag in now.flags if not flag.deprecated), now.name)
    return Change(
        ChangeKind.ADDITIVE,
        ChangeSubject.OPTION,
        now.name,
        f"new: {flag}, default {value_text(now.default) if now.default_known else 'computed'}",
        after=flag,
        option=now.name,
        new_place=now.place,
        backend=now.backend,
    )


def _flag_changes(
    was: Option, now: Option, owners: Mapping[str, Option], rename: Rename | None
) -> Iterator[Change]:
    current = [flag.name for flag in now.flags if not flag.deprecated]
    target = current[0] if current else (now.flags[0].name if now.flags else "")
    for flag in was.flags:
        owner = owners.get(flag.name)
        if owner is None:
            yield _flag_gone(was, now, flag.name, target, rename)
    old_flags = {flag.name for flag in was.flags}
    newly = [f for f in now.flags if f.deprecated and f.name in old_flags]
    declared = {flag.name for flag in was.flags if flag.deprecated}
    for flag in newly:
        if flag.name not in declared and not was.deprecated:
            yield _deprecated(was, now, flag.name, current)
    fresh = [flag.name for flag in now.flags if flag.name not in old_flags and not flag.deprecated]
    if fresh and rename is None:
        yield Change(
            ChangeKind.ADDITIVE,
            ChangeSubject.FLAG,
            now.name,
            f"new spelling {', '.join(fresh)} of {was.flags[0].name if was.flags else was.name}",
            after=", ".join(fresh),
            option=now.name,
            old_place=was.place,
            new_place=now.place,
            backend=now.backend,
        )


def _flag_gone(was: Option, now: Option, flag: str, target: str, rename: Rename | None) -> Change:
    doubt = rename is not None and rename.confidence is not Confidence.CERTAIN
    how = "is now" if not doubt else "is gone; it likely goes on as"
    text = f"{flag} {how} {target}" if target else f"{flag} is gone; only code sets {now.name}"
    return Change(
        ChangeKind.BREAKING,
        ChangeSubject.FLAG,
        was.name,
        f"{text}: a launch with {flag} is refused",
        before=flag,
        after=target,
        option=now.name,
        old_place=was.place,
        new_place=now.place,
        remedy=target,
        confidence=rename.confidence if rename is not None else Confidence.CERTAIN,
        evidence=rename.evidence if rename is not None else "the same field in both versions",
        backend=was.backend or now.backend,
        weight=2,
    )


def _deprecated(was: Option, now: Option, flag: str, current: list[str]) -> Change:
    named = [item for item in _FLAG.findall(now.help or "") if item != flag]
    instead = named[0] if named else (current[0] if current else "")
    said = f"; use {instead}" if instead else ""
    return Change(
        ChangeKind.INFORMATIONAL,
        ChangeSubject.FLAG,
        now.name,
        f"{flag} still works but is deprecated{said}",
        before=flag,
        after=instead,
        option=now.name,
        old_place=was.place,
        new_place=now.place,
        remedy=instead,
        backend=was.backend or now.backend,
        weight=1,
    )


def _declared(was: Option, now: Option) -> Iterator[Change]:
    backend = was.backend or now.backend
    if was.default_known and now.default_known and was.default != now.default:
        yield Change(
            ChangeKind.BEHAVIOUR,
            ChangeSubject.DEFAULT,
            now.name,
            f"the declared default of {now.name} is {value_text(now.default)}, "
            f"was {value_text(was.default)}",
            before=value_text(was.default),
            after=value_text(now.default),
            option=now.name,
            old_place=was.place,
            new_place=now.place,
            backend=backend,
            weight=2,
        )
    yield from _choices(was, now, backend)


def _choices(was: Option, now: Option, backend: bool) -> Iterator[Change]:
    if not was.choices and not now.choices:
        return
    # None: any value of the type is taken.
    removed = missing(was.choices, now.choices)
    added = missing(now.choices, was.choices) if was.choices is not None else ()
    if removed:
        yield Change(
            ChangeKind.BREAKING,
            ChangeSubject.CHOICE,
            now.name,
            f"{flag_of(now)} no longer takes {_names(removed)}",
            before=_names(removed),
            option=now.name,
            old_place=was.place,
            new_place=now.place,
            backend=backend,
            weight=3,
        )
    if added:
        yield Change(
            ChangeKind.ADDITIVE,
            ChangeSubject.CHOICE,
            now.name,
            f"{flag_of(now)} also takes {_names(added)}",
            after=_names(added),
            option=now.name,
            old_place=was.place,
            new_place=now.place,
            backend=backend,
        )


def missing(
    choices: tuple[Scalar, ...] | None, other: tuple[Scalar, ...] | None
) -> tuple[str, ...]:
    """Choices that the other list lacks; none where the other takes any value."""
    if choices is None or other is None:
        return ()
    known = set(other)
    return tuple(sorted(str(choice) for choice in choices if choice not in known))


def flag_of(option: Option) -> str:
    """The spelling to name an option by: the first that is not deprecated."""
    current = [flag.name for flag in option.flags if not flag.deprecated]
    return current[0] if current else (option.flags[0].name if option.flags else option.name)


def _names(values: tuple[str, ...]) -> str:
    shown = ", ".join(values[:_LISTED])
    return shown if len(values) <= _LISTED else f"{shown} and {len(values) - _LISTED} more"
