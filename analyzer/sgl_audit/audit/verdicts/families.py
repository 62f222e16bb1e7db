"""Families of models with nothing set: verdicts, and the flags to pass."""

from __future__ import annotations

from dataclasses import dataclass

from sgl_audit.audit.families import Family, model_folders
from sgl_audit.audit.verdicts.knowledge import Knowledge
from sgl_audit.audit.verdicts.recommend import Adviser
from sgl_audit.evaluate.resolver import Resolver
from sgl_audit.model.progress import Progress
from sgl_audit.model.report import Advice
from sgl_audit.model.resolution import Launch, Resolution
from sgl_audit.model.source import SourceTree
from sgl_audit.model.verdict import Recommendation, ValueVerdict, Verdict

BAD = (Verdict.REFUSED, Verdict.NO_KERNEL, Verdict.WRONG)


@dataclass(frozen=True, slots=True)
class JudgedFamily:
    """One family on one capability with nothing set."""

    family: Family
    resolution: Resolution
    verdicts: tuple[ValueVerdict, ...]
    advice: Advice


def judge_families(
    tree: SourceTree,
    families: tuple[Family, ...],
    capabilities: tuple[str, ...],
    knowledge: Knowledge,
    *,
    libraries: tuple[SourceTree, ...] = (),
    assume: tuple[tuple[str, str], ...] = (),
    progress: Progress | None = None,
) -> list[JudgedFamily]:
    """Resolve, follow and judge each family, and look for flags where it is not known to work."""
    resolver = Resolver(tree, libraries)
    found: list[JudgedFamily] = []
    with model_folders(families) as folders:
        for capability in capabilities:
            # What helps on one capability need not help on another.
            adviser = Adviser(resolver, knowledge, thorough=False)
            for family in families:
                launch = Launch(
                    id=f"{family.name} on {capability}",
                    capability=capability,
                    argv=("--model-path", folders[family]),
                    assume=assume,
                )
                made = adviser.recommend(launch)
                answer = adviser.answer(launch)
                advice = advice_of(made, family)
                found.append(JudgedFamily(family, answer, made.before, advice))
                if progress is not None:
                    progress(len(found), len(families) * len(capabilities))
    return found


def advice_of(made: Recommendation, family: Family) -> Advice:
    """A recommendation as the audit's advice."""
    bad = any(row.verdict in BAD for row in made.after)
    safe = True if made.complete else False if bad and not made.flags else None
    return Advice(
        made.capability,
        family.name,
        tuple(word for item in made.flags for word in (item.flag, item.value)),
        tuple(
            f"{item.flag} {item.value}: without it {item.reason}"
            + (f" ({item.place})" if item.place else "")
            for item in made.flags
        )
        or made.remaining,
        safe,
    )
