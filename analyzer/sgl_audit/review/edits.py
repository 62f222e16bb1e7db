"""Launch lines that the new tree takes: every proposal is resolved before it is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sgl_audit.audit.advice import Search, accepted
from sgl_audit.audit.families import first_refusal
from sgl_audit.evaluate.relevance import is_relevant
from sgl_audit.model.facts import Option
from sgl_audit.model.resolution import Launch, Refusal, Resolution
from sgl_audit.model.review import Edit, ValueChange
from sgl_audit.review.bench import Bench
from sgl_audit.review.ends import compare
from sgl_audit.review.words import (
    Words,
    flags_in,
    owners,
    renamed_flag,
    setting,
    value_of,
    without_flag,
)

ROUNDS = 3
PINS = 6


@dataclass(frozen=True, slots=True)
class Line:
    """A launch with what was done to it and what it ends up with."""

    launch: Launch
    answer: Resolution
    steps: tuple[str, ...] = ()


def edited(launch: Launch, old: Resolution, new: Resolution, bench: Bench) -> Edit | None:
    """A line that the new tree accepts and that keeps what ran before, as far as flags can.

    None where nothing need be done, or where nothing was found to help.
    """
    line = Line(launch, new)
    if first_refusal(new) is not None:
        line = _mended(_renamed(line, bench), bench)
    if not accepted(line.answer):
        return None
    names = {item.old: item.new for item in bench.renamed.values()}
    line = _kept(line, old, names, bench)
    if not line.steps:
        return None
    left = compare(old, line.answer, names).changes if accepted(old) else ()
    return Edit(line.launch.argv, line.steps, left)


def _tried(line: Line, argv: Words, step: str, bench: Bench) -> Line:
    launch = replace(line.launch, argv=argv)
    return Line(launch, bench.resolver.resolve(launch), (*line.steps, step))


def _renamed(line: Line, bench: Bench) -> Line:
    """The line with flags of the old tree under their new names; those that are gone left out."""
    before = owners({option.name: option for option in bench.old.options})
    after = {option.name: option for option in bench.new.options}
    known = owners(after)
    argv, steps = line.launch.argv, list(line.steps)
    for flag in flags_in(line.launch.argv):
        was = before.get(flag)
        if flag in known or was is None:
            continue
        rename = bench.renamed.get(was.name)
        now = after.get(rename.new if rename is not None else was.name)
        target = next((f.name for f in now.flags if not f.deprecated), "") if now else ""
        if target:
            argv = renamed_flag(argv, flag, target)
            sure = f" ({rename.confidence.value}: {rename.evidence})" if rename else ""
            steps.append(f"{flag} is now {target}{sure}")
        else:
            argv = without_flag(argv, flag)
            steps.append(f"{flag} is gone and left out: what it did is not done any more")
    if argv == line.launch.argv:
        return line
    launch = replace(line.launch, argv=argv)
    return Line(launch, bench.resolver.resolve(launch), tuple(steps))


def _mended(line: Line, bench: Bench) -> Line:
    search = Search(bench.resolver, bench.new)
    for _ in range(ROUNDS):
        refusal = first_refusal(line.answer)
        if refusal is None:
            break
        better = _dropped(line, refusal, bench)
        if better is None:
            mended = search.mend(line.launch, refusal)
            if mended is None:
                break
            argv = (*line.launch.argv, *mended.flags)
            step = f"{' '.join(mended.flags)} is added: without it {refusal.type}"
            better = Line(replace(line.launch, argv=argv), mended.answer, (*line.steps, step))
        line = better
    return line


def _dropped(line: Line, refusal: Refusal, bench: Bench) -> Line | None:
    """The line without an explicit backend that the refusal speaks of."""
    known = owners({option.name: option for option in bench.new.options})
    for flag in flags_in(line.launch.argv):
        option = known.get(flag)
        if option is None or not is_relevant(option.name):
            continue
        value = value_of(line.launch.argv, flag)
        if not _speaks_of(refusal.message, flag, option, value):
            continue
        step = f"{flag} {value} is left out, as it is refused: {refusal.type}".replace("  ", " ")
        tried = _tried(line, without_flag(line.launch.argv, flag), step, bench)
        if accepted(tried.answer):
            return tried
    return None


def _speaks_of(message: str, flag: str, option: Option, value: str) -> bool:
    return flag in message or option.name in message or bool(value and value in message)


def _kept(line: Line, old: Resolution, names: Mapping[str, str], bench: Bench) -> Line:
    """The line with flags that give values back what they were."""
    options = {option.name: option for option in bench.new.options}
    if not accepted(old):
        return line
    tries = 0
    for change in compare(old, line.answer, names).changes:
        option = options.get(change.name)
        words = setting(option, change.before) if option is not None else None
        if words is None or words[0] in line.launch.argv or tries >= PINS:
            continue
        renamed = change.name in bench.aliases(change.before)
        renamed = renamed or bench.same_word(change.before, change.after)
        if change.settled or change.before == "auto" or renamed:
            continue
        if bench.faults(line.answer, change.name, change.before):
            continue
        tries += 1
        step = f"{' '.join(words)} keeps {change.name} as it was"
        tried = _tried(line, (*line.launch.argv, *words), step, bench)
        if accepted(tried.answer) and _is_back(old, tried.answer, names, change):
            line = tried
    return line


def _is_back(
    old: Resolution, now: Resolution, names: Mapping[str, str], change: ValueChange
) -> bool:
    """Whether one value is what it was; a change of another value in turn is no gain."""
    left = {(c.group, c.name) for c in compare(old, now, names).changes}
    return (change.group, change.name) not in left
