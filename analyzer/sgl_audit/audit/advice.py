"""The flags to pass: the smallest change that the tree accepts for a family that it refuses."""

from __future__ import annotations

from itertools import combinations

from sgl_audit.audit.families import Family, first_refusal, resolve_families
from sgl_audit.model.facts import Facts, Option
from sgl_audit.model.report import Advice
from sgl_audit.model.resolution import Outcome, Resolution
from sgl_audit.model.source import SourceTree

# Options that a refusal is tried to be mended with, the likeliest first.
TRIED = (
    "attention_backend",
    "quantization",
    "moe_runner_backend",
    "fp4_gemm_runner_backend",
    "kv_cache_dtype",
)
BUDGET = 48


def accepted(resolution: Resolution) -> bool:
    """Whether a launch is accepted at start and, as far as is known, after loading starts."""
    return resolution.outcome is Outcome.OK and first_refusal(resolution) is None


def advise(
    tree: SourceTree,
    facts: Facts,
    family: Family,
    resolution: Resolution,
    libraries: tuple[SourceTree, ...],
    assume: tuple[tuple[str, str], ...],
) -> Advice | None:
    """Flags with which the tree accepts a family, or None where nothing is to be done.

    Every proposal is resolved before it is made. An advice without flags and `safe` False means
    that no single or double change of the options tried was accepted.
    """
    refusal = first_refusal(resolution)
    if refusal is None:
        return None
    capability = resolution.launch.capability
    why = f"{refusal.type} at {refusal.place}" if refusal.place else refusal.type
    for flags in proposals(facts, refusal.message):
        answers = resolve_families(
            tree, (family,), (capability,), libraries=libraries, assume=assume, flags=flags
        )
        if accepted(answers[0][1]):
            return Advice(capability, family.name, flags, (f"without: {why}",), safe=None)
    return Advice(capability, family.name, (), (why,), safe=False)


def proposals(facts: Facts, message: str) -> list[tuple[str, ...]]:
    """Flag settings to try: values that the refusal names first, then every other, then pairs."""
    singles: list[tuple[str, ...]] = []
    for name in TRIED:
        option = next((option for option in facts.options if option.name == name), None)
        if option is not None and option.flags and option.choices:
            singles += [(flag_of(option), str(value)) for value in option.choices if value]
    singles.sort(key=lambda pair: pair[1] not in message)
    named = [pair for pair in singles if pair[1] in message]
    pairs = [a + b for a, b in combinations(named, 2) if a[0] != b[0]]
    return [*named, *pairs, *singles[len(named) :]][:BUDGET]


def flag_of(option: Option) -> str:
    """The spelling of an option to recommend: the first that is not deprecated."""
    current = [flag.name for flag in option.flags if not flag.deprecated]
    return current[0] if current else option.flags[0].name
