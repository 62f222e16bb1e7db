"""What decides one option on one capability, as boxes that are not yet placed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sgl_audit.model.facts import Decision, Option
from sgl_audit.model.guard import (
    ALWAYS,
    And,
    AtomKind,
    Guard,
    Not,
    all_of,
    atoms,
    holds_on,
    text_of,
    unowned,
)
from sgl_audit.model.report import Audit, ChoiceCell, ChoiceState, OptionBehaviour
from sgl_audit.model.source import Place
from sgl_audit_reports.common.names import upstream_url
from sgl_audit_reports.common.text import clipped, default_text, listed, plural, value_text, visible
from sgl_audit_reports.html.parts import STATE_BADGE
from sgl_audit_reports.html.picture import Edge, Node, Taken

COLUMNS = ("set by", "asks the machine", "decides", "becomes", "does it work")
_MOST_BY_FLAG = 4
_MACHINE = (AtomKind.GATE, AtomKind.PLATFORM)
_ORDER = tuple(Taken)
_MOST = {Taken.YES: 8, Taken.MAYBE: 3, Taken.NO: 3}
_FAINT_STATES = (ChoiceState.REFUSED, ChoiceState.CONDITIONAL)


@dataclass(frozen=True, slots=True)
class Way:
    """Boxes and lines of one option on one capability; `places` says where a box stands."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    places: tuple[tuple[str, Place], ...]
    left_out: str


def ways_of(behaviour: OptionBehaviour, option: Option | None, audit: Audit) -> Way:
    """From the default and the flag to the values."""
    return _Builder(behaviour, option, audit).build()


class _Builder:
    def __init__(self, behaviour: OptionBehaviour, option: Option | None, audit: Audit) -> None:
        self._behaviour = behaviour
        self._option = option
        self._audit = audit
        self._nodes: dict[str, Node] = {}
        self._edges: list[Edge] = []
        self._places: dict[str, Place] = {}
        self._left_out: list[str] = []
        self._found = [
            item
            for item in audit.facts.decisions
            if item.option == behaviour.option and item.value != item.option
        ]
        self._cells = {
            value_text(cell.choice): cell
            for cell in audit.cells
            if cell.option == behaviour.option and cell.capability == behaviour.capability
        }

    def build(self) -> Way:
        """The whole way; values first, because decisions lead to them."""
        default = default_text(self._behaviour.default)
        place = self._option.place if self._option else None
        self._add(Node("default", 0, f"default {default}", ("nothing is set",)), place)
        for value in dict.fromkeys(value_text(case.value) for case in self._behaviour.becomes):
            self._value(value, Taken.YES)
        self._decisions(default)
        self._by_flag()
        return Way(
            tuple(self._nodes.values()),
            tuple(self._edges),
            tuple(self._places.items()),
            " ".join(self._left_out),
        )

    def _add(self, node: Node, place: Place | None = None) -> str:
        known = self._nodes.get(node.key)
        if known is None or _ORDER.index(node.way) > _ORDER.index(known.way):
            self._nodes[node.key] = node
        if place is not None:
            self._places[node.key] = place
        return node.key

    def _value(self, value: str, way: Taken) -> str:
        cell = self._cells.get(value)
        badge = STATE_BADGE[cell.state] if cell else None
        note: tuple[str, ...] = (badge.text,) if badge else ()
        whens = [
            visible(unowned(case.guard))
            for case in self._behaviour.becomes
            if value_text(case.value) == value and case.guard != "always"
        ]
        note += (clipped(listed(whens, 2, "; "), 70),) if whens and way is Taken.YES else ()
        # Green is for what works, and being the default does not say so.
        bad = cell is not None and cell.state in _FAINT_STATES
        kind = badge.kind if badge and bad else "plain"
        symbol = badge.symbol if badge else ""
        return self._add(Node(f"v:{value}", 3, value, note, kind, symbol, way))

    def _decisions(self, default: str) -> None:
        order = [node.title for node in self._nodes.values() if node.column == 3]
        left = 0
        for way in reversed(_ORDER):
            # Decisions for one value behind one gate share a box.
            groups: dict[tuple[str, str], list[Decision]] = {}
            for item in self._found:
                if self._way(item) is way:
                    key = (self._text(item), text_of(split(item.guard)[0]))
                    groups.setdefault(key, []).append(item)
            ranked = sorted(groups.values(), key=lambda group: _rank(order, self._text(group[0])))
            kept = _kept(ranked, [self._text(group[0]) for group in ranked], _MOST[way])
            for group in kept:
                self._decision(group, way)
            left += sum(len(group) for group in ranked) - sum(len(group) for group in kept)
            if way is Taken.YES:
                self._rest(default)
        if left:
            self._left_out.append(f"{plural(left, 'further decision')} not drawn.")

    @staticmethod
    def _text(item: Decision) -> str:
        return value_text(item.literal) if item.literal is not None else visible(item.value)

    def _way(self, item: Decision) -> Taken:
        if item.place in self._behaviour.places:
            return Taken.YES
        excluded = holds_on(item.guard, self._behaviour.capability) is False
        return Taken.NO if excluded else Taken.MAYBE

    def _decision(self, group: Sequence[Decision], way: Taken) -> None:
        first = group[0]
        machine, _ = split(first.guard)
        gate = self._gate(machine, way)
        value = self._text(first)
        key = f"d:{gate}:{value}:{way.value}"
        url = upstream_url(self._audit.source, first.place)
        notes = _notes(group)
        does = "set" if first.literal is not None else "compute"
        self._add(Node(key, 2, f"{does} {value}", notes, way=way, url=url), first.place)
        self._edges += [Edge("default", gate, way), Edge(gate, key, way)]
        # What a decision computes has a box of its own where the resolution names it.
        own = value if first.literal is not None else f"(computed: {value})"
        if f"v:{own}" in self._nodes:
            ends = [f"v:{own}"]
        elif first.literal is None:
            ends = self._computed(way)
        else:
            ends = [self._value(value, way)]
        self._edges += [Edge(key, end, way) for end in ends]

    def _computed(self, way: Taken) -> list[str]:
        # A computed value: the resolution says which ones, the decision alone does not.
        if way is Taken.YES:
            known = [key for key, node in self._nodes.items() if node.column == 3]
            known = [key for key in known if self._nodes[key].way is Taken.YES]
            if known:
                return known
        return [self._add(Node("v:computed", 3, "computed there", way=way))]

    def _gate(self, machine: Guard, way: Taken) -> str:
        name = self._behaviour.capability
        if machine == ALWAYS:
            return self._add(Node("g:none", 1, "asks nothing", way=way))
        text = visible(unowned(text_of(machine)))
        holds = holds_on(machine, name)
        kind, symbol, said = {
            True: ("ok", "✓", "holds here"),
            False: ("quiet", "✗", "does not hold here"),
            None: ("unknown", "?", "not understood"),
        }[holds]
        return self._add(Node(f"g:{text}", 1, text, (visible(said),), kind, symbol, way))

    def _rest(self, default: str) -> None:
        """What no drawn decision leads to: the default that stays, or what evaluation found."""
        reached = {edge.end for edge in self._edges if edge.way is Taken.YES}
        for key in [key for key, node in self._nodes.items() if node.column == 3]:
            if key in reached or self._nodes[key].way is not Taken.YES:
                continue
            stays = key == f"v:{default}"
            text = "nothing decides" if stays else "decided elsewhere"
            note = "the default stays" if stays else "no decision read here names it"
            decision = self._add(Node(f"d:{text}", 2, text, (note,)))
            gate = self._add(Node("g:none", 1, "asks nothing"))
            if not stays:
                gate = "default"
            else:
                self._edges.append(Edge("default", gate))
            self._edges += [Edge(gate, decision), Edge(decision, key)]

    def _by_flag(self) -> None:
        flags = [flag.name for flag in self._option.flags] if self._option else []
        if not flags or not self._cells:
            return
        others = [c for v, c in self._cells.items() if f"v:{v}" not in self._nodes]
        shown = _worst_first(others)[:_MOST_BY_FLAG]
        flag = self._add(Node("flag", 0, visible(flags[0]), ("a value by hand",), way=Taken.NO))
        given = self._add(Node("d:given", 2, "as given", way=Taken.NO))
        self._edges.append(Edge(flag, given, Taken.NO))
        self._edges += [
            Edge(given, self._value(value_text(cell.choice), Taken.NO), Taken.NO) for cell in shown
        ]
        rest = len(others) - len(shown)
        if rest > 0:
            self._left_out.append(f"{plural(rest, 'further choice')} by flag: see the matrix.")


