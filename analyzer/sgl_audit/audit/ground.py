"""One tree prepared for questions: decisions and rejections with all their conditions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sgl_audit.audit.given import Values, assume_all
from sgl_audit.audit.notes import TreeNotes
from sgl_audit.audit.rewriting import unset, without_elsewhere
from sgl_audit.audit.vocabulary import Vocabulary
from sgl_audit.model.facts import Decision, Facts, Option, Rejection, Scalar
from sgl_audit.model.guard import Atom, Guard, atoms
from sgl_audit.model.reduce import on_capability, reduced

# What the device setting is wherever there is a compute capability.
DEVICE = {"device": ("cuda",)}


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """One decision that gives an option a value.

    Attributes:
        guard: the condition, that of its function included.
        early: whether it stands where arguments are resolved, not in a layer at run time.
        elsewhere: whether the place only shows that the value is replaced, not by what.
    """

    decision: Decision
    guard: Guard
    early: bool
    elsewhere: bool = False

    @property
    def value(self) -> Scalar:
        """The value where it is a constant; None also where it is not."""
        return self.decision.literal

    @property
    def known(self) -> bool:
        """Whether the value is a constant."""
        return not self.elsewhere and (
            self.decision.literal is not None or self.decision.value == "None"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Refusing:
    """One rejection with the condition of its function included."""

    rejection: Rejection
    guard: Guard
    early: bool


@dataclass(slots=True, eq=False)
class Ground:
    """What is asked of a tree again and again, worked out once.

    Attributes:
        settings: option -> decisions that give it a value.
        rejections: every rejection of the server, with what its function needs.
        others: the values that options can have with nothing set, where that is known.
        dependents: option -> options whose decisions ask for it.
        environment: defaults of the environment variables that the tree declares.
        memory: what modules work out once.
    """

    facts: Facts
    notes: TreeNotes
    words: Vocabulary
    settings: dict[str, list[Setting]] = field(default_factory=dict)
    dispatches: dict[str, list[Decision]] = field(default_factory=dict)
    rejections: list[Refusing] = field(default_factory=list)
    others: dict[str, tuple[Scalar, ...]] = field(default_factory=dict)
    dependents: dict[str, set[str]] = field(default_factory=dict)
    environment: dict[str, str | None] = field(default_factory=dict)
    memory: dict[object, Any] = field(default_factory=dict)
    _assumed: dict[object, Guard] = field(default_factory=dict)
    _tests: dict[int, tuple[Atom, ...]] = field(default_factory=dict)
    _reduced: dict[object, Guard] = field(default_factory=dict)
    _kept: list[Guard] = field(default_factory=list)

    def assumed(self, guard: Guard, values: Values, *, alone: bool = True) -> Guard:
        """A guard with options given, on a device that has a compute capability.

        Args:
            alone: with every other option as it is without its flag.
        """
        key = (id(guard), alone, tuple(sorted(values.items(), key=lambda item: item[0])))
        if key not in self._assumed:
            known = {**(self.usual(values) if alone else {}), **DEVICE, **values}
            there = assume_all(without_elsewhere(guard), known, self.words)
            self._assumed[key] = unset(there, self.environment) if alone else there
            # Keys are identities: what they stand for must not be freed and used again.
            self._kept += [guard, self._assumed[key]]
        return self._assumed[key]

    def usual(self, given: Values) -> Values:
        """What options are without their flags; any where a given option decides about them."""
        if not given:
            return self.others
        loose = {name for option in given for name in self.dependents.get(option, ())}
        return {name: held for name, held in self.others.items() if name not in loose}

    def there(self, guard: Guard, capability: str) -> Guard:
        """A guard on one capability, as small as it gets. The guard must be one kept alive."""
        if id(guard) not in self._tests:
            self._tests[id(guard)] = tuple(a for a in atoms(guard) if a.capabilities is not None)
            self._kept.append(guard)
        tests = self._tests[id(guard)]
        key = (id(guard), tuple(capability in (atom.capabilities or ()) for atom in tests))
        if key not in self._reduced:
            self._reduced[key] = reduced(on_capability(guard, capability))
        return self._reduced[key]

    def narrowed(
        self, guard: Guard, capability: str, values: Values, *, alone: bool = True
    ) -> Guard:
        """A guard on one capability with options given, as small as it gets."""
        return self.there(self.assumed(guard, values, alone=alone), capability)

    def option(self, name: str) -> Option | None:
        """An option by name."""
        return self.words.options.get(name)
