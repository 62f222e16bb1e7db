"""Verdicts as every report words them."""

from __future__ import annotations

from sgl_audit.model.paths import Site
from sgl_audit.model.verdict import FlagAdvice, Ground, Recommendation, ValueVerdict, Verdict
from sgl_audit_reports.common.text import visible

MARKS = {
    Verdict.WORKS: "+",
    Verdict.SLOW: "~",
    Verdict.UNKNOWN: "?",
    Verdict.WRONG: "!",
    Verdict.NO_KERNEL: "x",
    Verdict.REFUSED: "x",
}


_SITES = {Site.LINEAR: "linear layers"}


def subject(row: ValueVerdict) -> str:
    """Option and value, with what the layer itself makes of it."""
    name = row.option or (_SITES.get(row.site, row.site.value) if row.site else "the launch")
    text = f"{name} = {row.value}" if row.value else name
    if row.effective:
        text += f" (the layer takes {row.effective})"
    return visible(text)


def standing(recommendation: Recommendation) -> str:
    """What becomes of the launch as given, in one line."""
    bad = [row for row in recommendation.before if not row.verdict.good]
    if not bad:
        return "works as it is"
    order = list(Verdict)
    worst = max(bad, key=lambda row: order.index(row.verdict))
    return f"{worst.verdict.value}: {subject(worst)}"


def grounds_text(row: ValueVerdict) -> str:
    """What a verdict rests on, the deciding kinds once each."""
    kinds = dict.fromkeys(g.kind.value for g in row.grounds if g.says is row.verdict)
    return ", ".join(kinds)


def ground_line(ground: Ground) -> str:
    """One ground as a line, with what it is taken from."""
    origin = f" [{ground.source}]" if ground.source else ""
    return visible(f"{ground.text}{origin}")


def others_groups(item: FlagAdvice) -> tuple[tuple[Verdict, tuple[str, ...], str], ...]:
    """Further values of a flag, best first, those with one reason together."""
    groups: dict[tuple[Verdict, str], list[str]] = {}
    for row in item.others:
        groups.setdefault((row.verdict, row.reason), []).append(row.value)
    return tuple((verdict, tuple(values), why) for (verdict, why), values in groups.items())


def others_text(item: FlagAdvice) -> tuple[str, ...]:
    """The same as lines."""
    return tuple(
        visible(f"{', '.join(values)}: {verdict.value}" + (f", {reason}" if reason else ""))
        for verdict, values, reason in others_groups(item)
    )
