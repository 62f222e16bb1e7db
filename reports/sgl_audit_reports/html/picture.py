"""A layered picture: boxes in columns, lines between them, laid out here so that no script need.

Positions depend on the boxes alone: the same input gives the same picture.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sgl_audit_reports.common.text import clipped, unique
from sgl_audit_reports.html.data import Box, Label, Line, Picture

_WIDTH = 204
_GAP = 44
_TOP = 34
_SPACE = 14
_LINE = 16
_PADDING = 10
_CHARACTERS = 26
_ROWS = 3


class Taken(StrEnum):
    """How a launch goes through a box or a line; the value is the class that draws it."""

    NO = "faint"
    MAYBE = "maybe"
    YES = "taken"


_ORDER = tuple(Taken)


@dataclass(frozen=True, slots=True)
class Node:
    """A box before it has a place.

    Attributes:
        column: which layer it stands in.
        kind: colours it: "ok", "error", "warning", "unknown", "note" or "plain".
        symbol: says the same as the colour.
        way: how a launch with nothing set goes through it; what it does not take is drawn faint.
        groups: what a filter on quantization keeps it for; empty where it belongs to all.
    """

    key: str
    column: int
    title: str
    notes: tuple[str, ...] = ()
    kind: str = "plain"
    symbol: str = ""
    way: Taken = Taken.YES
    url: str | None = None
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """A way from one box to another."""

    start: str
    end: str
    way: Taken = Taken.YES


def drawn(columns: Sequence[str], nodes: Sequence[Node], edges: Sequence[Edge]) -> Picture:
    """Boxes and lines with their places; boxes of a column stand in the order given."""
    used = sorted({node.column for node in nodes})
    labels = {node.key: _labels(node) for node in nodes}
    heights = {key: _PADDING * 2 + _LINE * len(found) for key, found in labels.items()}
    stacks = {c: [node for node in nodes if node.column == c] for c in used}
    totals = {c: sum(heights[n.key] + _SPACE for n in stack) for c, stack in stacks.items()}
    height = _TOP + max(totals.values(), default=0)
    boxes: dict[str, Box] = {}
    for index, column in enumerate(used):
        y = _TOP
        for node in stacks[column]:
            boxes[node.key] = _box(node, index * (_WIDTH + _GAP) + 2, y, labels, heights)
            y += heights[node.key] + _SPACE
    return Picture(
        width=len(used) * (_WIDTH + _GAP) - _GAP + 4,
        height=height,
        columns=tuple((i * (_WIDTH + _GAP) + 2, columns[c]) for i, c in enumerate(used)),
        boxes=tuple(boxes.values()),
        # What is taken is drawn last, over what is not.
        lines=tuple(
            _line(boxes[edge.start], boxes[edge.end], edge.way)
            for edge in sorted(dict.fromkeys(edges), key=lambda edge: _ORDER.index(edge.way))
        ),
    )


def _box(
    node: Node, x: int, y: int, labels: dict[str, tuple[Label, ...]], heights: dict[str, int]
) -> Box:
    return Box(
        x=x,
        y=y,
        width=_WIDTH,
        height=heights[node.key],
        kind=node.kind,
        way=node.way.value,
        labels=tuple(
            Label(x + 10, y + _PADDING + _LINE * number + 12, label.text, label.strong)
            for number, label in enumerate(labels[node.key])
        ),
        full=_full(node, labels[node.key]),
        url=node.url,
        groups=" ".join(node.groups),
    )


def _full(node: Node, labels: tuple[Label, ...]) -> str:
    # Shown on hovering; the words below the picture have everything.
    cut = any(label.text.endswith("…") for label in labels)
    return clipped(". ".join((node.title, *node.notes)), 200) if cut else ""


def _labels(node: Node) -> tuple[Label, ...]:
    title = f"{node.symbol} {node.title}".strip()
    rows = [Label(0, 0, text, True) for text in _wrapped(title, 2)]
    for note in node.notes:
        rows += [Label(0, 0, text, False) for text in _wrapped(note, _ROWS)]
    return tuple(rows)


def _wrapped(text: str, most: int) -> tuple[str, ...]:
    # Paths and flags break after their separators, as a reader would break them.
    spaced = text.replace("/", "/\u200b").replace("_", "_\u200b")
    found: list[str] = [""]
    for word in spaced.split(" "):
        for index, part in enumerate(word.split("\u200b")):
            glue = " " if index == 0 and found[-1] else ""
            if len(found[-1]) + len(glue) + len(part) <= _CHARACTERS:
                found[-1] += glue + part
            else:
                found += textwrap.wrap(part, _CHARACTERS) or [""]
    rows = [row for row in found if row]
    if len(rows) > most:
        rows = [*rows[: most - 1], clipped(" ".join(rows[most - 1 :]), _CHARACTERS)]
    return tuple(rows)


def _line(start: Box, end: Box, way: Taken) -> Line:
    if start.x == end.x:
        x = start.x + start.width // 2
        shape = f"M{x} {start.y + start.height}V{end.y - 3}"
        return Line(f"{shape}M{x - 4} {end.y - 8}l4 5l4-5", way.value, _shared(start, end))
    y1, y2 = start.y + start.height // 2, end.y + end.height // 2
    x1, x2 = start.x + start.width, end.x
    middle = (x1 + x2) // 2
    shape = f"M{x1} {y1}C{middle} {y1} {middle} {y2} {x2 - 3} {y2}"
    return Line(f"{shape}M{x2 - 8} {y2 - 4}l5 4l-5 4", way.value, _shared(start, end))


def _shared(start: Box, end: Box) -> str:
    found = unique([*start.groups.split(), *end.groups.split()])
    both = [
        name
        for name in found
        if (not start.groups or name in start.groups.split())
        and (not end.groups or name in end.groups.split())
    ]
    return " ".join(both)
