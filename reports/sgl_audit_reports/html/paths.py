"""The way of one option on a capability: from its default over gates and decisions to a kernel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sgl_audit.model.facts import Option
from sgl_audit.model.report import Audit, OptionBehaviour, Severity
from sgl_audit_reports.common.names import capability_range
from sgl_audit_reports.common.overview import Overview
from sgl_audit_reports.common.text import plural, unique, visible
from sgl_audit_reports.html.data import Badge, PathGroup, PathItem
from sgl_audit_reports.html.kernels import kernel_nodes
from sgl_audit_reports.html.parts import SEVERITY_BADGE, Anchors, maybe_link
from sgl_audit_reports.html.picture import Node, Taken, drawn
from sgl_audit_reports.html.ways import COLUMNS, Way, ways_of

# A page is one file that people mail: with many capabilities not every option can be drawn.
_MOST_BOXES = 900
_FAMILIES = (
    ("attention", ("attention", "attn", "mamba", "nsa", "dsa", "mla")),
    ("mixture of experts", ("moe", "deepep", "eplb")),
    ("matrix products", ("gemm", "quantization")),
    ("cache", ("cache", "kv_", "page", "hicache")),
    ("communication", ("reduce", "nccl", "allreduce", "comm", "disaggregation")),
    ("sampling and drafts", ("sampling", "speculative", "grammar")),
)


def path_groups(audit: Audit, overview: Overview, anchors: Anchors) -> tuple[PathGroup, ...]:
    """The ways of the options that something changes, the worst first, as far as there is room."""
    behaviours: dict[str, list[OptionBehaviour]] = {}
    for behaviour in audit.behaviours:
        behaviours.setdefault(behaviour.option, []).append(behaviour)
    options = {option.name: option for option in audit.facts.options}
    tokens = {name: f"q{i}" for i, name in enumerate(quantizations(audit))}
    groups: list[PathGroup] = []
    boxes = 0
    for row in overview.important_rows:
        if boxes > _MOST_BOXES:
            break
        worst = _worst(cell.severity for cell in row.cells)
        items = _items(behaviours.get(row.option, []), options.get(row.option), audit, tokens)
        boxes += sum(len(item.picture.boxes) for item in items)
        anchor = anchors.take("path", row.option)
        groups.append(
            PathGroup(
                visible(row.option),
                anchor,
                family_of(row.option),
                "; ".join(f"{cell.becomes} on {cell.capability}" for cell in row.cells[:3])
                + (f"; {len(row.cells) - 3} more" if len(row.cells) > 3 else ""),
                worst,
                tuple(
                    replace(item, anchor=anchors.take("path", row.option, item.where))
                    for item in items
                ),
            )
        )
    return tuple(groups)


def quantizations(audit: Audit) -> tuple[str, ...]:
    """The quantizations of the model families that were resolved."""
    return tuple(sorted(unique(visible(row.quantization) or "none" for row in audit.families)))


def family_of(option: str) -> str:
    """What kind of thing an option selects, by the words of its name."""
    for family, words in _FAMILIES:
        if any(word in option for word in words):
            return family
    return "other"


def _worst(severities: Iterable[Severity | None]) -> Badge | None:
    found = set(severities)
    return next((SEVERITY_BADGE[one] for one in Severity if one in found), None)


def _items(
    behaviours: Sequence[OptionBehaviour],
    option: Option | None,
    audit: Audit,
    tokens: dict[str, str],
) -> tuple[PathItem, ...]:
    # Capabilities with one and the same picture share it.
    shared: dict[tuple[object, ...], list[tuple[str, Way]]] = {}
    for behaviour in behaviours:
        way = ways_of(behaviour, option, audit)
        nodes, edges = kernel_nodes(way, behaviour, audit, tokens)
        key = (nodes, edges, way.left_out)
        shared.setdefault(key, []).append(
            (behaviour.capability, replace(way, nodes=nodes, edges=edges))
        )
    return tuple(_item(found, audit) for found in shared.values())


def _item(found: Sequence[tuple[str, Way]], audit: Audit) -> PathItem:
    names = tuple(visible(name) for name, _ in found)
    way = found[0][1]
    places = dict(way.places)
    taken = [node for node in way.nodes if node.way is Taken.YES]
    return PathItem(
        anchor="",
        where=capability_range([name for name, _ in found], audit.capabilities),
        capabilities=names,
        said=_said(taken),
        picture=drawn(COLUMNS, way.nodes, way.edges),
        steps=tuple(
            (_words(node), maybe_link(places.get(node.key), audit.source)) for node in taken
        ),
        left_out=way.left_out,
    )


def _words(node: Node) -> str:
    return f"{COLUMNS[node.column]}: {'; '.join((node.title, *node.notes))}"


def _said(nodes: Sequence[Node]) -> str:
    values = [node.title for node in nodes if node.column == 3]
    decisions = sum(node.column == 2 for node in nodes)
    return f"{plural(decisions, 'decision')}, ends at {' or '.join(values) or 'nothing known'}"
