"""`copy.copy` and `copy.deepcopy`.

Assumes: outside objects, functions, classes and modules are shared, as Python shares them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.values import INSTANCE_TYPES, MISSING, Instance, Value

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine


def shallow(machine: Machine, value: Value) -> Value:
    """A shallow copy."""
    if isinstance(value, INSTANCE_TYPES):
        hook = value.cls.find("__copy__")
        if hook is not MISSING:
            return machine.call(machine.bind(hook, value, value.cls), [], {})
        return _clone(value, dict(value.d), value)
    if type(value) in (list, dict, set):
        return type(value)(value)
    return value


def deep(machine: Machine, value: Value, memo: dict[int, Value] | None = None) -> Value:
    """A deep copy; an interpreted `__deepcopy__` is used."""
    memo = {} if memo is None else memo
    if id(value) in memo:
        return memo[id(value)]
    if isinstance(value, INSTANCE_TYPES):
        hook = value.cls.find("__deepcopy__")
        if hook is not MISSING:
            return machine.call(machine.bind(hook, value, value.cls), [{}], {})
        if "members" in value.cls.data:
            return value
        copied = _clone(value, {}, value)
        memo[id(value)] = copied
        if isinstance(copied, (list, dict)):
            copied.clear()
            _fill(machine, copied, value, memo)
        copied.d.update({k: deep(machine, v, memo) for k, v in value.d.items()})
        return copied
    kind = type(value)
    if kind in (list, dict):
        fresh: Any = kind()
        memo[id(value)] = fresh
        _fill(machine, fresh, value, memo)
        return fresh
    if kind is tuple:
        return tuple(deep(machine, item, memo) for item in value)
    return set(value) if kind is set else value


def _fill(machine: Machine, target: Any, source: Any, memo: dict[int, Value]) -> None:
    if isinstance(target, dict):
        for key, item in source.items():
            dict.__setitem__(target, deep(machine, key, memo), deep(machine, item, memo))
    else:
        target.extend(deep(machine, item, memo) for item in source)


def _clone(value: Any, attributes: dict[str, Value], payload: Any) -> Value:
    from sgl_audit.evaluate.classes import new_instance

    copied = (
        new_instance(value.cls) if isinstance(value, Instance) else new_instance(value.cls, payload)
    )
    copied.d = attributes
    return copied
