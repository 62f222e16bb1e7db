"""The loader's quantization configuration and the method it chooses for experts."""

from __future__ import annotations

from typing import Any

from sgl_audit.evaluate.classes import new_instance
from sgl_audit.evaluate.entry import Reached
from sgl_audit.evaluate.late_models import known_architecture
from sgl_audit.evaluate.late_trial import MOE_METHOD, QUANTIZATION, Trial
from sgl_audit.evaluate.values import (
    MISSING,
    Bound,
    Class,
    Function,
    Instance,
    Raised,
    Undecidable,
    Unknown,
    Value,
    is_instance,
)

# Experts of other methods: met at the same point, but a stage of their own.
OTHER_METHOD = "expert_method"
# What the loader asks of the device once it has read the configuration.
LOADER_CHECK = "loader"
LOADER = "srt.model_loader.loader"
LOAD_CONFIG = "srt.configs.load_config"
ASK = "_get_quantization_config"
READ = "get_quant_config"
EXPERTS = ("srt.layers.moe.fused_moe_triton", "srt.layers.moe.fused_moe_triton.layer")
PASSED_ON = ("load_format", "download_dir", "model_loader_extra_config")


def quantization_config(trial: Trial, model_config: Value, reached: Reached) -> Value:
    """The quantization configuration as the loader reads it; MISSING where there is none.

    What the loader then asks of the device and the data type is a stage of its own: a
    configuration that it refuses is still there for the stages that follow.
    """
    entry = trial.entry
    if not entry.has(LOADER):
        trial.gap(f"{QUANTIZATION}: the tree has no {LOADER}")
        return MISSING
    parts: list[Value] = []

    def prepare() -> Value:
        loader = entry.module(LOADER)
        parts.extend(function_of(trial, loader, name) for name in (ASK, READ))
        parts.append(loader_arguments(trial, model_config, reached))
        return None

    if trial.run(QUANTIZATION, prepare) is MISSING:
        return MISSING
    ask, read, given = parts
    with known_architecture(trial, entry.module(LOADER), model_config):
        return ask_loader(trial, ask, read, given)


def ask_loader(trial: Trial, ask: Function, read: Function, given: dict[str, Value]) -> Value:
    """Run the loader's function; reading the configuration and checking it are told apart."""
    machine = trial.machine
    outcome: list[Value] = []

    def note(called: Function, args: Any, kwargs: dict[str, Value]) -> Value:
        read.code.watch = None
        try:
            part = lambda: machine.call_function(called, args, kwargs)  # noqa: E731
            outcome.append(trial.run(QUANTIZATION, part))
        finally:
            read.code.watch = note
        if outcome[-1] is MISSING:
            raise Undecidable("the quantization configuration was not read")
        return outcome[-1]

    names = [name for name in ask.code.positional if name in given]
    read.code.watch = note
    try:
        trial.run(
            LOADER_CHECK,
            lambda: machine.call(ask, [], {name: given[name] for name in names}),
            compulsory=False,
        )
    finally:
        read.code.watch = None
    return outcome[-1] if outcome else MISSING


def function_of(trial: Trial, module: Value, name: str) -> Function:
    """A function by its name in a module.

    Raises:
        Undecidable: there is none.
    """
    function = trial.machine.module_attribute(module, name)
    if not isinstance(function, Function):
        raise Undecidable(f"{name} was not found")
    return function


def loader_arguments(trial: Trial, model_config: Value, reached: Reached) -> dict[str, Value]:
    """What the loader's function may ask for, by the names of its parameters."""
    return {
        "model_config": model_config,
        "load_config": load_config(trial, reached),
        "packed_modules_mapping": {},
    }


def load_config(trial: Trial, reached: Reached) -> Value:
    """What the runner tells the loader, as far as the record says it."""
    machine, entry = trial.machine, trial.entry
    if not entry.has(LOAD_CONFIG):
        return None
    cls = machine.module_attribute(entry.module(LOAD_CONFIG), "LoadConfig")
    if not isinstance(cls, Class):
        return None
    known = {item.name for parent in cls.mro for item in parent.data.get("record", ())}
    read = entry.reader(reached.record)
    fields = entry.fields(reached.record)
    options = {name: read(name) for name in PASSED_ON if name in known and name in fields}
    try:
        return machine.call(cls, [], options)
    except (Raised, Undecidable):
        return new_instance(cls)


def expert_refusals(
    trial: Trial, quantization: Value, model_config: Value, reached: Reached
) -> None:
    """Construct the method that the quantization configuration chooses for experts."""
    if not is_instance(quantization) or not any("moe" in name for name in reached.initialised):
        return
    method = trial.machine.lookup(quantization, "get_quant_method")
    direct = _expert_method_class(quantization.cls, trial)
    stage = MOE_METHOD if direct is not None else OTHER_METHOD
    compulsory = direct is not None
    layer = _expert_layer(trial)
    if isinstance(method, Bound) and layer is not None:
        prefix = _middle_layer(trial, model_config)
        trial.run(
            stage, lambda: trial.machine.call(method, [layer, prefix], {}), compulsory=compulsory
        )
    elif direct is not None:
        trial.run(stage, lambda: trial.machine.call(direct, [quantization], {}))


def _expert_method_class(cls: Class, trial: Trial) -> Class | None:
    """The NVFP4 experts' method that an FP4 configuration's module defines, by their names."""
    for parent in cls.mro:
        module = trial.machine.imports.modules.get(parent.module)
        if module is None or "fp4" not in parent.name.lower():
            continue
        for name, value in module.ns.items():
            text = name.lower()
            own = isinstance(value, Class) and value.module == parent.module
            if own and "nvfp4" in text and text.endswith("moemethod"):
                return value  # type: ignore[no-any-return]
    return None


def _expert_layer(trial: Trial) -> Instance | None:
    """An experts' layer without weights."""
    for name in EXPERTS:
        if not trial.entry.has(name):
            continue
        try:
            cls = trial.machine.module_attribute(trial.entry.module(name), "FusedMoE")
        except (Raised, Undecidable):
            continue
        if isinstance(cls, Class):
            layer = new_instance(cls)
            return layer if isinstance(layer, Instance) else None
    return None


def _middle_layer(trial: Trial, model_config: Value) -> str:
    """The name of the experts of a layer in the middle: the outer ones are often left out."""
    try:
        count = trial.machine.getattr(model_config, "num_hidden_layers")
    except (Raised, Undecidable):
        count = 2
    index = count // 2 if isinstance(count, int) and not isinstance(count, Unknown) else 1
    return f"model.layers.{index}.mlp.experts"
