"""A review in words that every report shares: family lines, launch lines, counts, links."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sgl_audit.model.facts import JsonValue
from sgl_audit.model.resolution import Outcome, Refusal
from sgl_audit.model.review import (
    Change,
    ChangeKind,
    ChangeSubject,
    FamilyChange,
    LaunchEnd,
    LaunchReview,
    LoneValue,
    Review,
    ValueChange,
)
from sgl_audit.model.source import SourceInfo
from sgl_audit_reports.common.text import clipped, plural, unique, value_text, visible

KINDS = tuple(ChangeKind)
_NAMED = 4
_VALUE = 60
_FIRST = ("NVFP4", "MXFP4", "FP8")
# What a program line begins with where only arguments were given.
_PROGRAM = "python -m sglang.launch_server"


@dataclass(frozen=True, slots=True)
class FamilyLine:
    """Families that the upgrade treats alike.

    Attributes:
        values: those that concern what the families are quantized as come first.
        beside: how many of them, from the end, concern another quantization only.
        rank: place among families, those of few bits first.
    """

    groups: tuple[str, ...]
    capabilities: tuple[str, ...]
    flags: tuple[str, ...]
    before: str
    after: str
    why: str
    values: tuple[tuple[str, str, str], ...]
    beside: int
    rank: tuple[int, int]

    @property
    def harm(self) -> int:
        """0 where the launch ends now, then what changes, then what works now, then nothing."""
        if self.after == "refused" and self.before == "ok":
            return 0
        if "unknown" in (self.before, self.after):
            return 3
        if self.before == "refused" and self.after == "ok":
            return 2
        return 1 if len(self.values) > self.beside else 4


def family_lines(families: Sequence[FamilyChange]) -> list[FamilyLine]:
    """Families with equal changes in one line each: what ends first, then those of few bits."""
    groups: dict[tuple[object, ...], list[FamilyChange]] = {}
    order = {name: i for i, name in enumerate(unique(row.group for row in families))}
    for row in families:
        why = row.why_after if row.after == "refused" else row.why_before
        key = (row.flags, row.before, row.after, _values(row), why * (row.before != row.after))
        groups.setdefault(key, []).append(row)
    lines = [_line(rows, str(key[-1]), order) for key, rows in groups.items()]
    return sorted(lines, key=lambda item: (item.harm > 0, item.harm == 4, item.rank, item.harm))


def _line(rows: Sequence[FamilyChange], why: str, order: dict[str, int]) -> FamilyLine:
    first = min(rows, key=lambda row: (_bits(row), order[row.group]))
    values, beside = _values(first)
    return FamilyLine(
        unique(row.group for row in sorted(rows, key=lambda r: (_bits(r), order[r.group]))),
        unique(row.capability for row in rows),
        first.flags,
        first.before,
        first.after,
        why,
        values,
        beside,
        (_bits(first), order[first.group]),
    )


def _bits(row: FamilyChange) -> int:
    return next((i for i, name in enumerate(_FIRST) if row.group.startswith(name)), len(_FIRST))


def _values(row: FamilyChange) -> tuple[tuple[tuple[str, str, str], ...], int]:
    """What differs in what runs; values of a launch that one side refuses say nothing of that."""
    if not row.before == row.after == "ok":
        return (), 0
    own = [value for value in row.values if concerns(value[0], row.group)]
    beside = [value for value in row.values if value not in own]
    return (*own, *beside), len(beside)


def concerns(option: str, group: str) -> bool:
    """Whether an option that names a number format can matter to a family."""
    head = option.partition("_")[0].upper()
    return not (head in ("FP4", "FP8", "BF16") and head not in group)


def family_text(line: FamilyLine) -> str:
    """What happens to the families of one line."""
    if line.before != line.after:
        words = {"ok": "accepted", "refused": "REFUSED"}
        text = f"{words.get(line.before, line.before)} -> {words.get(line.after, line.after)}"
        return f"{text} ({line.why})" if line.why else text
    if line.before != "ok":
        return f"{line.before} in both versions"
    if not line.values:
        return "nothing changes"
    shown = line.values[: len(line.values) - line.beside] or line.values
    said = "; ".join(f"{name} {before} -> {after}" for name, before, after in shown)
    rest = len(line.values) - len(shown)
    return f"{said}; {rest} more of other formats" if rest else said


def setting_text(line: FamilyLine) -> str:
    """The flags of one line, or that there are none."""
    return " ".join(line.flags) if line.flags else "nothing set"


def counts(changes: Sequence[Change]) -> str:
    """`3 breaking, 4 behaviour, ...`."""
    return ", ".join(f"{sum(c.kind is kind for c in changes)} {kind.value}" for kind in KINDS)


def important(changes: Sequence[Change]) -> list[Change]:
    """What is worth a first screen: harm to backends that no family line shows already.

    The same choices that several options lose are one entry, and so are the values of one
    advisory.
    """
    found: dict[object, Change] = {}
    for change in changes:
        if not change.backend or change.kind not in KINDS[:2]:
            continue
        if change.subject is ChangeSubject.FAMILY:
            continue
        key = _entry(change)
        first = found.get(key)
        if first is None:
            found[key] = change
        elif change.subject is ChangeSubject.CHOICE:
            flag = change.text.partition(" ")[0]
            found[key] = replace(first, text=f"{flag}, {first.text}")
    return list(found.values())


def _entry(change: Change) -> object:
    if change.subject is ChangeSubject.CHOICE:
        return change.kind, change.before
    if change.subject is ChangeSubject.ADVISORY:
        return change.kind, change.name
    return change


def main_pins(changes: Sequence[Change]) -> list[str]:
    """The pinned versions of kernel libraries that moved, as one text each."""
    found = [c for c in changes if c.subject is ChangeSubject.PIN and c.backend]
    return [c.text for c in sorted(found, key=lambda c: -c.weight)]


def command_line(program: str, argv: Sequence[str], environment: Sequence[tuple[str, str]]) -> str:
    """A launch as it can be pasted into a shell."""
    variables = [f"{name}={shlex.quote(value)}" for name, value in environment]
    words = [*variables, program or _PROGRAM, *(shlex.quote(visible(word)) for word in argv)]
    return " ".join(words)


def launch_line(review: LaunchReview) -> str:
    """The launch as it was given."""
    launch = review.launch
    return command_line(review.program, launch.argv, launch.environment)


def edited_line(review: LaunchReview) -> str:
    """The line that the new version takes."""
    if review.edit is None:
        return ""
    return command_line(review.program, review.edit.argv, review.launch.environment)


def value_changes(changes: Sequence[ValueChange]) -> list[str]:
    """`option before -> after`, once where the record and the run time say the same.

    What the run time holds comes first, then what it settles in spite of the record.
    """
    texts = []
    ranked = sorted(changes, key=lambda c: (c.settled, c.group != "runtime", _numeric(c)))
    for change in ranked:
        name = change.name
        if change.old_name:
            name = f"{change.old_name} (now {change.name})"
        aside = " (the same at run time)" if change.settled else ""
        texts.append(f"{name} {_short(change.before)} -> {_short(change.after)}{aside}")
    return list(unique(texts))


def _short(value: JsonValue) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return clipped(value_text(value), _VALUE)


def lone_texts(values: Sequence[LoneValue]) -> list[str]:
    """Values that only one version has, those left out that are nothing."""
    return [
        f"{item.name}={_short(item.value)}"
        for item in values
        if item.group == "options" and item.value not in (None, False, [], {})
    ]


def _numeric(change: ValueChange) -> bool:
    numbers = (int, float)
    return isinstance(change.before, numbers) and isinstance(change.after, numbers)


def refusal_in(end: LaunchEnd) -> Refusal | None:
    """The refusal a launch meets, at start or once loading starts."""
    if end.refusal is not None:
        return end.refusal
    return end.late[0] if end.late else None


def refusal_text(refusal: Refusal) -> str:
    """A refusal in one line."""
    when = "" if refusal.stage == "resolution" else "once loading starts: "
    return f"{when}{refusal.type}: {' '.join(refusal.message.split())}"


def end_text(end: LaunchEnd) -> str:
    """How a launch ends."""
    refusal = refusal_in(end)
    if refusal is not None:
        place = f" at {refusal.place}" if refusal.place is not None else ""
        return f"refused{place}: {refusal_text(refusal)}"
    if end.outcome is Outcome.UNKNOWN:
        return f"unknown: {end.reason}"
    return "accepted"


def versions(review: Review) -> tuple[str, str]:
    """How the two trees are called where there is little room."""
    old, new = _version(review.old), _version(review.new)
    if old != new:
        return old, new
    return review.old.label, review.new.label


def _version(info: SourceInfo) -> str:
    return info.distribution.version or info.label


def same_text(review: Review) -> str:
    """The sentence for two sources with the same code."""
    old, new = review.old.label, review.new.label
    both = old if old == new else f"{old} and {new}"
    return f"{both}: the same code, so nothing changes"


def total_text(review: Review) -> str:
    """How much there is."""
    return f"{plural(len(review.changes), 'change')}: {counts(review.changes)}"


def listed_groups(groups: Sequence[str]) -> str:
    """Some groups by name."""
    if len(groups) <= _NAMED:
        return ", ".join(groups)
    return f"{', '.join(groups[:_NAMED])} and {len(groups) - _NAMED} more"
