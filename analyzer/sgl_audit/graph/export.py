"""The graph in four written forms, the same bytes for the same graph."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from sgl_audit.errors import UsageError

if TYPE_CHECKING:
    from sgl_audit.graph.build import Graph

FORMATS = ("json", "dot", "graphml", "mermaid")
_SHAPES = {
    "capability": "ellipse",
    "gate": "diamond",
    "decision": "box",
    "rejection": "octagon",
    "option": "folder",
    "choice": "note",
    "enum member": "component",
    "environment variable": "cds",
    "dispatch site": "parallelogram",
}
_BRACKETS = {
    "capability": ("([", "])"),
    "gate": ("{", "}"),
    "rejection": ("{{", "}}"),
    "option": ("[[", "]]"),
    "choice": ("(", ")"),
    "environment variable": (">", "]"),
    "dispatch site": ("[/", "/]"),
}
_LABEL = 90
# Mermaid reads these in a quoted label; `#` first, for it begins what replaces the others.
_MERMAID = (("#", "#35;"), ("&", "#amp;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;"))


def export_graph(graph: Graph, fmt: str) -> str:
    """The graph as text.

    Raises:
        UsageError: the form is none of `FORMATS`.
    """
    writers = {"json": _json, "dot": _dot, "graphml": _graphml, "mermaid": _mermaid}
    if fmt not in writers:
        raise UsageError(f"a graph is written as one of {', '.join(FORMATS)}, not as {fmt!r}")
    return writers[fmt](graph)


def _nodes(graph: Graph) -> list[tuple[str, dict[str, Any]]]:
    return sorted(((name, dict(data)) for name, data in graph.nodes(data=True)), key=_first)


def _first(node: tuple[str, dict[str, Any]]) -> str:
    return node[0]


def _edges(graph: Graph) -> list[tuple[str, str, str, dict[str, Any]]]:
    return sorted(graph.edges(keys=True, data=True), key=lambda edge: edge[:3])


def _json(graph: Graph) -> str:
    """Node-link form, as `networkx.node_link_graph(..., edges="links")` reads it."""
    whole = {
        "directed": True,
        "multigraph": True,
        "graph": {},
        "nodes": [{"id": name, **data} for name, data in _nodes(graph)],
        "links": [
            {"source": start, "target": end, "key": key, **data}
            for start, end, key, data in _edges(graph)
        ],
    }
    return json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _graphml(graph: Graph) -> str:
    import networkx as nx

    ordered: Graph = nx.MultiDiGraph()
    for name, data in _nodes(graph):
        ordered.add_node(_xml(name), **{key: _plain(value) for key, value in sorted(data.items())})
    for start, end, key, data in _edges(graph):
        values = {name: _plain(value) for name, value in sorted(data.items())}
        ordered.add_edge(_xml(start), _xml(end), key=_xml(key), **values)
    buffer = io.BytesIO()
    nx.write_graphml_xml(ordered, buffer, prettyprint=True)
    return buffer.getvalue().decode()


def _plain(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float)) else _xml(str(value))


def _xml(text: str) -> str:
    """The text without characters that no XML document can hold."""
    return "".join(c if c in "\t\n\r" or c.isprintable() else "\ufffd" for c in text)


def _dot(graph: Graph) -> str:
    lines = ["digraph sglang {", "  rankdir=LR;", '  node [fontname="sans-serif"];']
    for name, data in _nodes(graph):
        label = _quoted(_short(f"{data['label']}"), _lines(data))
        shape = _SHAPES[data["kind"]]
        lines.append(f"  {_quoted(name)} [label={label}, shape={shape}];")
    for start, end, _, data in _edges(graph):
        text = _edge_label(data)
        lines.append(f"  {_quoted(start)} -> {_quoted(end)} [label={_quoted(text)}];")
    return "\n".join([*lines, "}", ""])


def _lines(data: dict[str, Any]) -> str:
    place = data.get("place") or ""
    return f"{data['kind']}{'  ' if place else ''}{place}"


def _quoted(text: str, second: str = "") -> str:
    escaped = [_dot_text(part) for part in (text, second) if part]
    return '"' + "\\n".join(escaped) + '"'


def _dot_text(text: str) -> str:
    flat = " ".join(text.split())
    return flat.replace("\\", "\\\\").replace('"', '\\"')


def _edge_label(data: dict[str, Any]) -> str:
    guard = data["guard"]
    return data["kind"] if guard == "always" else f"{data['kind']}: {_short(guard)}"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LABEL else f"{flat[: _LABEL - 3]}..."


def _mermaid(graph: Graph) -> str:
    lines = ["flowchart LR"]
    names = {name: f"n{index}" for index, (name, _) in enumerate(_nodes(graph))}
    for name, data in _nodes(graph):
        left, right = _BRACKETS.get(data["kind"], ("[", "]"))
        place = data.get("place") or ""
        text = _mermaid_text(_short(data["label"]))
        below = f"<br/>{_mermaid_text(place)}" if place else ""
        lines.append(f'  {names[name]}{left}"{text}{below}"{right}')
    for start, end, _, data in _edges(graph):
        label = _mermaid_text(_edge_label(data))
        lines.append(f'  {names[start]} -->|"{label}"| {names[end]}')
    return "\n".join([*lines, ""])


def _mermaid_text(text: str) -> str:
    for character, written in _MERMAID:
        text = text.replace(character, written)
    return text.replace("`", "#96;").replace("|", "#124;")
