"""A launch whose model is not at hand: what is certain, and cases under named conditions."""

from __future__ import annotations

from dataclasses import replace

from sgl_audit.audit.facts import read_facts
from sgl_audit.audit.families import (
    Family,
    first_refusal,
    model_folders,
    refusal_text,
    served_families,
)
from sgl_audit.evaluate.resolver import Resolver, model_argument
from sgl_audit.model.facts import Facts
from sgl_audit.model.resolution import (
    Case,
    Launch,
    Outcome,
    Refusal,
    Resolution,
    ResolvedValue,
)
from sgl_audit.model.source import SourceTree

# Families that a condition lists before it only counts them.
MOST_NAMED = 6
NO_FACTS = Facts((), (), (), (), (), (), (), ())


def resolve_without_model(
    tree: SourceTree,
    launch: Launch,
    *,
    libraries: tuple[SourceTree, ...] = (),
    every: bool = False,
) -> Resolution:
    """Resolve with the model unknown, then with each family of model in its place.

    What the first decides holds for any model. What only the families show is given as cases,
    never as decided: a model of another kind may differ.
    """
    resolver = Resolver(tree, libraries)
    known = resolver.resolve(launch, trace=True, every=every)
    if known.outcome is Outcome.REJECTED:
        return known
    families = served_families(tree, NO_FACTS)
    if not families:
        # A tree whose models are listed in no way that needs no facts.
        families = served_families(tree, read_facts(tree, capabilities=(launch.capability,)))
    answers: list[tuple[Family, Resolution]] = []
    with model_folders(families) as folders:
        for family, folder in folders.items():
            argv = with_model(launch.argv, folder)
            answers.append((family, resolver.resolve(replace(launch, argv=argv), every=every)))
    return joined(launch, known, answers)


def with_model(argv: tuple[str, ...], folder: str) -> tuple[str, ...]:
    """The arguments with another model."""
    model = model_argument(list(argv))
    if model is None:
        return ("--model-path", folder, *argv)
    return tuple(
        folder if word == model else word.replace(f"={model}", f"={folder}", 1) for word in argv
    )


def joined(
    launch: Launch, known: Resolution, answers: list[tuple[Family, Resolution]]
) -> Resolution:
    """One resolution from the symbolic one and those of the families."""
    certain = {value.name: value for value in known.options if value.decided}
    names = list(dict.fromkeys(v.name for _, answer in answers for v in answer.options))
    options = tuple(certain.get(name) or cases_of(name, answers, "options") for name in names)
    runtime = list(dict.fromkeys(v.name for _, answer in answers for v in answer.runtime))
    return Resolution(
        launch,
        Outcome.UNKNOWN,
        options=options,
        runtime=tuple(cases_of(name, answers, "runtime") for name in runtime),
        possible=(*known.possible, *refusals_of(answers)),
        reason="the model's configuration is not at hand: give --model-config, or --model-arch and "
        "--quantization-of",
        assumptions=known.assumptions,
        notes=("cases are models of the named kind with their class's own defaults",),
    )


def cases_of(name: str, answers: list[tuple[Family, Resolution]], part: str) -> ResolvedValue:
    """The value of one option for each family, equal values together."""
    groups: dict[str, list[str]] = {}
    values: dict[str, object] = {}
    for family, answer in answers:
        found = next((v for v in getattr(answer, part) if v.name == name), None)
        if found is not None and found.decided:
            key = repr(found.value)
            groups.setdefault(key, []).append(family.group)
            values[key] = found.value
    # What few families have is what a reader looks for; the rest need no list.
    ordered = sorted(groups.items(), key=lambda item: len(item[1]))
    most = len(ordered) - 1
    cases = tuple(
        Case(_condition(members, len(answers), index == most), values[key])  # type: ignore[arg-type]
        for index, (key, members) in enumerate(ordered)
    )
    return ResolvedValue(name, False, None, cases, _reason(groups, len(answers)))


def _condition(members: list[str], tried: int, rest: bool) -> str:
    if len(members) == tried:
        return f"model is any of the {tried} families that were tried"
    if rest and len(members) > MOST_NAMED:
        return f"model is one of {len(members)} others of the {tried} families that were tried"
    return "model is " + " or ".join(members)


def _reason(groups: dict[str, list[str]], tried: int) -> str:
    told = sum(len(members) for members in groups.values())
    if len(groups) == 1 and told == tried:
        return "the model is not at hand; the same in every family that was tried"
    return "depends on the model, which is not at hand"


def refusals_of(answers: list[tuple[Family, Resolution]]) -> tuple[Refusal, ...]:
    """Refusals that some families meet, each once, with the families as condition."""
    groups: dict[tuple[str, str], tuple[Refusal, list[str]]] = {}
    for family, answer in answers:
        refusal = first_refusal(answer)
        if refusal is not None:
            key = (str(refusal.place), refusal_text(refusal))
            groups.setdefault(key, (refusal, []))[1].append(family.group)
    return tuple(
        replace(refusal, guard="model is " + " or ".join(members))
        for refusal, members in groups.values()
    )
