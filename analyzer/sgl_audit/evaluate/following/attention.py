"""The attention back ends of a launch, followed from `forward` down to library calls."""

from __future__ import annotations

from sgl_audit.evaluate.classes import new_instance
from sgl_audit.evaluate.entry import Reached
from sgl_audit.evaluate.following.follower import Follower
from sgl_audit.evaluate.following.model import class_at
from sgl_audit.evaluate.following.trying import INPUT, Attempts
from sgl_audit.evaluate.late_attention import chosen_backends, factories_of
from sgl_audit.evaluate.late_trial import Trial
from sgl_audit.evaluate.values import (
    MISSING,
    Bound,
    Class,
    Function,
    Instance,
    Native,
    Unknown,
    Value,
    is_instance,
)
from sgl_audit.model.paths import LayerPath, Site
from sgl_audit.model.source import Place

BATCH = ("srt.model_executor.forward_batch_info", "ForwardBatch")
MODE = ("srt.model_executor.forward_batch_info", "ForwardMode")
LAYER = ("srt.layers.radix_attention", "RadixAttention")
METADATA = "init_forward_metadata"
STAGES = ((Site.PREFILL, 0, "EXTEND"), (Site.DECODE, 1, "DECODE"))


def follow_attention(trial: Trial, runner: Value, reached: Reached) -> tuple[LayerPath, ...]:
    """Follow what runs for prefill and for decode."""
    found: list[Value] = []

    def prepare() -> Value:
        found.append(factories_of(trial, runner))
        found.append(chosen_backends(trial, reached))
        return None

    maker = Follower(trial.machine, trial.entry.root)
    if not is_instance(runner) or Attempts(trial).run(prepare, maker) is MISSING:
        return ()
    (factories, wrapper), pair = found
    runner.d["prefill_attention_backend_str"], runner.d["decode_attention_backend_str"] = pair
    return tuple(
        follow_stage(trial, runner, factories, wrapper, site, pair[index], mode)
        for site, index, mode in STAGES
    )


def follow_stage(
    trial: Trial,
    runner: Value,
    factories: Value,
    wrapper: Value,
    site: Site,
    name: Value,
    mode: str,
) -> LayerPath:
    """One stage with the back end of that name."""
    machine = trial.machine
    # The registry's own refusals are a stage of loading; here an input that only a server has may
    # be what is missed.
    attempts = Attempts(trial, refusing=False)
    making = Follower(machine, trial.entry.root)

    def make() -> Value:
        if isinstance(factories, Bound):
            backend = machine.call(factories, [name], {})
        else:
            backend = machine.call(factories[name], [runner], {})
        if isinstance(wrapper, Function):
            backend = machine.call(wrapper, [runner, backend], {})
        return backend

    with making.installed():
        backend = attempts.run(make, making)
    if not is_instance(backend):
        text = str(name) if isinstance(name, str) else "unknown"
        reasons = attempts.gaps or [str(getattr(backend, "reason", "it was not made"))]
        return LayerPath(
            site,
            text,
            "",
            None,
            gaps=tuple(reasons),
        )
    follower = Follower(machine, trial.entry.root)
    with follower.installed():
        batch = a_batch(trial, mode)
        prepare = machine.lookup(backend, METADATA)
        if isinstance(prepare, Bound):
            attempts.run(lambda: machine.call(prepare, [batch], {}), follower)
        forward = machine.lookup(backend, "forward")
        given = {
            **{key: Unknown(key, INPUT, ("input", key)) for key in ("q", "k", "v")},
            "layer": loose(trial, LAYER),
            "forward_batch": batch,
        }
        if isinstance(forward, Bound):
            attempts.run(lambda: machine.call(forward, [], given), follower)
    return LayerPath(
        site,
        str(name),
        backend.cls.name,
        defined(trial, backend),
        calls=follower.calls,
        gaps=(*attempts.gaps, *follower.noted),
    )


def a_batch(trial: Trial, mode: str) -> Value:
    """A batch of which only the kind is known."""
    machine = trial.machine
    batch = loose(trial, BATCH)
    modes = class_at(trial, *MODE)
    if is_instance(batch) and modes is not None:
        batch.d["forward_mode"] = machine.getattr(modes, mode)
    return batch


def loose(trial: Trial, name: tuple[str, str]) -> Value:
    """An instance whose attributes are unknown."""
    base = class_at(trial, *name)
    if base is None:
        return Unknown(name[1], INPUT)
    cls = Class(base.name, (base,), {}, base.module)

    def missing(args: list[Value], kwargs: dict[str, Value]) -> Value:
        key = (name[1], id(args[0]), args[1])
        return Unknown(f"{base.name}.{args[1]}", INPUT, key)

    cls.ns["__getattr__"] = Native("__getattr__", missing, raw=True, method=True)
    item = new_instance(cls)
    for parent in base.mro:
        for field in parent.data.get("record", ()):
            key = (name[1], id(item), field.name)
            item.d.setdefault(field.name, Unknown(f"{base.name}.{field.name}", INPUT, key))
    return item


def defined(trial: Trial, backend: Instance) -> Place | None:
    """Where the class of a back end stands, by its first own method."""
    for value in backend.cls.ns.values():
        if isinstance(value, Function):
            return Place(value.code.file, value.code.line)
    return None