def _kept(
    groups: Sequence[list[Decision]], values: Sequence[str], most: int
) -> list[list[Decision]]:
    """The first of every value, then further ones, in the order they have."""
    firsts = {values.index(value) for value in values}
    others = [index for index in range(len(groups)) if index not in firsts]
    room = max(0, most - len(firsts))
    wanted = sorted([*firsts, *others[:room]])
    # What is taken shows every value it leads to; of the rest a few will do.
    return [groups[index] for index in (wanted if most > 3 else wanted[:most])]


def _rank(order: Sequence[str], value: str) -> int:
    return order.index(value) if value in order else len(order)


def _notes(group: Sequence[Decision]) -> tuple[str, ...]:
    short = [visible("/".join(str(item.place).split("/")[-2:])) for item in group]
    if len(group) > 1:
        return (short[0], f"and {plural(len(group) - 1, 'more place')}")
    other = _telling_first(split(group[0].guard)[1])
    return (
        (short[0], f"when {clipped(visible(unowned(text_of(other))), 300)}")
        if other != ALWAYS
        else (short[0],)
    )


def _telling_first(guard: Guard) -> Guard:
    """What must hold before what must not: a box shows no more than the beginning."""
    if not isinstance(guard, And):
        return guard
    return And(tuple(sorted(guard.parts, key=lambda part: isinstance(part, Not))))


def _worst_first(cells: Sequence[ChoiceCell]) -> list[ChoiceCell]:
    return sorted(cells, key=lambda cell: cell.state not in _FAINT_STATES)


def split(guard: Guard) -> tuple[Guard, Guard]:
    """What a guard asks of the machine alone, and the rest."""
    parts = guard.parts if isinstance(guard, And) else (guard,)
    machine = [part for part in parts if _of_machine(part)]
    return all_of(*machine), all_of(*(part for part in parts if part not in machine))


def _of_machine(guard: Guard) -> bool:
    found = list(atoms(guard))
    return bool(found) and all(atom.kind in _MACHINE for atom in found)
