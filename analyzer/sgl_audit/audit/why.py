"""The reverse question: which launches reach a value of an option on a capability, or why none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sgl_audit.audit.behaviours import way_text, ways
from sgl_audit.audit.cells import declared_choices
from sgl_audit.audit.deciding import ground
from sgl_audit.audit.given import assume_all
from sgl_audit.audit.ground import DEVICE, Ground, Setting
from sgl_audit.audit.notes import TreeNotes
from sgl_audit.audit.readers import scalar_default
from sgl_audit.audit.refusals import Refused, refusals
from sgl_audit.audit.rewriting import without_elsewhere
from sgl_audit.audit.wording import condition_text
from sgl_audit.errors import UsageError
from sgl_audit.model.facts import Facts, Option, Scalar
from sgl_audit.model.guard import ALWAYS, NEVER, And, Guard, holds_on
from sgl_audit.model.reduce import on_capability, reduced, size
from sgl_audit.model.report import FamilyRow
from sgl_audit.model.source import Place
from sgl_audit.model.why import WhyRow

_UNSET = frozenset({"none", "null", "unset", "(unset)", ""})
_WORDS = {"true": True, "false": False}


def why(
    facts: Facts,
    capability: str,
    option: str,
    value: str,
    families: tuple[FamilyRow, ...] = (),
    *,
    notes: TreeNotes | None = None,
    base: Ground | None = None,
) -> tuple[WhyRow, ...]:
    """The ways to a value, the most common first, each kind with the smallest condition first.

    Raises:
        UsageError: there is no such option.
    """
    base = base or ground(facts, notes)
    found = base.option(option)
    if found is None:
        raise UsageError(f"there is no option named {option!r} in this tree")
    asker = _Asker(base, found, typed(found, value), capability)
    rows = [*asker.default(), *asker.families(families), *asker.decisions(), *asker.flag()]
    if not any(row.reaches for row in rows):
        rows += asker.kept_away()
    return tuple(rows)


def typed(option: Option, text: str) -> Scalar:
    """The value that a user wrote, in the type that the option's values have."""
    known: list[Scalar] = [*(option.choices or ()), scalar_default(option)]
    for item in known:
        if item is not None and str(item) == text:
            return item
    if text.lower() in _UNSET:
        return "none" if "none" in known else None
    if isinstance(option.default, bool) and text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if isinstance(option.default, int) and text.lstrip("-").isdigit():
        return int(text)
    return text


class _Asker:
    """One option, value and capability, asked several questions."""

    def __init__(self, base: Ground, option: Option, value: Scalar, capability: str) -> None:
        self.base = base
        self.option = option
        self.value = value
        self.capability = capability
        self.ways = ways(base, option, capability)

    def _row(
        self,
        way: str,
        reaches: bool | None,
        condition: str,
        text: str = "",
        place: Place | None = None,
    ) -> WhyRow:
        shown = "unset" if self.value is None else str(self.value)
        return WhyRow(
            self.option.name, shown, self.capability, way, reaches, condition, text, place
        )

    def default(self) -> Iterator[WhyRow]:
        """The declared default, and what replaces it."""
        if not self.option.default_known or self.value != scalar_default(self.option):
            return
        replacing = [w for w in self.ways if w.start == self.value and w.setting.early]
        always = [way for way in replacing if way.guard == ALWAYS]
        if always:
            decision = always[0].setting.decision
            text = f"the default, but it always becomes {always[0].value}"
            yield self._row("by default", False, "always", text, decision.place)
            return
        text = "the default" if not replacing else "the default, where no decision replaces it"
        yield self._row("by default", True, "nothing is set", text, self.option.place)

    def families(self, rows: Iterable[FamilyRow]) -> Iterator[WhyRow]:
        """Model families that were resolved with nothing set and ended with the value."""
        for row in rows:
            if row.capability == self.capability:
                held = dict(row.values).get(self.option.name)
                if held == str(self.value):
                    yield self._row("model family", True, row.family, row.group, row.place)

    def decisions(self) -> Iterator[WhyRow]:
        """Decisions that give the value here; those that compute one may."""
        for way in self.ways:
            decision = way.setting.decision
            text = f"{decision.option} = {decision.value} in {decision.function}"
            condition = way_text(self.option, way)
            if way.setting.known and way.value == self.value:
                yield self._row("by decision", True, condition, text, decision.place)
            elif not way.setting.known:
                yield self._row("by decision", None, condition, text, decision.place)

    def flag(self) -> Iterator[WhyRow]:
        """The flag, and what refuses the value that it brings."""
        flags = [flag for flag in self.option.flags if not flag.deprecated] or self.option.flags
        if not flags:
            return
        name = flags[0].name
        text = name if self.value is True else f"{name} {self.value}"
        choices = self.option.choices
        if choices is not None and self.value not in choices:
            why_not = f"the parser refuses {text}: not among the choices"
            yield self._row("by flag", False, "always", why_not, self.option.place)
            return
        declared = declared_choices(self.base.facts, self.option).get(self.value)
        accepted = ALWAYS if declared is None else declared.guard
        if holds_on(accepted, self.capability) is False:
            why_not = f"the parser refuses {text} on {self.capability}"
            yield self._row("by flag", False, condition_text(accepted), why_not, self.option.place)
            return
        yield from self._flag(text, refusals(self.base, self.option, self.value, self.capability))

    def _flag(self, text: str, met: list[Refused]) -> Iterator[WhyRow]:
        certain = [item for item in met if item.certain]
        if certain:
            for item in certain:
                rejection = item.source.rejection
                why_not = f"{text} is refused: {rejection.exception}: {rejection.message}"
                yield self._row("by flag", False, "always", why_not, rejection.place)
            return
        yield self._row("by flag", True, text, "", self.option.place)
        for item in met:
            if item.possible and item.telling:
                rejection = item.source.rejection
                condition = condition_text(item.guard)
                where = "" if item.source.early else f" in {rejection.function}"
                why_not = f"{text} is then refused{where}: {rejection.exception}"
                yield self._row("by flag", False, condition, why_not, rejection.place)

    def kept_away(self) -> Iterator[WhyRow]:
        """Decisions for the value that cannot apply here, each with what does not hold."""
        met = {id(way.setting) for way in self.ways}
        settings = [
            setting
            for setting in self.base.settings.get(self.option.name, ())
            if setting.known and setting.value == self.value and id(setting) not in met
        ]
        for setting in sorted(settings, key=lambda item: size(item.guard)):
            decision = setting.decision
            text = f"{decision.option} = {decision.value} in {decision.function}"
            yield self._row("kept away", False, self._obstacle(setting), text, decision.place)

    def _obstacle(self, setting: Setting) -> str:
        """The part of a condition that cannot hold on the capability with nothing set."""
        parts = setting.guard.parts if isinstance(setting.guard, And) else (setting.guard,)
        failing = [part for part in parts if self._fails(part)]
        if not failing:
            return f"its conditions exclude each other on {self.capability}"
        shown = condition_text(And(tuple(failing[:2])) if len(failing) > 1 else failing[0])
        return f"needs {shown}"

    def _fails(self, part: Guard) -> bool:
        there = on_capability(without_elsewhere(part), self.capability)
        known = {**self.base.others, **DEVICE}
        return reduced(assume_all(there, known, self.base.words)) == NEVER
