"""The layers that a model makes for itself, found by building it without weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sgl_audit.evaluate.following.loading import load_due
from sgl_audit.evaluate.late_models import model_class
from sgl_audit.evaluate.late_trial import Trial
from sgl_audit.evaluate.machine import NOT_HANDLED
from sgl_audit.evaluate.values import (
    MISSING,
    Class,
    Function,
    Instance,
    Raised,
    Undecidable,
    Unknown,
    Value,
    is_instance,
)
from sgl_audit.model.paths import Site

LINEAR = ("srt.layers.linear", "LinearBase")
EXPERTS = (
    ("srt.layers.moe.fused_moe_triton.layer", "FusedMoE"),
    ("srt.layers.moe.fused_moe_triton", "FusedMoE"),
)
UTILITIES = ("srt.utils", "srt.utils.common")
LAYERS = "make_layers"
# Hybrid models repeat a pattern of this many layers at most; the first ones are often special.
PATTERN = 4
# Where a model has experts and none of those layers does, so many are made to find them.
LONGEST = 24
COUNTS = ("num_experts", "n_routed_experts", "num_local_experts", "moe_num_experts")
ATTENTION = "srt.layers.attention."
# Layers that call no kernel by themselves.
PASSIVE = ("RadixAttention", "RadixLinearAttention")
TOWERS = ("vision_config", "audio_config")
UNSET = "it is not set in this model's own code"


@dataclass(slots=True)
class Layers:
    """The layers of a model that hold weights.

    Attributes:
        other: those of attention itself that are no `RadixAttention`: indexers, mixers.
        linear: in the order they were made.
        expected: whether the configuration speaks of experts.
        refused: what the initialiser of such a layer raised.
    """

    experts: list[Instance] = field(default_factory=list)
    linear: list[Instance] = field(default_factory=list)
    other: list[Instance] = field(default_factory=list)
    expected: bool = False
    refused: list[tuple[Site, str, Raised]] = field(default_factory=list)
    gap: str | None = None


def layers_of(trial: Trial, model_config: Value, quantization: Value) -> Layers:
    """Build the model of a launch and note its layers."""
    machine = trial.machine
    found = Layers(expected=has_experts(machine, model_config))
    bases = [base for base in (class_at(trial, *LINEAR),) if base]
    expert = next((cls for name in EXPERTS if (cls := class_at(trial, *name))), None)
    config = machine.getattr(model_config, "hf_config")
    cls, name = model_class(trial, machine.getattr(config, "architectures"))
    if not isinstance(cls, Class) or not isinstance(cls.find("__init__"), Function):
        found.gap = f"the class of {name} was not found"
        return found
    load_due(trial)
    given = {"config": config, "quant_config": quantization, "prefix": ""}
    towers = [sub for name in TOWERS if is_instance(sub := config.d.get(name))]
    with noted(trial, expert, bases, towers, found), few_layers(trial, found):
        try:
            machine.call(cls, [], accepted(cls, given))
        except Undecidable as stop:
            found.gap = f"{name}: {stop.reason}"
        except Raised as raised:
            found.gap = f"{name}: {trial.describe(raised)}"
    return found


def has_experts(machine: Any, model_config: Value) -> bool:
    """Whether a model's configuration counts experts."""
    config = machine.lookup(model_config, "hf_text_config")
    if not is_instance(config):
        return False
    counts = [config.d.get(name) for name in COUNTS]
    return any(isinstance(count, int) and count > 1 for count in counts)


def class_at(trial: Trial, module: str, name: str) -> Class | None:
    """A class of the tree, or None."""
    if not trial.entry.has(module):
        return None
    try:
        value = trial.machine.module_attribute(trial.entry.module(module), name)
    except (Raised, Undecidable):
        return None
    return value if isinstance(value, Class) else None


def accepted(cls: Class, given: dict[str, Value]) -> dict[str, Value]:
    """Those arguments that the initialiser of a class takes, and unknowns for what it demands."""
    init = cls.find("__init__")
    if not isinstance(init, Function):
        return given
    code = init.code
    names = [*code.positional[1:], *code.kwonly]
    chosen = {name: given[name] for name in names if name in given}
    optional = set(code.positional[len(code.positional) - len(init.defaults) :])
    optional |= set(init.kwdefaults)
    for name in names:
        if name not in chosen and name not in optional:
            chosen[name] = Unknown(name, UNSET)
    return chosen


@contextmanager
def noted(
    trial: Trial,
    expert: Class | None,
    bases: list[Class],
    towers: list[Value],
    found: Layers,
) -> Iterator[None]:
    """Note layers while they are made; what looks at pictures and sounds is left out."""
    machine: Any = trial.machine
    inside = f"{trial.entry.root}.{ATTENTION}"

    def instantiate(cls: Class, args: Any, kwargs: dict[str, Value]) -> Value:
        if any(item is tower for item in (*args, *kwargs.values()) for tower in towers):
            return Unknown(cls.name, "towers for pictures and sounds are not followed")
        try:
            item = type(machine).instantiate(machine, cls, args, kwargs)
        except Raised as raised:
            site = Site.EXPERTS if expert in cls.mro else Site.LINEAR
            own = site is Site.EXPERTS or any(base in cls.mro for base in bases)
            if own and trial.is_refusal(raised) and not machine.follower.gaps:
                found.refused.append((site, cls.name, raised))
            raise
        if item.__class__ is Instance and item.cls is cls:
            if expert is not None and expert in cls.mro:
                found.experts.append(item)
            elif any(base in cls.mro for base in bases):
                found.linear.append(item)
            elif cls.module.startswith(inside) and cls.name not in PASSIVE:
                found.other.append(item)
        return item

    machine.instantiate = instantiate
    try:
        yield
    finally:
        del machine.instantiate


def one_layer(trial: Trial, make: Value, given: dict[str, Value]) -> Value:
    """One layer; where it cannot be finished, its parts are still there to be followed."""
    try:
        return trial.machine.call(make, [], given)
    except (Raised, Undecidable) as stop:
        reason = trial.describe(stop) if isinstance(stop, Raised) else stop.reason
        return Unknown("layer", reason)


@contextmanager
def few_layers(trial: Trial, found: Layers) -> Iterator[None]:
    """Let the tree's own maker of layers make those of one repetition in the middle."""
    machine = trial.machine
    maker = None
    for name in UTILITIES:
        if trial.entry.has(name):
            value = machine.lookup(trial.entry.module(name), LAYERS)
            if isinstance(value, Function):
                maker = value
                break
    if maker is None:
        yield
        return

    def some(function: Function, args: list[Value], kwargs: dict[str, Value]) -> Value:
        code = function.code
        named = {**dict(zip(code.positional, args, strict=False)), **kwargs}
        count, make = named.get("num_hidden_layers"), named.get("layer_fn", MISSING)
        if not isinstance(count, int) or make is MISSING:
            return NOT_HANDLED
        prefix = named.get("prefix", "")
        start = max(0, count // 2 - PATTERN // 2)
        start -= start % PATTERN
        made: list[Value] = []
        for index in range(start, min(count, start + LONGEST)):
            if len(made) >= PATTERN and (found.experts or not found.expected):
                break
            text = f"{prefix}.{index}" if prefix else str(index)
            made.append(one_layer(trial, make, {"idx": index, "prefix": text}))
        paged = "pp_rank" in named and "return_tuple" not in named
        return (made, 0, count) if paged or named.get("return_tuple") is True else made

    before, maker.code.watch = maker.code.watch, some
    try:
        yield
    finally:
        maker.code.watch = before
