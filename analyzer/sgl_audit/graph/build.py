"""Facts as a directed graph: what leads from a capability to a choice, and what refuses it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sgl_audit.graph import nodes as n
from sgl_audit.graph.nodes import EdgeKind, NodeKind
from sgl_audit.graph.selection import Selection, select
from sgl_audit.model.facts import (
    BackendEnum,
    Decision,
    DecisionKind,
    Facts,
    Gate,
    Option,
    Rejection,
)
from sgl_audit.model.guard import ALWAYS, Atom, AtomKind, Guard, atoms, holds_on, text_of
from sgl_audit.model.source import Place

if TYPE_CHECKING:
    import networkx as nx

    Graph = nx.MultiDiGraph[str]

_MACHINE = (AtomKind.GATE, AtomKind.PLATFORM)
_WORD = re.compile(r"\w+")


def build_graph(
    facts: Facts,
    capabilities: Sequence[str] = (),
    *,
    options: Collection[str] | None = None,
    option: str | None = None,
    arch: str | None = None,
) -> Graph:
    """The graph of a tree's facts.

    Args:
        capabilities: the capability nodes; edges name those of them on which they hold.
        options: only these options, with whatever decides, refuses and guards them.
        option: one of them.
        arch: one capability instead of `capabilities`.
    """
    import networkx as nx

    named = (arch,) if arch is not None else tuple(capabilities)
    wanted = {*(options or ()), *([option] if option is not None else [])}
    chosen = select(facts, frozenset(wanted) if wanted else None, named)
    return _Builder(nx.MultiDiGraph(), chosen, named).built()


class _Builder:
    """The graph while it grows; nodes and edges are added in sorted order."""

    def __init__(self, graph: Graph, chosen: Selection, capabilities: tuple[str, ...]) -> None:
        self.graph = graph
        self.chosen = chosen
        self.capabilities = capabilities
        self.gates: dict[str, Gate] = {}
        for gate in (*chosen.facts.gates, *chosen.facts.platform):
            self.gates.setdefault(n.gate_key(gate), gate)

    def built(self) -> Graph:
        for name in self.capabilities:
            self._node(n.capability_node(name), NodeKind.CAPABILITY, name)
        for option in self.chosen.options:
            self._option(option)
        for enum, members in self.chosen.members:
            self._members(enum, members)
        self._variables()
        for decision in self.chosen.decisions:
            self._decision(decision)
        for rejection in self.chosen.rejections:
            self._rejection(rejection)
        return self.graph

    def _node(
        self, name: str, kind: NodeKind, label: str, place: Place | None = None, **more: Any
    ) -> None:
        if name not in self.graph:
            self.graph.add_node(name, kind=kind.value, label=label, place=_text(place), **more)

    def _edge(
        self,
        start: str,
        end: str,
        kind: EdgeKind,
        guard: Guard = ALWAYS,
        place: Place | None = None,
    ) -> None:
        held = [name for name in self.capabilities if holds_on(guard, name) is not False]
        always = [name for name in held if holds_on(guard, name) is True]
        self.graph.add_edge(
            start,
            end,
            key=f"{kind.value}@{_text(place)}#{self.graph.number_of_edges(start, end)}",
            kind=kind.value,
            guard=text_of(guard),
            capabilities=",".join(held),
            always=",".join(always),
            place=_text(place),
        )

    def _option(self, option: Option) -> None:
        node = n.option_node(option.name)
        flags = " ".join(flag.name for flag in option.flags)
        self._node(node, NodeKind.OPTION, option.name, option.place, flags=flags)
        declared = self.chosen.declared(option)
        for value in option.choices or ():
            choice = declared.get(value)
            guard = choice.guard if choice is not None else ALWAYS
            place = choice.place if choice is not None and choice.place else option.place
            self._choice(option.name, value, place)
            self._edge(node, n.choice_node(option.name, value), EdgeKind.HAS_CHOICE, guard, place)
        default = option.default
        if option.default_known and not isinstance(default, (list, dict)):
            self._choice(option.name, default, option.place)
            end = n.choice_node(option.name, default)
            self._edge(node, end, EdgeKind.DEFAULT, ALWAYS, option.place)

    def _choice(self, option: str, value: object, place: Place | None) -> None:
        scalar = value if isinstance(value, (str, int, float)) else None
        label = "unset" if scalar is None else str(scalar)
        self._node(n.choice_node(option, scalar), NodeKind.CHOICE, label, place, option=option)

    def _members(self, enum: BackendEnum, options: tuple[Option, ...]) -> None:
        for member in enum.members:
            node = n.member_node(enum.name, member)
            label = f"{enum.name}.{member.name}"
            place = member.place or enum.place
            self._node(node, NodeKind.MEMBER, label, place, value=str(member.value))
            for option in options:
                if member.value in (option.choices or ()) and isinstance(member.value, str):
                    start = n.choice_node(option.name, member.value)
                    self._edge(start, node, EdgeKind.IS_MEMBER, ALWAYS, place)

    def _variables(self) -> None:
        for variable in self.chosen.variables:
            node = n.variable_node(variable.name)
            self._node(
                node,
                NodeKind.VARIABLE,
                variable.name,
                variable.place,
                default=variable.default or "",
                deprecated=variable.deprecated,
            )
            for name in variable.overrides:
                if n.option_node(name) in self.graph:
                    end = n.option_node(name)
                    self._edge(node, end, EdgeKind.REPLACES, ALWAYS, variable.place)

    def _decision(self, decision: Decision) -> None:
        node = n.decision_node(decision)
        picks = decision.kind is DecisionKind.DISPATCH
        kind = NodeKind.DISPATCH if picks else NodeKind.DECISION
        label = f"{decision.option} = {decision.value}"
        self._node(
            node,
            kind,
            label,
            decision.place,
            function=decision.function,
            form=decision.kind.value,
            guard=text_of(decision.guard),
            understood=decision.understood,
        )
        target = n.option_node(decision.option)
        self._node(target, NodeKind.OPTION, decision.option, None, flags="", local=True)
        edge = EdgeKind.PICKS_FOR if picks else EdgeKind.SETS
        self._edge(node, target, edge, decision.guard, decision.place)
        value = decision.literal
        if value is not None:
            self._choice(decision.option, value, None)
            end = n.choice_node(decision.option, value)
            edge = EdgeKind.ASKS if picks else EdgeKind.CHOOSES
            self._edge(node, end, edge, decision.guard, decision.place)
        self._reads(node, decision.guard, decision.place)

    def _rejection(self, rejection: Rejection) -> None:
        node = n.rejection_node(rejection)
        label = f"{rejection.exception}: {rejection.message}".strip(": ")
        self._node(
            node,
            NodeKind.REJECTION,
            label,
            rejection.place,
            function=rejection.function,
            form=rejection.kind.value,
            guard=text_of(rejection.guard),
            understood=rejection.understood,
        )
        for name in rejection.options:
            if n.option_node(name) in self.graph:
                end = n.option_node(name)
                self._edge(node, end, EdgeKind.REFUSES, rejection.guard, rejection.place)
        self._reads(node, rejection.guard, rejection.place)

    def _reads(self, node: str, guard: Guard, place: Place) -> None:
        """What a guard asks: gates, options and variables lead to the place it guards."""
        seen: set[str] = set()
        for atom in atoms(guard):
            for start, kind in self._asked(atom):
                if start not in seen:
                    seen.add(start)
                    self._edge(start, node, kind, atom, place)

    def _asked(self, atom: Atom) -> Iterable[tuple[str, EdgeKind]]:
        if atom.kind in _MACHINE:
            yield self._gate(atom), EdgeKind.GUARDS
        for name in atom.options:
            if n.option_node(name) in self.graph:
                yield n.option_node(name), EdgeKind.READ_BY
        if atom.kind is AtomKind.ENVIRONMENT:
            for word in _WORD.findall(atom.text):
                if n.variable_node(word) in self.graph:
                    yield n.variable_node(word), EdgeKind.READ_BY

    def _gate(self, atom: Atom) -> str:
        key = n.atom_key(atom)
        held = atom.capabilities
        # Two tests that read alike and hold on different capabilities are two gates.
        alone = len(self.chosen.meanings[key]) == 1
        node = n.gate_node(key if alone else f"{key} [{_held(held)}]")
        if node not in self.graph:
            gate = self.gates.get(key)
            place = gate.place if gate is not None else None
            self._node(
                node, NodeKind.GATE, key, place, holds=_held(held), understood=held is not None
            )
            for name in self.capabilities:
                if held is not None and name in held:
                    self._edge(n.capability_node(name), node, EdgeKind.HOLDS, atom, place)
        return node


def _held(names: frozenset[str] | None) -> str:
    return "not understood" if names is None else ",".join(sorted(names))


def _text(place: Place | None) -> str:
    return "" if place is None else str(place)
