"""The kinds of nodes and edges, and the names that nodes have."""

from __future__ import annotations

from enum import StrEnum

from sgl_audit.model.facts import Decision, EnumMember, Gate, Rejection, Scalar
from sgl_audit.model.guard import Atom


class NodeKind(StrEnum):
    """What a node stands for."""

    CAPABILITY = "capability"
    GATE = "gate"
    DECISION = "decision"
    REJECTION = "rejection"
    OPTION = "option"
    CHOICE = "choice"
    MEMBER = "enum member"
    VARIABLE = "environment variable"
    DISPATCH = "dispatch site"


class EdgeKind(StrEnum):
    """What an edge says of its two nodes, read from the first to the second."""

    HOLDS = "holds"
    GUARDS = "guards"
    READ_BY = "read by"
    SETS = "sets"
    CHOOSES = "chooses"
    ASKS = "asks for"
    HAS_CHOICE = "has choice"
    DEFAULT = "default"
    IS_MEMBER = "is member"
    REFUSES = "refuses"
    PICKS_FOR = "picks for"
    REPLACES = "replaces"


def capability_node(name: str) -> str:
    """The node of a capability."""
    return f"capability:{name}"


def option_node(name: str) -> str:
    """The node of an option, or of a local name that is given a backend."""
    return f"option:{name}"


def choice_node(option: str, value: Scalar) -> str:
    """The node of one choice of one option."""
    return f"choice:{option}={'unset' if value is None else value}"


def member_node(enum: str, member: EnumMember) -> str:
    """The node of an enum member."""
    return f"member:{enum}.{member.name}"


def variable_node(name: str) -> str:
    """The node of an environment variable."""
    return f"variable:{name}"


def gate_node(text: str) -> str:
    """The node of a gate, by how a test asks it."""
    return f"gate:{text}"


def decision_node(decision: Decision) -> str:
    """The node of a decision or dispatch: place, option and value tell it from its neighbours."""
    place = decision.place
    word = "dispatch" if decision.kind.value == "dispatch" else "decision"
    return f"{word}:{place}:{place.column}:{decision.option}={decision.value}"


def rejection_node(rejection: Rejection) -> str:
    """The node of a rejection."""
    return f"rejection:{rejection.place}:{rejection.place.column}"


def gate_key(gate: Gate) -> str:
    """How tests ask a gate that has a name: without its class, without the call."""
    return gate.name.rpartition(".")[2] if gate.form.value != "inline" else gate.name


def atom_key(atom: Atom) -> str:
    """The same of a test: `get_platform().is_sm120` and `is_sm120()` ask for `is_sm120`."""
    head, _, last = atom.text.rpartition(".")
    name = last.removesuffix("()")
    plain = name.isidentifier() and " " not in head
    return name if plain else atom.text
