"""Facts: what the source says, each with its place."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sgl_audit.model.guard import ALWAYS, Guard
from sgl_audit.model.source import Diagnostic, Place

Scalar = str | int | float | bool | None
JsonValue = Scalar | list["JsonValue"] | dict[str, "JsonValue"]


@dataclass(frozen=True, slots=True)
class Choice:
    """One allowed value. `note` is the trailing comment that belongs to it."""

    value: Scalar
    place: Place | None = None
    note: str | None = None
    guard: Guard = ALWAYS


@dataclass(frozen=True, slots=True)
class ExtensionPoint:
    """A function or method reference through which other code can add choices."""

    name: str
    choice_list: str
    place: Place


@dataclass(frozen=True, slots=True)
class ChoiceList:
    """A named module-level collection of allowed values.

    Attributes:
        ordered: False for sets and frozensets, whose order means nothing.
        exported_from: other tree files that re-export the name.
    """

    name: str
    choices: tuple[Choice, ...]
    ordered: bool
    place: Place
    extension_points: tuple[ExtensionPoint, ...] = ()
    exported_from: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[Scalar, ...]:
        """The values in source order."""
        return tuple(choice.value for choice in self.choices)


@dataclass(frozen=True, slots=True)
class Flag:
    """One command-line spelling of an option."""

    name: str
    place: Place | None = None
    deprecated: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """A server setting.

    Attributes:
        name: the field (argparse `dest`).
        default: JSON form of the declared default; None also where `default_known` is False.
        default_known: False where the default is computed, required or not understood.
        choices: allowed values, or None where any value of the type is accepted.
        choice_list: name of the list the choices come from, where the source names one.
        backend: whether the option selects a backend or changes which one is legal.
    """

    name: str
    flags: tuple[Flag, ...]
    type: str | None
    default: JsonValue
    default_known: bool
    choices: tuple[Scalar, ...] | None
    choice_list: str | None
    help: str | None
    deprecated: bool
    place: Place
    backend: bool = False


@dataclass(frozen=True, slots=True)
class EnumMember:
    """One member of a backend enum."""

    name: str
    value: JsonValue
    place: Place | None = None
    alias_of: str | None = None


@dataclass(frozen=True, slots=True)
class BackendEnum:
    """An enum whose members are backends or modes; `predicates` are its is_x methods."""

    name: str
    members: tuple[EnumMember, ...]
    predicates: tuple[str, ...]
    has_missing: bool
    place: Place


class GateForm(StrEnum):
    """How the source writes the gate."""

    FUNCTION = "function"
    ALIAS = "alias"
    ATTRIBUTE = "attribute"
    INLINE = "inline"


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition on the machine.

    Attributes:
        holds: capability name -> True, False or None (not understood on that capability).
        reason: why it was not understood, where any value is None.
    """

    name: str
    form: GateForm
    holds: tuple[tuple[str, bool | None], ...]
    place: Place
    reason: str | None = None

    @property
    def understood(self) -> bool:
        """Whether the value is known on every capability asked."""
        return all(value is not None for _, value in self.holds)

    @property
    def capabilities(self) -> frozenset[str] | None:
        """The capabilities on which the gate holds, or None where it was not understood."""
        if not self.understood:
            return None
        return frozenset(name for name, value in self.holds if value)


@dataclass(frozen=True, slots=True)
class EnvironmentVariable:
    """An environment variable that changes a backend or an option."""

    name: str
    default: str | None
    place: Place
    deprecated: bool = False
    replacement: str | None = None
    overrides: tuple[str, ...] = ()
    reads: tuple[Place, ...] = ()
    note: str | None = None


class DecisionKind(StrEnum):
    """How the option gets its value."""

    ASSIGNMENT = "assignment"
    DECLARED = "declared override"
    RETURNED = "returned"
    LOCAL = "local backend"
    DISPATCH = "dispatch"


@dataclass(frozen=True, slots=True)
class Decision:
    """One place where an option or a local backend value is set, chosen or replaced.

    Attributes:
        option: option or local name that is set.
        value: source text of the value.
        literal: its value where it is a plain constant or an enum member.
        guard: condition under which the place is reached, inside its function.
        function: qualified name of the enclosing function, or "<module>".
        understood: whether every machine test in the guard was understood.
    """

    option: str
    value: str
    literal: Scalar
    kind: DecisionKind
    guard: Guard
    place: Place
    function: str
    excerpt: str = ""
    understood: bool = True
    reason: str | None = None


class RejectionKind(StrEnum):
    """How a value is refused."""

    RAISE = "raise"
    ASSERT = "assert"
    CHOICES = "choices"
    REGISTRY = "registry"


@dataclass(frozen=True, slots=True)
class Rejection:
    """A place that refuses a value. `guard` is the condition under which it refuses."""

    options: tuple[str, ...]
    kind: RejectionKind
    exception: str
    message: str
    guard: Guard
    place: Place
    function: str
    excerpt: str = ""
    understood: bool = True
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything read from one tree, sorted by name and place."""

    choice_lists: tuple[ChoiceList, ...]
    options: tuple[Option, ...]
    enums: tuple[BackendEnum, ...]
    gates: tuple[Gate, ...]
    platform: tuple[Gate, ...]
    environment: tuple[EnvironmentVariable, ...]
    decisions: tuple[Decision, ...]
    rejections: tuple[Rejection, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
