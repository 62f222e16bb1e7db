"""The smallest change of flags for which every verdict is good, or the best there is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from sgl_audit.audit.advice import TRIED, later, names
from sgl_audit.audit.families import first_refusal
from sgl_audit.audit.verdicts.describing import launch_facts, values_of
from sgl_audit.audit.verdicts.effective import STAGES
from sgl_audit.audit.verdicts.judge import Asked, judge
from sgl_audit.audit.verdicts.knowledge import Knowledge
from sgl_audit.audit.verdicts.settings import Setting, settings_of
from sgl_audit.audit.verdicts.weighing import Weight, problems, settled, weight
from sgl_audit.evaluate.entry import Follow
from sgl_audit.evaluate.resolver import Resolver
from sgl_audit.model.resolution import Launch, Outcome, Refusal, Resolution
from sgl_audit.model.verdict import (
    FlagAdvice,
    Ground,
    Recommendation,
    ValueVerdict,
    Verdict,
)

ROUNDS = 8
# Each is a launch to resolve; a message that names nothing of use is seldom mended by more.
TRIES = 24
# After so many values that leave the same question open, it does not depend on the value.
ALIKE = 2
STAGED = ("prefill_attention_backend", "decode_attention_backend")
BOTH = "attention_backend"


@dataclass(frozen=True, slots=True)
class Tried:
    """A launch that was resolved and judged."""

    flags: dict[str, str]
    answer: Resolution
    verdicts: tuple[ValueVerdict, ...]

    @property
    def weight(self) -> Weight:
        """How bad it is; what is refused says nothing of what would come after it."""
        return weight(self.verdicts)

    def of(self, option: str) -> tuple[ValueVerdict, ...]:
        """The verdicts that an option decides about; attention has one for each stage."""
        wanted = (option, *STAGED) if option == BOTH else (option,)
        return tuple(item for item in self.verdicts if item.option in wanted)

    def row(self, option: str) -> ValueVerdict | None:
        """The worst verdict on an option, or None."""
        rows = [item for item in self.verdicts if item.option == option]
        return max(rows, key=lambda item: list(Verdict).index(item.verdict), default=None)


@dataclass(slots=True)
class Adviser:
    """Looks for flags; every proposal is resolved by the tree itself before it is made.

    Attributes:
        thorough: judge every choice of an option that needs another value, and not only until one
            is good. What was enough for one launch is tried first for the next one.
    """

    resolver: Resolver
    knowledge: Knowledge
    thorough: bool = True
    _enough: list[dict[str, str]] = field(default_factory=list)
    _attention: dict[Any, Resolution] = field(default_factory=dict)
    _known: dict[Any, Tried] = field(default_factory=dict)

    def recommend(self, launch: Launch) -> Recommendation:
        """A recommendation for one launch."""
        settings = settings_of(self.resolver.prepare(launch))
        first = self.tried(launch, {}, settings)
        now, found = self._as_before(launch, first, settings)
        stuck: set[str] = set()
        for _ in range(ROUNDS):
            problem = next((p for p in problems(now.verdicts) if self._key(p) not in stuck), None)
            if problem is None:
                break
            better = self._better(launch, now, problem, settings)
            if better is None:
                stuck.add(self._key(problem))
                continue
            now, advice = better
            found = [item for item in found if item.option != advice.option] + [advice]
        kept = self._needed(launch, now, found, settings)
        if kept.flags and settled(kept.verdicts) and kept.flags not in self._enough:
            self._enough.append(kept.flags)
        remaining = tuple(f"{p.verdict}: {p.reason}" for p in problems(kept.verdicts))
        return Recommendation(
            launch.capability,
            launch.argv,
            tuple(
                sorted(
                    (item for item in found if item.option in kept.flags),
                    key=lambda item: rank(item.option),
                )
            ),
            first.verdicts,
            kept.verdicts,
            settled(kept.verdicts),
            remaining,
            kept.answer.notes,
        )

    def answer(self, launch: Launch) -> Resolution:
        """How a launch that was asked about resolves as given."""
        settings = settings_of(self.resolver.prepare(launch))
        return self.tried(launch, {}, settings).answer

    def _as_before(
        self, launch: Launch, first: Tried, settings: dict[str, Setting]
    ) -> tuple[Tried, list[FlagAdvice]]:
        """What was enough for a launch before, where it is enough here too."""
        if self.thorough or settled(first.verdicts):
            return first, []
        wanted = {name for row in problems(first.verdicts) for name in options_for(row)[:1]}
        for flags in self._enough:
            if not wanted <= set(flags):
                continue
            tried = self.tried(launch, flags, settings)
            if settled(tried.verdicts) and tried.answer.outcome is Outcome.OK:
                found = self._explained(launch, first, flags, settings)
                fewer = {item.option: item.value for item in found}
                again = self.tried(launch, fewer, settings)
                return (again if settled(again.verdicts) else tried), found
        return first, []

    def _explained(
        self, launch: Launch, first: Tried, flags: dict[str, str], settings: dict[str, Setting]
    ) -> list[FlagAdvice]:
        """The reason for each flag: what is met without it where the ones before it are set."""
        found: list[FlagAdvice] = []
        now = first
        for name in sorted(flags, key=rank):
            rows = problems(now.verdicts)
            row = next((row for row in rows if name in options_for(row)), None)
            if row is None:
                continue
            setting = settings[name]
            found.append(
                FlagAdvice(name, setting.flags[0], flags[name], reason_for(row), row.place)
            )
            if name != max(flags, key=rank):
                given = {item.option: flags[item.option] for item in found}
                now = self.tried(launch, given, settings)
        return found

    @staticmethod
    def _key(problem: ValueVerdict) -> str:
        return f"{problem.option}={problem.value}: {problem.reason}"

    def tried(
        self,
        launch: Launch,
        flags: dict[str, str],
        settings: dict[str, Setting],
    ) -> Tried:
        """A launch with flags, resolved, followed and judged; each only once."""
        argv = with_flags(launch.argv, flags, settings)
        key = (launch.capability, argv, launch.card)
        if key not in self._known:
            answer = self._followed(launch, argv, flags)
            choices = {name: setting.choices for name, setting in settings.items()}
            verdicts = judge(answer, self.knowledge, choices)
            if answer.outcome is Outcome.UNKNOWN:
                verdicts = (*verdicts, not_told(answer))
            self._known[key] = Tried(flags, answer, verdicts)
        return self._known[key]

    def _followed(self, launch: Launch, argv: tuple[str, ...], flags: dict[str, str]) -> Resolution:
        """Resolve and follow; attention only where it is not what it was without the flags."""
        asked = replace(launch, argv=argv)
        before = self._attention.get((launch.capability, launch.argv, launch.card))
        if before is None or BOTH in flags or any(name in flags for name in STAGED):
            answer = self.resolver.resolve(asked, follow=Follow.ATTENTION)
            if any(path.site in STAGES for path in answer.paths):
                self._attention.setdefault((launch.capability, launch.argv, launch.card), answer)
            return answer
        answer = self.resolver.resolve(asked, follow=Follow.LAYERS)
        if attention_of(answer) != attention_of(before):
            return self.resolver.resolve(asked, follow=Follow.ATTENTION)
        kept = tuple(path for path in before.paths if path.site in STAGES)
        return replace(answer, paths=(*answer.paths, *kept)) if answer.paths else answer

    def _better(
        self, launch: Launch, now: Tried, problem: ValueVerdict, settings: dict[str, Setting]
    ) -> tuple[Tried, FlagAdvice] | None:
        refusal = first_refusal(now.answer)
        best: Tried | None = None
        chosen: tuple[Setting, str] | None = None
        others: list[ValueVerdict] = []
        for proposals in self._proposals(now, problem, refusal, settings):
            alike = 0
            for setting, value in proposals:
                if alike == ALIKE:
                    break
                flags = {**now.flags, setting.name: value}
                tried = self.tried(launch, flags, settings)
                if not self._leads_on(tried, refusal):
                    continue
                row = tried.row(problem.option)
                if row is not None and row.value == value:
                    others.append(row)
                if best is None or self._order(tried) < self._order(best):
                    best, chosen = tried, (setting, value)
                if self.thorough or row is None:
                    continue
                if row.verdict.good:
                    break
                alike = alike + 1 if open_alike(row, problem) else 0
            if best is not None:
                break
        if best is None or chosen is None:
            return None
        if refusal is None and not (best.weight < now.weight):
            return None
        setting, value = chosen
        rest = tuple(
            sorted(
                (
                    row
                    for row in dict.fromkeys((*others, *self._left(problem)))
                    if row.value != value
                ),
                key=lambda row: list(Verdict).index(row.verdict),
            )
        )
        return best, FlagAdvice(
            setting.name,
            setting.flags[0],
            value,
            reason_for(problem),
            problem.place,
            cost_of(best.of(setting.name)),
            rest if refusal is None else (),
        )

    @staticmethod
    def _left(problem: ValueVerdict) -> Iterator[ValueVerdict]:
        if problem.value and not problem.undecided:
            yield problem

    @staticmethod
    def _order(tried: Tried) -> tuple[Weight, int]:
        slow = sum(item.verdict is Verdict.SLOW for item in tried.verdicts)
        return tried.weight, slow

    @staticmethod
    def _leads_on(tried: Tried, refusal: Refusal | None) -> bool:
        if tried.answer.outcome is not Outcome.OK:
            return False
        after = first_refusal(tried.answer)
        if refusal is None:
            return after is None
        return after is None or later(after, refusal)

    def _proposals(
        self,
        now: Tried,
        problem: ValueVerdict,
        refusal: Refusal | None,
        settings: dict[str, Setting],
    ) -> Iterator[list[tuple[Setting, str]]]:
        """Settings to try, in groups: the next one only where the one before gives nothing."""
        if refusal is not None:
            yield from proposals_for(refusal, settings)
            return
        named = [settings[name] for name in options_for(problem) if name in settings]
        facts = launch_facts(now.answer, self.knowledge.tree)
        asked = Asked(problem.option, problem.capability, facts, self.knowledge)
        for setting in named:
            values = [value for value in setting.choices if value not in (problem.value, "auto")]
            said = {value: spoken(asked, value) for value in values}
            if not self.thorough:
                values = [value for value in values if said[value] is not False]
            # What is known to work is tried first; the order of the tree decides among equals.
            values.sort(key=lambda value: said[value] is not True)
            yield [(setting, value) for value in values]

    def _needed(
        self,
        launch: Launch,
        now: Tried,
        found: list[FlagAdvice],
        settings: dict[str, Setting],
    ) -> Tried:
        """The same without the flags that later ones made superfluous."""
        kept = now
        for item in found if self.thorough and len(found) > 1 else ():
            fewer = {name: value for name, value in kept.flags.items() if name != item.option}
            tried = self.tried(launch, fewer, settings)
            accepted = tried.answer.outcome is Outcome.OK and first_refusal(tried.answer) is None
            if accepted and tried.weight <= kept.weight:
                kept = tried
        return kept


def spoken(asked: Asked, value: str) -> bool | None:
    """Whether advisories speak for a value (True) or against it (False)."""
    says = {ground.says for ground in asked.hits(value)}
    if says & {Verdict.NO_KERNEL, Verdict.WRONG}:
        return False
    return True if Verdict.WORKS in says else None


def open_alike(row: ValueVerdict, problem: ValueVerdict) -> bool:
    """Whether a verdict leaves open what the problem did, and for the same reason."""
    return row.verdict is problem.verdict is Verdict.UNKNOWN and row.reason == problem.reason


def rank(option: str) -> int:
    """Where a flag stands in the line: what a model needs to load at all comes first."""
    return TRIED.index(option) if option in TRIED else len(TRIED)


def attention_of(answer: Resolution) -> dict[str, str]:
    """Everything resolved that attention may depend on."""
    kept = ("attention", "page_size", "kv_cache", "mla", "nsa", "dsa", "speculative", "mamba")
    return {
        name: value for name, value in values_of(answer).items() if any(k in name for k in kept)
    }


def reason_for(problem: ValueVerdict) -> str:
    """What happens without a flag."""
    if not problem.undecided:
        return problem.reason
    way = f", and the layer itself takes {problem.effective}" if problem.effective else ""
    return (
        f"{problem.option} stays {problem.value}: nothing decides it on {problem.capability}"
        f"{way}; {problem.reason}"
    )


def options_for(problem: ValueVerdict) -> tuple[str, ...]:
    """The options that change what a verdict is about."""
    if problem.option in STAGED:
        return (BOTH, problem.option)
    return (problem.option,)


def proposals_for(
    refusal: Refusal, settings: dict[str, Setting]
) -> Iterator[list[tuple[Setting, str]]]:
    """Settings that may lead past a refusal: those whose value it names, then the others."""
    pairs = [
        (settings[name], value)
        for name in TRIED
        if name in settings
        for value in settings[name].choices
    ]
    named = [pair for pair in pairs if names(refusal.message, pair[1])]
    # The longest name a message holds is the one it means: "fp4" is part of "modelopt_fp4".
    longest = [p for p in named if not any(p[1] != q[1] and p[1] in q[1] for q in named)]
    yield longest
    yield [pair for pair in pairs if pair not in longest][:TRIES]


def with_flags(
    argv: tuple[str, ...], flags: dict[str, str], settings: dict[str, Setting]
) -> tuple[str, ...]:
    """Arguments with flags added; what they replace is taken out."""
    spelled = {text for name in flags for text in settings[name].flags}
    words: list[str] = []
    skip = False
    for word in argv:
        if skip:
            skip = False
            continue
        name, sign, _ = word.partition("=")
        if name in spelled:
            skip = not sign
            continue
        words.append(word)
    for name, value in flags.items():
        words += [settings[name].flags[0], value]
    return tuple(words)


def not_told(answer: Resolution) -> ValueVerdict:
    """A launch of which it cannot be told what happens."""
    from sgl_audit.model.verdict import GroundKind

    ground = Ground(GroundKind.OWN, Verdict.UNKNOWN, answer.reason or "it cannot be told")
    return ValueVerdict("", "", answer.launch.capability, Verdict.UNKNOWN, (ground,))


def cost_of(rows: Iterable[ValueVerdict]) -> str:
    """What a value costs, as far as anything says so."""
    said = (g.text for row in rows for g in row.grounds if g.says is Verdict.SLOW)
    return "; ".join(dict.fromkeys(said))
