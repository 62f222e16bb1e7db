"""What is known of the values that an option ends at: verdicts, and the kernels that are called."""

from __future__ import annotations

from dataclasses import replace

from sgl_audit.model.report import Audit, ChoiceState, FamilyRow, OptionBehaviour
from sgl_audit.model.verdict import ORDER, ValueVerdict, Verdict
from sgl_audit_reports.common.text import clipped, listed, plural, unique, value_text, visible
from sgl_audit_reports.html.parts import VERDICT_BADGE
from sgl_audit_reports.html.picture import Edge, Node
from sgl_audit_reports.html.ways import Way

_MOST = 10
_Key = tuple[str, Verdict, str]


def kernel_nodes(
    way: Way, behaviour: OptionBehaviour, audit: Audit, tokens: dict[str, str]
) -> tuple[tuple[Node, ...], tuple[Edge, ...]]:
    """The boxes with what the model families make of each value added as a last column."""
    found: dict[_Key, list[FamilyRow]] = {}
    for row in audit.families:
        if row.capability != behaviour.capability:
            continue
        for said in row.verdicts:
            if said.option == behaviour.option:
                key = (visible(said.value), said.verdict, kernels_of(said))
                found.setdefault(key, []).append(row)
    values = [node.key for node in way.nodes if node.column == 3]
    known = [item for item in found.items() if f"v:{item[0][0]}" in values]
    known.sort(key=lambda item: (-ORDER.index(item[0][1]), item[0]))
    # The worst are kept; then they stand in the order of their values, so that few lines cross.
    ranked = sorted(known[:_MOST], key=lambda item: values.index(f"v:{item[0][0]}"))
    nodes, edges = list(way.nodes), list(way.edges)
    groups: dict[str, list[str]] = {}
    for (value, verdict, kernels), rows in ranked:
        start = f"v:{value}"
        wanted = unique(tokens[visible(row.quantization) or "none"] for row in rows)
        groups.setdefault(start, []).extend(wanted)
        node = _node(value, verdict, kernels, rows, wanted)
        nodes.append(node)
        edges.append(Edge(start, node.key))
    _from_cells(nodes, edges, set(groups), behaviour, audit)
    marked = [
        replace(node, groups=unique(groups[node.key])) if node.key in groups else node
        for node in nodes
    ]
    return tuple(marked), tuple(edges)


def _node(
    value: str, verdict: Verdict, kernels: str, rows: list[FamilyRow], wanted: tuple[str, ...]
) -> Node:
    badge = VERDICT_BADGE[verdict]
    names = unique(visible(row.group or row.family) for row in rows)
    notes: tuple[str, ...] = (kernels,) if kernels else ()
    notes += (f"{plural(len(rows), 'family', 'families')}: {listed(names, 3)}",)
    key = f"k:{value}:{verdict.value}:{kernels}"
    return Node(key, 4, badge.text, notes, badge.kind, badge.symbol, groups=wanted)


def kernels_of(verdict: ValueVerdict) -> str:
    """The library calls that a verdict is about."""
    calls = (g.call.function for g in verdict.grounds if g.call and g.says is verdict.verdict)
    return listed([visible(name) for name in unique(calls)], 2)


def _from_cells(
    nodes: list[Node],
    edges: list[Edge],
    told: set[str],
    behaviour: OptionBehaviour,
    audit: Audit,
) -> None:
    """For values of which no family tells: what speaks of a choice whatever the model."""
    by_value = {
        f"v:{value_text(cell.choice)}": cell
        for cell in audit.cells
        if cell.option == behaviour.option
        and cell.capability == behaviour.capability
        and cell.state is not ChoiceState.UNREACHABLE
    }
    for node in list(nodes):
        cell = by_value.get(node.key)
        if node.column != 3 or node.key in told or cell is None or cell.verdict is None:
            continue
        badge = VERDICT_BADGE[cell.verdict]
        # Grounds of a good verdict are what does not speak against it, too long for a box.
        grounds = () if cell.verdict.good else cell.grounds[:1]
        notes = tuple(clipped(visible(text), 120) for text in grounds)
        end = Node(f"k:{node.key}", 4, badge.text, notes, badge.kind, badge.symbol, node.way)
        nodes.append(end)
        edges.append(Edge(node.key, end.key, node.way))
