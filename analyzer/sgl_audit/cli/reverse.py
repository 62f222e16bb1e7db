"""The reverse question: what makes an option become a value on a capability?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sgl_audit.cli.choosing import known_name
from sgl_audit.cli.pages.others import mentions
from sgl_audit.cli.pages.rows import decision_rows, places, rejection_rows, size, when
from sgl_audit.cli.pages.subject import SETTING, Subject, enums_of
from sgl_audit.errors import UsageError
from sgl_audit.model.facts import Decision, Facts, JsonValue, Option
from sgl_audit.model.guard import And, Guard, holds_on, text_of
from sgl_audit.model.report import ShowPage, ShowRow, ShowSection
from sgl_audit.model.resolution import Outcome, Resolution
from sgl_audit.model.source import SourceTree
from sgl_audit_reports.common.text import clipped

_OBSTACLE_LENGTH = 160
_NOTHING = {"none", "null", "(unset)", ""}
# The page, and whether anything reaches the value; None where that is not known.
Page = tuple[ShowPage, bool | None]


@dataclass(frozen=True, slots=True)
class FamilyAnswer:
    """One model family on one capability, with nothing set.

    Attributes:
        certain: False where the value is one of several cases.
    """

    family: str
    capability: str
    certain: bool


def wanted(facts: Facts, text: str) -> tuple[Option, str]:
    """`OPTION=VALUE` taken apart and checked.

    Raises:
        UsageError: it has no `=`, or there is no such option.
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"{text!r} is no OPTION=VALUE; write it like moe_runner_backend=auto")
    options = {option.name: option for option in facts.options}
    flags = {flag.name.lstrip("-"): o.name for o in facts.options for flag in o.flags}
    found = known_name(name, [*options, *flags], "option")
    return options[flags.get(found, found)], value.strip()


def families_with(
    tree: SourceTree,
    facts: Facts,
    capabilities: tuple[str, ...],
    option: Option,
    value: str,
    *,
    libraries: tuple[SourceTree, ...],
    assume: tuple[tuple[str, str], ...],
    jobs: int,
    progress: Callable[[int, int], None],
) -> tuple[FamilyAnswer, ...]:
    """The model families that end up with the value with nothing set."""
    from sgl_audit.audit.families import resolve_families, served_families

    resolved = resolve_families(
        tree,
        served_families(tree, facts),
        capabilities,
        libraries=libraries,
        assume=assume,
        jobs=jobs,
        progress=progress,
    )
    found = []
    for family, resolution in resolved:
        certain = _reaches(resolution, option.name, value)
        if certain is not None:
            found.append(FamilyAnswer(family.name, resolution.launch.capability, certain))
    return tuple(found)


def _reaches(resolution: Resolution, name: str, value: str) -> bool | None:
    """True: it has the value; False: it may have; None: it has not."""
    if resolution.outcome is not Outcome.OK:
        return None
    for item in (*resolution.runtime, *resolution.options):
        if item.name == name:
            if item.decided:
                return True if same(item.value, value) else None
            return False if any(same(case.value, value) for case in item.cases) else None
    return None


def same(found: JsonValue, text: str) -> bool:
    """Whether a value is the one that a user wrote."""
    if found is None:
        return text.lower() in _NOTHING
    if isinstance(found, bool):
        return text.lower() == str(found).lower()
    return str(found) == text


