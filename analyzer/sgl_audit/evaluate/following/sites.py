"""The kinds of layers of a launch, each followed from its method down to library calls."""

from __future__ import annotations

from functools import partial

from sgl_audit.evaluate.entry import Follow, Reached
from sgl_audit.evaluate.following.attention import follow_attention
from sgl_audit.evaluate.following.follower import Follower
from sgl_audit.evaluate.following.model import Layers, layers_of
from sgl_audit.evaluate.following.trying import INPUT, Attempts
from sgl_audit.evaluate.late_trial import QUANTIZATION, Trial
from sgl_audit.evaluate.values import (
    MISSING,
    Bound,
    Function,
    Instance,
    Unknown,
    Value,
    short,
)
from sgl_audit.model.paths import LayerPath, Site
from sgl_audit.model.source import Place

PREPARE = "process_weights_after_loading"


def follow_launch(
    trial: Trial,
    runner: Value,
    model_config: Value,
    quantization: Value,
    reached: Reached,
    follow: Follow,
) -> tuple[LayerPath, ...]:
    """Follow every kind of layer of a launch that nothing refuses before."""
    if quantization is MISSING and (trial.reason or "").startswith(QUANTIZATION):
        return ()
    given = None if quantization is MISSING else quantization
    paths = follow_layers(trial, model_config, given)
    if follow is Follow.ATTENTION:
        paths += follow_attention(trial, runner, reached)
    return paths


def follow_layers(trial: Trial, model_config: Value, quantization: Value) -> tuple[LayerPath, ...]:
    """Follow the experts and the linear layers."""
    with Follower(trial.machine, trial.entry.root).installed():
        layers = layers_of(trial, model_config, quantization)
        groups = (
            (Site.EXPERTS, by_method(layers.experts)),
            (Site.LINEAR, by_method(layers.linear)),
        )
    paths = [
        follow_layer(trial, site, layer, method)
        for site, found in groups
        for layer, method in found
    ]
    others = {layer.cls.name: layer for layer in layers.other if layer.cls.find("forward")}
    paths += [follow_other(trial, layer) for layer in others.values() if is_module(layer)]
    return (*refused_layers(trial, layers), *paths, *unmade(layers))


def is_module(layer: Instance) -> bool:
    """Whether a layer is a module of torch with a `forward` of its own."""
    own = layer.cls.find("forward")
    return isinstance(own, Function) and any(cls.module == "torch.nn" for cls in layer.cls.mro)


def follow_other(trial: Trial, layer: Instance) -> LayerPath:
    """Run a layer of attention that has kernels of its own."""
    machine = trial.machine
    attempts = Attempts(trial, refusing=False)
    follower = Follower(machine, trial.entry.root)
    with follower.installed():
        for name in ("forward_cuda", "forward"):
            method = machine.lookup(layer, name)
            if isinstance(method, Bound):
                attempts.run(partial(machine.call, method, inputs(method), {}), follower)
                break
    return LayerPath(
        Site.OTHER,
        layer.cls.name,
        str(layer.cls.name),
        None,
        asked=tuple(follower.asked),
        calls=follower.calls,
        gaps=(*attempts.gaps, *follower.noted),
    )


def refused_layers(trial: Trial, layers: Layers) -> tuple[LayerPath, ...]:
    """What layers raised while they were made, each once."""
    found: dict[str, LayerPath] = {}
    for site, name, raised in layers.refused:
        text = trial.describe(raised)
        place = Place(*raised.place) if raised.place else None
        found.setdefault(text, LayerPath(site, name, "", None, refused=text, refused_place=place))
    return tuple(found.values())


def unmade(layers: Layers) -> tuple[LayerPath, ...]:
    """Says which layers a model should have were not found, so that their silence is no praise."""
    found: list[LayerPath] = []
    refused = {site for site, _, _ in layers.refused}
    missing = ((Site.EXPERTS, layers.experts, layers.expected), (Site.LINEAR, layers.linear, True))
    for site, made, expected in missing:
        known = by_method(made)
        if known or not expected or site in refused:
            continue
        reason = layers.gap or f"no layer with {site.value} was found while the model was built"
        if made:
            method = made[0].d.get("quant_method")
            reason = (
                f"which quantization method {made[0].cls.name} gets is not known: {short(method)}"
            )
        found.append(LayerPath(site, "", "", None, gaps=(reason,)))
    return tuple(found)


def by_method(layers: list[Instance]) -> list[tuple[Instance, Instance]]:
    """One layer for each class of method."""
    found: dict[str, tuple[Instance, Instance]] = {}
    for layer in layers:
        method = layer.d.get("quant_method")
        if isinstance(method, Instance):
            found.setdefault(method_name(layer, method), (layer, method))
    return list(found.values())


def method_name(layer: Instance, method: Instance) -> str:
    """The class of a method, with the scheme that does its work where there is one."""
    scheme = layer.d.get("scheme")
    if isinstance(scheme, Instance):
        return f"{method.cls.name}: {scheme.cls.name}"
    return str(method.cls.name)


def follow_layer(trial: Trial, site: Site, layer: Instance, method: Instance) -> LayerPath:
    """Prepare the weights of one layer and run it, both without values."""
    machine = trial.machine
    attempts = Attempts(trial)
    preparing = Follower(machine, trial.entry.root)
    with preparing.installed():
        prepare = machine.lookup(method, PREPARE)
        if isinstance(prepare, Bound):
            attempts.run(lambda: machine.call(prepare, [layer], {}), preparing)
    follower = Follower(machine, trial.entry.root)
    with follower.installed():
        forward = machine.lookup(layer, "forward")
        if isinstance(forward, Bound):
            attempts.run(lambda: machine.call(forward, inputs(forward), {}), follower)
    return LayerPath(
        site,
        layer.cls.name,
        method_name(layer, method),
        defined(method),
        runner=runner_of(trial, method),
        asked=tuple(dict.fromkeys((*preparing.asked, *follower.asked))),
        calls=follower.calls,
        prepares=preparing.calls,
        refused=attempts.refused,
        refused_place=attempts.place,
        gaps=(*attempts.gaps, *follower.noted),
    )


def defined(method: Instance) -> Place | None:
    """Where the method of a layer does its work."""
    apply = method.cls.find("apply")
    return Place(apply.code.file, apply.code.line) if isinstance(apply, Function) else None


def inputs(method: Bound) -> list[Value]:
    """Unknown arguments for a method."""
    function = method.function
    if not isinstance(function, Function):
        return []
    code = function.code
    needed = code.positional[1 : len(code.positional) - len(function.defaults)]
    return [Unknown(name, INPUT, ("input", name)) for name in needed]


def runner_of(trial: Trial, method: Instance) -> str:
    """The back end that the method settled on, where it keeps a runner."""
    runner = method.d.get("runner")
    if not isinstance(runner, Instance):
        return ""
    backend = runner.d.get("runner_backend")
    value = trial.machine.lookup(backend, "value") if backend is not None else MISSING
    return value if isinstance(value, str) else ""
