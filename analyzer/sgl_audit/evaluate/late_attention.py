"""The attention back end: its factory in the registry, and the wrapper for special models."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from sgl_audit.evaluate.entry import Reached
from sgl_audit.evaluate.late_trial import ATTENTION, Trial
from sgl_audit.evaluate.values import (
    MISSING,
    Bound,
    Class,
    Function,
    Instance,
    Opaque,
    Undecidable,
    Value,
)

REGISTRY = "srt.layers.attention.attention_registry"
FACTORIES = "ATTENTION_BACKENDS"
WRAPPER = "attn_backend_wrapper"
METHOD = "_get_attention_backend_from_str"
CONTEXT = "srt.runtime_context"
PAIR = ("prefill_attention_backend", "decode_attention_backend")


def attention_refusals(trial: Trial, runner: Value, reached: Reached) -> None:
    """Ask the factories of the chosen back ends and the wrapper."""
    machine = trial.machine
    found: list[Value] = []

    def prepare() -> Value:
        found.append(factories_of(trial, runner))
        found.append(chosen_backends(trial, reached))
        return None

    if runner is None or trial.run(ATTENTION, prepare) is MISSING:
        return
    (factories, wrapper), (prefill, decode) = found
    runner.d["prefill_attention_backend_str"] = prefill
    runner.d["decode_attention_backend_str"] = decode
    with constructors_left_out(trial, runner):
        backend: Value = Opaque("an attention back end")
        for name in dict.fromkeys((decode, prefill)):
            if isinstance(factories, Bound):
                trial.check(ATTENTION, partial(machine.call, factories, [name], {}))
            elif (factory := factories.get(name, MISSING)) is MISSING:
                trial.gap(f"{ATTENTION}: no factory for {name!r}")
            else:
                trial.check(ATTENTION, partial(machine.call, factory, [runner], {}))
        if isinstance(wrapper, Function):
            trial.check(ATTENTION, partial(machine.call, wrapper, [runner, backend], {}))


def factories_of(trial: Trial, runner: Value) -> tuple[Value, Value]:
    """The registry's factories and wrapper, or the runner's own method where there is none."""
    machine, entry = trial.machine, trial.entry
    if entry.has(REGISTRY):
        registry = entry.module(REGISTRY)
        factories = machine.module_attribute(registry, FACTORIES)
        if isinstance(factories, dict):
            return factories, machine.module_attribute(registry, WRAPPER)
    method = machine.lookup(runner, METHOD)
    if isinstance(method, Bound):
        return method, None
    raise Undecidable("the factories of attention back ends were not found")


def chosen_backends(trial: Trial, reached: Reached) -> tuple[Value, Value]:
    """(prefill, decode), from the tree's own function for it or by the fields."""
    machine, entry = trial.machine, trial.entry
    own = machine.lookup(reached.record, "get_attention_backends")
    if own is MISSING and entry.has(CONTEXT):
        own = machine.lookup(entry.module(CONTEXT), "attention_backends")
    if own is not MISSING:
        pair = machine.call(own, [], {})
        if isinstance(pair, tuple) and len(pair) == 2:
            return pair
        raise Undecidable("the pair of attention back ends")
    read = entry.reader(reached.record)
    fields = entry.fields(reached.record)
    both = read("attention_backend")
    prefill, decode = (read(name) or both if name in fields else both for name in PAIR)
    return prefill, decode


@contextmanager
def constructors_left_out(trial: Trial, runner: Instance) -> Iterator[None]:
    """Objects made from the runner, or from such an object, are made without their initialiser.

    Those initialisers allocate on the device; what they would refuse is not this stage's.
    """
    machine = trial.machine
    made: set[int] = {id(runner)}
    kept: list[Value] = []
    root = trial.entry.root + "."

    def instantiate(cls: Class, args: Any, kwargs: dict[str, Value]) -> Value:
        given = [*args, *kwargs.values()]
        if cls.module.startswith(root) and any(id(item) in made for item in given):
            stand_in = Opaque(f"{cls.name}(...)")
            made.add(id(stand_in))
            kept.append(stand_in)
            return stand_in
        return type(machine).instantiate(machine, cls, args, kwargs)

    machine.instantiate = instantiate  # type: ignore[method-assign]
    try:
        yield
    finally:
        del machine.instantiate
