"""Model configurations without transformers' source.

Assumes: a configuration has just the attributes that config.json gives; defaults of the
transformers class are missing, and reading one raises AttributeError.
"""

from __future__ import annotations

import json
import posixpath
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.values import MISSING, Class, Instance, Native, Raised, Value

if TYPE_CHECKING:
    from sgl_audit.evaluate.standins import Standins

NESTED = (
    "text_config",
    "vision_config",
    "audio_config",
    "llm_config",
    "language_config",
    "thinker_config",
)
DEFAULTS: dict[str, Any] = {
    "architectures": None,
    "tie_word_embeddings": True,
    "is_encoder_decoder": False,
}


def bag_names(standins: Standins) -> dict[str, Value]:
    """`PretrainedConfig`, `AutoConfig`, `GenerationConfig`."""
    machine = standins.machine
    files = standins.files
    config = Class(
        "PretrainedConfig", (machine.object_class,), {}, "transformers.configuration_utils"
    )
    config.ns["model_type"] = ""
    config.ns["attribute_map"] = {}

    def initialise(args: list[Value], kwargs: dict[str, Value]) -> None:
        for name, value in {**DEFAULTS, **kwargs}.items():
            if name in NESTED and isinstance(value, dict):
                inner = Instance(config)
                initialise([inner], value)
                value = inner
            if machine.lookup(args[0], name) is MISSING or name in kwargs:
                machine.setattr(args[0], name, value)

    def load(path: Value) -> dict[str, Any]:
        target = files.text(path)
        if not files.is_file(target):
            target = posixpath.join(target, "config.json")
        if not files.is_file(target):
            raise machine.error("OSError", f"no config.json in {path}")
        return json.loads(files.read(target))  # type: ignore[no-any-return]

    def from_dict(args: list[Value], kwargs: dict[str, Value]) -> Value:
        return machine.call(args[0], [], dict(args[1]))

    def to_dict(args: list[Value], kwargs: dict[str, Value]) -> Value:
        return {
            name: to_dict([value], {})
            if isinstance(value, Instance) and config in value.cls.mro
            else value
            for name, value in args[0].d.items()
        }

    def update(args: list[Value], kwargs: dict[str, Value]) -> None:
        for name, value in args[1].items():
            machine.setattr(args[0], name, value)

    registered: dict[str, Value] = {}

    def register(model_type: Value, cls: Value, exist_ok: bool = False) -> None:
        machine.touch(registered)
        registered[model_type] = cls

    def automatic(path: Value, **options: Value) -> Value:
        standins.world.ask("transformers")
        doubt = files.doubt(path, "configuration of")
        if doubt is not None:
            return doubt
        data = load(path)
        return machine.call(registered.get(data.get("model_type", ""), config), [], data)

    config.ns["__init__"] = Native("PretrainedConfig", initialise, raw=True, method=True)
    config.ns["to_dict"] = Native("to_dict", to_dict, raw=True, method=True)
    config.ns["get_text_config"] = Native(
        "get_text_config", lambda a, k: a[0].d.get("text_config", a[0]), raw=True, method=True
    )
    config.ns["update"] = Native("update", update, raw=True, method=True)
    from sgl_audit.evaluate.values import ClassMethod

    config.ns["from_dict"] = ClassMethod(Native("from_dict", from_dict, raw=True))
    config.ns["from_pretrained"] = ClassMethod(
        Native("from_pretrained", lambda a, k: machine.call(a[0], [], load(a[1])), raw=True)
    )
    config.ns["get_config_dict"] = ClassMethod(
        Native(
            "get_config_dict",
            lambda a, k: (files.doubt(a[1], "configuration of") or load(a[1]), {}),
            raw=True,
        )
    )
    auto = Class("AutoConfig", (machine.object_class,), {}, "transformers")
    auto.ns["from_pretrained"] = standins.native("from_pretrained", automatic, raw=True)
    auto.ns["register"] = standins.native("register", register, raw=True)
    generation = Class("GenerationConfig", (machine.object_class,), {}, "transformers")

    def missing(*args: Value, **kwargs: Value) -> Value:
        raise machine.error("OSError", "no generation_config.json")

    generation.ns["from_pretrained"] = standins.native("from_pretrained", missing, raw=True)
    return {
        "PretrainedConfig": config,
        "PreTrainedConfig": config,
        "AutoConfig": auto,
        "GenerationConfig": generation,
    }


__all__ = ["Raised", "bag_names"]
