"""A launch whose model is not at hand: what is certain, and cases under named conditions."""

from __future__ import annotations

from dataclasses import replace

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
        reason="the model is not at hand: give --model-config, or --model-arch and "
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
    cases = tuple(
        Case("model is " + " or ".join(members), values[key])  # type: ignore[arg-type]
        for key, members in groups.items()
    )
    return ResolvedValue(name, False, None, cases, "depends on the model, which is not at hand")


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
