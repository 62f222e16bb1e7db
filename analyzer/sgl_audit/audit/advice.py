"""The flags to pass: a small change of flags that the tree accepts for a family that it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sgl_audit.audit.families import Family, first_refusal, model_folders
from sgl_audit.evaluate.resolver import Resolver
from sgl_audit.model.facts import Facts, Option
from sgl_audit.model.report import Advice
from sgl_audit.model.resolution import Launch, Outcome, Refusal, Resolution

# Options that a refusal is tried to be mended with.
TRIED = (
    "quantization",
    "attention_backend",
    "moe_runner_backend",
    "fp4_gemm_runner_backend",
    "kv_cache_dtype",
)
ROUNDS = 3
TRIES = 14

Flags = tuple[str, ...]


def accepted(resolution: Resolution) -> bool:
    """Whether a launch is accepted at start and, as far as is known, after loading starts."""
    return resolution.outcome is Outcome.OK and first_refusal(resolution) is None


def advise_all(
    resolver: Resolver, facts: Facts, refused: list[tuple[Family, Resolution]]
) -> tuple[Advice, ...]:
    """Advice for each refused family, in order. Every proposal is resolved before it is made."""
    search = Search(resolver, facts)
    with model_folders([family for family, _ in refused]) as folders:
        return tuple(
            search.advise(family, resolution, folders[family]) for family, resolution in refused
        )


@dataclass(frozen=True, slots=True)
class Mended:
    """Flags that lead past a refusal, and what is met next."""

    flags: Flags
    answer: Resolution


class Search:
    """Looks for flags, refusal by refusal; what mended one place is tried first at its like."""

    def __init__(self, resolver: Resolver, facts: Facts) -> None:
        self.resolver = resolver
        self.facts = facts
        self.helped: dict[str, list[Flags]] = {}

    def advise(self, family: Family, resolution: Resolution, folder: str) -> Advice:
        """Flags for one family. Without flags, `safe` False says that none were found."""
        capability = resolution.launch.capability
        start = replace(resolution.launch, argv=("--model-path", folder))
        found: Flags = ()
        reasons: list[str] = []
        answer = resolution
        for _ in range(ROUNDS):
            refusal = first_refusal(answer)
            if refusal is None:
                break
            mended = self.mend(replace(start, argv=(*start.argv, *found)), refusal)
            if mended is None:
                return Advice(capability, family.name, (), (reason_of(refusal),), safe=False)
            reasons.append(f"{' '.join(mended.flags)}: without it {reason_of(refusal)}")
            found, answer = (*found, *mended.flags), mended.answer
        safe = None if accepted(answer) else False
        return Advice(capability, family.name, found if safe is None else (), tuple(reasons), safe)

    def mend(self, launch: Launch, refusal: Refusal) -> Mended | None:
        """The first setting that is accepted, else the first that leads to a later refusal."""
        known = self.helped.setdefault(str(refusal.place), [])
        further: Mended | None = None
        tries = 0
        for flags in (*known, *self._proposals(refusal)):
            if flags[0] in launch.argv or tries >= TRIES:
                continue
            tries += 1
            answer = self.resolver.resolve(replace(launch, argv=(*launch.argv, *flags)))
            if accepted(answer):
                if flags not in known:
                    known.append(flags)
                return Mended(flags, answer)
            after = first_refusal(answer)
            moved = answer.outcome is Outcome.OK and after is not None and later(after, refusal)
            if moved and further is None:
                further = Mended(flags, answer)
        return further

    def _proposals(self, refusal: Refusal) -> Iterator[Flags]:
        """Settings to try: those whose value the refusal names come first."""
        settings: list[Flags] = []
        for name in TRIED:
            option = next((o for o in self.facts.options if o.name == name), None)
            if option is not None and option.flags and option.choices:
                settings += [(flag_of(option), str(value)) for value in option.choices if value]
        # The longest name a message holds is the one it means: "fp4" is part of "modelopt_fp4".
        named = [pair for pair in settings if names(refusal.message, pair[1])]
        named.sort(key=lambda pair: -len(pair[1]))
        yield from named
        yield from (pair for pair in settings if pair not in named)


def names(message: str, value: str) -> bool:
    """Whether a message names a choice, in the choice's spelling or as a class name would."""
    squeezed = "".join(c for c in message.lower() if c.isalnum())
    return value in message or value.replace("_", "") in squeezed


def later(after: Refusal, before: Refusal) -> bool:
    """Whether a launch got past the place of a refusal."""
    return after.place != before.place


def reason_of(refusal: Refusal) -> str:
    """A refusal as the reason for a flag."""
    where = f" at {refusal.place}" if refusal.place else ""
    return f"{refusal.type}{where}"


def flag_of(option: Option) -> str:
    """The spelling of an option to recommend: the first that is not deprecated."""
    current = [flag.name for flag in option.flags if not flag.deprecated]
    return current[0] if current else option.flags[0].name
