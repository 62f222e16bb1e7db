"""`yaml`, as far as settings are read with it.

Assumes: PyYAML's own answers for plain data. Dates and other values beyond plain data are unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from sgl_audit.evaluate.standins.files import Handle
from sgl_audit.evaluate.standins.pure import exception_class
from sgl_audit.evaluate.values import Module, Opaque, Undecidable, Unknown, Value

if TYPE_CHECKING:
    from sgl_audit.evaluate.standins import Standins

# Nodes of one document; aliases make a small file large.
NODE_BUDGET = 100_000


def _build(standins: Standins, module: Module) -> None:
    machine = standins.machine
    module.ns["YAMLError"] = exception_class(standins, yaml.YAMLError)

    def safe_load(stream: Value) -> Value:
        text = stream.content if isinstance(stream, Handle) else stream
        if isinstance(text, Unknown):
            return text.derive(f"YAML of {text.name}", "yaml")
        if not isinstance(text, (str, bytes)):
            raise Undecidable(f"YAML of {machine.type_name(text)}")
        try:
            return plain_copy(yaml.safe_load(text), [NODE_BUDGET])
        except yaml.YAMLError as problem:
            raise machine.error("YAMLError", str(problem)) from None

    safe = ("SafeLoader", "CSafeLoader")
    loaders = {name: Opaque(f"yaml.{name}") for name in safe}

    def load(stream: Value, Loader: Value = None, **rest: Value) -> Value:
        if Loader not in loaders.values():
            raise Undecidable("YAML read with a loader that may run code")
        return safe_load(stream)

    standins.define(module, raw=True, safe_load=safe_load, load=load)
    module.ns.update(loaders)


def plain_copy(value: Any, budget: list[int]) -> Value:
    """Plain data, each part its own.

    Raises:
        Undecidable: more than plain data, or too much of it.
    """
    budget[0] -= 1
    if budget[0] < 0:
        raise Undecidable("a YAML document with too many parts")
    if isinstance(value, dict):
        return {plain_copy(k, budget): plain_copy(v, budget) for k, v in value.items()}
    if isinstance(value, list):
        return [plain_copy(item, budget) for item in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise Undecidable(f"a YAML document with a {type(value).__name__}")


BUILDERS = {"yaml": _build}
