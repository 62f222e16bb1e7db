"""The way of one resolved value: what set it, step by step, and the kernels it leads to."""

from __future__ import annotations

from sgl_audit.model.paths import LayerPath
from sgl_audit.model.resolution import Resolution, ResolvedValue, Step
from sgl_audit_reports.common.resolutions import shown_value
from sgl_audit_reports.common.text import listed, unique, visible
from sgl_audit_reports.html.data import Picture
from sgl_audit_reports.html.kernels import kernels_of
from sgl_audit_reports.html.parts import VERDICT_BADGE
from sgl_audit_reports.html.picture import Edge, Node, Taken, drawn

_COLUMNS = ("set by", "because", "decides", "becomes", "layer", "kernel and verdict")
_MOST_STEPS = 8
_MOST_CALLS = 4
_MOST_LAYERS = 4


def resolved_picture(value: ResolvedValue, resolution: Resolution) -> Picture | None:
    """The picture of one value, or None where nothing happened to it and nothing is known of it."""
    verdicts = [row for row in resolution.verdicts if row.option == value.name]
    layers = [path for path in resolution.paths if value.name in path.asked]
    named = isinstance(value.value, str) or not value.decided
    if not verdicts and not layers and not (named and len(value.steps) > 1):
        return None
    nodes, edges = _steps(value)
    for number, verdict in enumerate(verdicts):
        badge = VERDICT_BADGE[verdict.verdict]
        calls = kernels_of(verdict)
        notes: tuple[str, ...] = (calls,) if calls else ()
        if verdict.effective:
            notes += (f"the layer takes {visible(verdict.effective)}",)
        notes += (visible(verdict.reason),) if verdict.reason else ()
        nodes.append(Node(f"k{number}", 5, badge.text, notes, badge.kind, badge.symbol))
        edges.append(Edge("value", f"k{number}"))
    for number, path in enumerate(layers[:_MOST_LAYERS]):
        _layer(number, path, nodes, edges)
    return drawn(_COLUMNS, nodes, edges)


def _steps(value: ResolvedValue) -> tuple[list[Node], list[Edge]]:
    decided = "plain" if value.decided else "unknown"
    symbol = "" if value.decided else "?"
    end = Node("value", 3, shown_value(value), (), decided, symbol)
    if not value.steps:
        return [end], []
    first, *later = value.steps
    nodes = [Node("start", 0, visible(first.value), (visible(first.what),))]
    edges: list[Edge] = []
    before = "start"
    for number, step in enumerate(later[-_MOST_STEPS:]):
        before = _step(number, step, before, nodes, edges)
    return [*nodes, end], [*edges, Edge(before, "value")]


def _step(number: int, step: Step, before: str, nodes: list[Node], edges: list[Edge]) -> str:
    key = f"s{number}"
    short = "/".join(str(step.place).split("/")[-2:]) if step.place else ""
    notes = tuple(visible(text) for text in (step.what, short) if text)
    nodes.append(Node(key, 2, visible(step.value), notes))
    if step.conditions:
        reasons = tuple(visible(text) for text in step.conditions[1:3])
        nodes.append(Node(f"c{number}", 1, visible(step.conditions[0]), reasons))
        edges += [Edge(f"c{number}", key)] + ([Edge(before, f"c{number}")] if number == 0 else [])
    if not step.conditions or number > 0:
        edges.append(Edge(before, key))
    return key


def _layer(number: int, path: LayerPath, nodes: list[Node], edges: list[Edge]) -> None:
    key = f"l{number}"
    notes = tuple(visible(text) for text in (path.site.value, path.runner) if text)
    if path.refused:
        refused = (*notes, visible(path.refused))
        nodes.append(Node(key, 4, visible(path.method), refused, "error", "✗"))
    else:
        nodes.append(Node(key, 4, visible(path.method), notes))
    edges.append(Edge("value", key))
    for way, calls in ((Taken.YES, path.certain), (Taken.MAYBE, path.calls)):
        names = unique(call.function for call in calls if way is Taken.YES or call.when)
        if names:
            text = visible(names[0])
            more = (listed([visible(name) for name in names[1:]], _MOST_CALLS),)
            said = ("called",) if way is Taken.YES else ("called under a condition",)
            notes = said + (more if len(names) > 1 else ())
            nodes.append(Node(f"{key}:{way.value}", 5, text, notes, way=way))
            edges.append(Edge(key, f"{key}:{way.value}", way))
