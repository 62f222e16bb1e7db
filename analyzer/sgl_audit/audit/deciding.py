"""Decisions and rejections gathered for questions, each with the conditions of its function."""

from __future__ import annotations

from collections.abc import Iterable

from sgl_audit.audit.calls import MODULE
from sgl_audit.audit.foreign import foreign_values
from sgl_audit.audit.given import Values, assume_all
from sgl_audit.audit.ground import DEVICE, Ground, Refusing, Setting
from sgl_audit.audit.notes import NO_NOTES, TreeNotes
from sgl_audit.audit.places import concerns_gpu, hands_over, resolves_arguments
from sgl_audit.audit.rewriting import (
    Owners,
    attributed,
    mentions,
    owners_of_predicates,
    with_owners,
)
from sgl_audit.audit.vocabulary import Vocabulary, vocabulary
from sgl_audit.model.facts import Decision, DecisionKind, Facts, Option, Rejection, Scalar
from sgl_audit.model.guard import (
    NEVER,
    Atom,
    AtomKind,
    all_of,
    atoms,
)

_SET = (DecisionKind.ASSIGNMENT, DecisionKind.DECLARED)
_ROUNDS = 4
# Settings that a launch takes from the checkpoint where no flag is given.
_FROM_MODEL = frozenset({"quantization", "dtype", "model_path"})


def ground(facts: Facts, notes: TreeNotes | None = None) -> Ground:
    """Prepare a tree's facts for questions."""
    notes = notes or NO_NOTES
    made = Ground(facts, notes, vocabulary(facts, notes.predicates))
    names = {option.name for option in facts.options}
    foreign = foreign_values(facts.decisions)
    for decision in facts.decisions:
        if not concerns_gpu(decision.place.file, decision.function) or decision.value in foreign:
            continue
        option = decided_option(decision, names)
        if option is None or is_local_computation(decision):
            continue
        if decision.kind is DecisionKind.DISPATCH:
            made.dispatches.setdefault(option, []).append(decision)
            continue
        if decision.function == MODULE and not resolves_arguments(decision.place.file):
            # A table of names at module level, `{"attention_backend": "attn.backend"}`.
            continue
        setting = _setting(decision, option, notes)
        if setting.early or decision.kind in _SET or mentions(setting.guard, option):
            made.settings.setdefault(option, []).append(setting)
    made.environment = {item.name: item.default for item in facts.environment}
    owners = owners_of_predicates(made.words)
    made.rejections = [
        _refusing(item, notes, owners)
        for item in facts.rejections
        if concerns_gpu(item.place.file, item.function)
    ]
    for option, settings in made.settings.items():
        for name in {n for s in settings for a in atoms(s.guard) for n in a.options}:
            made.dependents.setdefault(name, set()).add(option)
    add_initialisers(made)
    made.others = usual_values(facts.options, made.settings, made.words)
    return made


def add_initialisers(made: Ground) -> None:
    """Initialisers of the running server that replace `auto` by what was not read there.

    Such a function asks for the default and then hands on another value under a name of its own.
    """
    for option, dispatches in made.dispatches.items():
        known = {item.decision.function for item in made.settings.get(option, ())}
        for decision in dispatches:
            declared = made.words.options[option].default
            asks = hands_over(decision.function) and decision.literal == declared
            if asks and decision.function not in known:
                setting = Setting(decision, decision.guard, early=True, elsewhere=True)
                made.settings.setdefault(option, []).append(setting)


def _setting(decision: Decision, option: str, notes: TreeNotes) -> Setting:
    file, function = decision.place.file, decision.function
    guard = attributed(decision.guard, option)
    if resolves_arguments(file):
        guard = all_of(notes.context(file, function), guard)
        return Setting(decision, guard, early=True)
    return Setting(decision, guard, early=hands_over(function))


def _refusing(rejection: Rejection, notes: TreeNotes, owners: Owners) -> Refusing:
    file = rejection.place.file
    guard = rejection.guard
    if resolves_arguments(file):
        guard = all_of(notes.context(file, rejection.function), guard)
        return Refusing(rejection, guard, early=True)
    return Refusing(rejection, with_owners(guard, owners.get(file, {})), early=False)


def is_local_computation(decision: Decision) -> bool:
    """Whether a layer works something out under the name of an option, which decides nothing."""
    local = decision.kind is DecisionKind.LOCAL and not resolves_arguments(decision.place.file)
    return local and decision.literal is None and not hands_over(decision.function)


def decided_option(decision: Decision, names: Iterable[str]) -> str | None:
    """The option a decision is about; a local name counts for the option it was read from."""
    if decision.option in names:
        return decision.option
    if decision.kind is not DecisionKind.LOCAL or not decision.option.isidentifier():
        return None
    # An initialiser hands an option on under a name of its own; elsewhere the name must be asked.
    anywhere = hands_over(decision.function)
    read = {
        atom.options
        for atom in atoms(decision.guard)
        if atom.kind is AtomKind.OPTION
        and (anywhere or _reads_name(atom, decision.option))
        and atom.options
    }
    return read.pop()[0] if len(read) == 1 and len(next(iter(read))) == 1 else None


def _reads_name(atom: Atom, name: str) -> bool:
    head = atom.text.split(" ", 1)[0].split(".", 1)[0]
    return len(atom.options) == 1 and head == name


def usual_values(
    options: Iterable[Option], settings: dict[str, list[Setting]], words: Vocabulary
) -> dict[str, tuple[Scalar, ...]]:
    """The values that an option can come to have without its flag; absent where any.

    First every value that any decision gives; then those are left out again whose decision needs
    an option to have a value that it does not come to have.
    """
    found: dict[str, tuple[Scalar, ...]] = {}
    named = [item for item in options if item.default_known and item.name not in _FROM_MODEL]
    for _ in range(_ROUNDS):
        before = dict(found)
        for option in named:
            values = _possible(option, settings.get(option.name, ()), before, words)
            if values is not None:
                found[option.name] = values
        if found == before:
            break
    return found


def _possible(
    option: Option, settings: Iterable[Setting], known: Values, words: Vocabulary
) -> tuple[Scalar, ...] | None:
    if isinstance(option.default, (list, dict)):
        return None
    values: dict[tuple[type, Scalar], Scalar] = {}
    values[type(option.default), option.default] = option.default
    for setting in settings:
        if setting.decision.kind is DecisionKind.LOCAL and not setting.early:
            continue
        rest = {name: held for name, held in known.items() if name != option.name}
        if assume_all(setting.guard, {**rest, **DEVICE}, words) == NEVER:
            continue
        if not setting.known:
            return None
        values[type(setting.value), setting.value] = setting.value
    return tuple(values.values())