def reverse_page(
    subject: Subject, option: Option, value: str, families: Sequence[FamilyAnswer] | None
) -> Page:
    """What reaches a value on the one capability of the subject, and whether anything does."""
    capability = subject.capabilities[0]
    setting = [d for d in subject.facts.decisions if d.option == option.name and d.kind in SETTING]
    setting.sort(key=lambda item: (size(item.guard), item.place))
    exact = [d for d in setting if not _computed(d) and same(d.literal, value)]
    possible = [d for d in exact if subject.possible(d.guard)]
    impossible = [d for d in exact if not subject.possible(d.guard)]
    open_ones = [d for d in setting if _computed(d) and subject.possible(d.guard)]
    here = [item for item in families or () if item.capability == capability]
    flag, by_flag = _by_flag(subject, option, value)
    default = _default(option, value)
    sections = (
        flag,
        ShowSection("By default", ("",), default, f"the default is {_shown(option)}"),
        places("Decided by the tree", decision_rows(subject, possible), "no decision here sets it"),
        places("Set to a computed value", decision_rows(subject, open_ones)),
        places("Decided elsewhere only", _elsewhere(subject, impossible)),
        _families(here, families is not None),
        _refusals(subject, option, value),
    )
    ways = (
        ("by flag", by_flag),
        ("as the default", bool(default)),
        ("by decisions of the tree", bool(possible)),
        ("for model families with nothing set", bool(here)),
    )
    found = [text for text, holds in ways if holds]
    title = f"{option.name}={value} on {capability}"
    page = ShowPage(
        title, "who reaches it", _summary(found, len(open_ones)), sections, option.place
    )
    return page, bool(found) or (None if open_ones else False)


def _computed(decision: Decision) -> bool:
    """Whether the value that a decision sets is not written out, so that it may be any."""
    return decision.literal is None and decision.value.strip() != "None"


def _summary(found: list[str], computed: int) -> str:
    if found:
        return f"reached {', '.join(found)}{' only' if len(found) == 1 and not computed else ''}"
    if computed:
        return f"not known: nothing names it here, but {computed} places set a computed value"
    return "no launch reaches it on this capability"


def _by_flag(subject: Subject, option: Option, value: str) -> tuple[ShowSection, bool]:
    title = "By flag"
    flags = [flag for flag in option.flags if not flag.deprecated] or list(option.flags)
    if not flags:
        return ShowSection(title, (), (), "the option has no flag"), False
    if option.choices is not None and not any(same(c, value) for c in option.choices):
        members = [
            m for e in enums_of(subject.facts, option) for m in e.members if same(m.value, value)
        ]
        why = "; it is a member of the enum only" if members else ""
        return ShowSection(title, (), (), f"the parser refuses it: no such choice{why}"), False
    switch = option.type == "bool" or isinstance(option.default, bool)
    text = flags[-1].name if switch else f"{flags[-1].name} {value}"
    if switch and value.lower() != "true":
        return ShowSection(title, (), (), f"{flags[-1].name} can only switch it on"), False
    return ShowSection(title, ("pass",), (ShowRow((text,), flags[-1].place),)), True


def _default(option: Option, value: str) -> tuple[ShowRow, ...]:
    if not option.default_known or not same(option.default, value):
        return ()
    return (ShowRow(("it is the default and stays where nothing replaces it",), option.place),)


def _shown(option: Option) -> str:
    return str(option.default) if option.default_known else "computed"


def _elsewhere(subject: Subject, decisions: Sequence[Decision]) -> tuple[ShowRow, ...]:
    capability = subject.capabilities[0]
    return tuple(
        ShowRow((_obstacle(item.guard, capability), when(subject, item.guard)), item.place)
        for item in decisions
    )


def _obstacle(guard: Guard, capability: str) -> str:
    """The parts of a condition that cannot hold on the capability."""
    parts = guard.parts if isinstance(guard, And) else (guard,)
    failing = [text_of(part) for part in parts if holds_on(part, capability) is False]
    if not failing:
        return f"never on {capability}"
    shown = clipped(" and ".join(dict.fromkeys(failing)), _OBSTACLE_LENGTH)
    return f"{shown} does not hold on {capability}"


def _families(here: Sequence[FamilyAnswer], asked: bool) -> ShowSection:
    rows = tuple(
        ShowRow((item.family, "" if item.certain else "under a condition")) for item in here
    )
    empty = "none of those resolved" if asked else ""
    return ShowSection("Model families with nothing set", ("family", ""), rows, empty)


def _refusals(subject: Subject, option: Option, value: str) -> ShowSection:
    found = [
        item
        for item in subject.facts.rejections
        if option.name in item.options and mentions(item.guard, value)
    ]
    found.sort(key=lambda item: (size(item.guard), item.place))
    return places("Places that look at it and refuse", rejection_rows(subject, found))
