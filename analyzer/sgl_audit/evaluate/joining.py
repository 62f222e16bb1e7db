"""Joining what several ways through a branch left in one container."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.journal import Memo, Overlay
from sgl_audit.evaluate.scopes import GLOBALS
from sgl_audit.evaluate.values import (
    MISSING,
    Cases,
    Cube,
    Unknown,
    Value,
    same,
)

if TYPE_CHECKING:
    pass


def join_contents(container: Any, states: list[tuple[Cube, Any]]) -> Any:
    """The contents of one container after several ways, or MISSING where they do not join."""
    if isinstance(container, dict):
        return _join_dicts(container, states)
    if isinstance(container, list):
        if len({len(state) for _, state in states}) != 1:
            return MISSING
        columns = zip(*(state for _, state in states), strict=True)
        cubes = [cube for cube, _ in states]
        return [_join_items(cubes, column) for column in columns]
    first = states[0][1]
    return set(first) if all(state == first for _, state in states[1:]) else MISSING


def _join_dicts(container: Any, states: list[tuple[Cube, Any]]) -> Any:
    if isinstance(container, Memo):
        first = states[0][1]
        rest = [state for _, state in states[1:]]
        return {k: v for k, v in first.items() if all(k in r and same(r[k], v) for r in rest)}
    frame = GLOBALS in container
    keys: dict[Any, None] = {}
    for _, state in states:
        keys.update(dict.fromkeys(state))
    joined: dict[Any, Value] = {}
    first, others = states[0][1], [state for _, state in states[1:]]
    for key in keys:
        value = first.get(key, MISSING)
        # Most of a frame is the same object on every way.
        for other in others:
            if other.get(key, MISSING) is not value:
                break
        else:
            joined[key] = value
            continue
        column = [state.get(key, MISSING) for _, state in states]
        if any(item is MISSING for item in column):
            if not frame and not isinstance(container, Overlay):
                return MISSING
            joined[key] = Unknown(
                str(key), "bound on some ways only", ("unbound", key, id(container))
            )
        else:
            joined[key] = _join_items([cube for cube, _ in states], column)
    return joined


def _join_items(cubes: list[Cube], column: Any) -> Value:
    items = list(column)
    if all(same(item, items[0]) for item in items[1:]):
        return items[0]
    return Cases.of(tuple(zip(cubes, items, strict=True)))
