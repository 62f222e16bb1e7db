"""`compressed_tensors`: the enums of its formats and what it makes of a layer's arguments.

Assumes: version 0.18's members and defaults. A combination that the library would refuse is an
error here as well, without its wording; aliases of activation orders do not compare equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.values import Class, ClassMethod, Instance, Module, Native, Unknown, Value

if TYPE_CHECKING:
    from sgl_audit.evaluate.standins import Standins

TYPES = ("int", "float")
STRATEGIES = ("tensor", "channel", "group", "block", "token", "tensor_group", "attn_head")
ORDERS = ("group", "weight", "dynamic", "static")
FORMATS = (
    "dense",
    "sparse-bitmask",
    "sparse-24-bitmask",
    "int-quantized",
    "float-quantized",
    "naive-quantized",
    "pack-quantized",
    "marlin-24",
    "mixed-precision",
    "nvfp4-pack-quantized",
    "mxfp4-pack-quantized",
    "mxfp8-quantized",
)
STRUCTURES = {"TWO_FOUR": "2:4", "UNSTRUCTURED": "unstructured", "ZERO_ZERO": "0:0"}
GROUPED = ("group", "tensor_group")
ARGUMENTS: dict[str, Value] = {
    "num_bits": 8,
    "type": "int",
    "symmetric": True,
    "group_size": None,
    "strategy": None,
    "block_structure": None,
    "dynamic": False,
    "actorder": None,
    "scale_dtype": None,
    "zp_dtype": None,
    "observer": None,
    "observer_kwargs": {},
}
SPARSITY: dict[str, Value] = {
    "targets": None,
    "ignore": None,
    "global_sparsity": 0.0,
    "sparsity_structure": "unstructured",
}


class Formats:
    """The classes, made once for a session."""

    def __init__(self, standins: Standins) -> None:
        self.machine = standins.machine
        self.enum = standins.machine.imports.load("enum").ns["Enum"]
        upper = {value.upper(): value for value in STRATEGIES}
        self.names: dict[str, Value] = {
            "QuantizationType": self.text_enum("QuantizationType", {t.upper(): t for t in TYPES}),
            "QuantizationStrategy": self.text_enum("QuantizationStrategy", upper),
            "ActivationOrdering": self.text_enum(
                "ActivationOrdering", {order.upper(): order for order in ORDERS}
            ),
            "DynamicType": self.text_enum("DynamicType", {"LOCAL": "local"}),
            "CompressionFormat": self.text_enum(
                "CompressionFormat", {value.replace("-", "_"): value for value in FORMATS}
            ),
            "SparsityStructure": self.text_enum("SparsityStructure", STRUCTURES),
            "QuantizationArgs": self.model("QuantizationArgs", ARGUMENTS, self.complete),
            "SparsityCompressionConfig": self.model("SparsityCompressionConfig", SPARSITY, None),
        }

    def text_enum(self, name: str, members: dict[str, str]) -> Value:
        """An enum whose members are text."""
        from sgl_audit.evaluate.classes import make_class

        bases = (self.machine.types[str], self.enum)
        return make_class(self.machine, name, bases, dict(members), {})

    def model(self, name: str, defaults: dict[str, Value], complete: Any) -> Class:
        """A model class with these defaults that is made from keywords or from a dict."""
        cls = Class(name, (self.machine.object_class,), {}, "compressed_tensors")

        def initialise(args: list[Value], kwargs: dict[str, Value]) -> None:
            item = args[0]
            for key, value in {**defaults, **kwargs}.items():
                item.d[key] = dict(value) if type(value) is dict else value
            if complete is not None:
                complete(item)

        def validate(args: list[Value], kwargs: dict[str, Value]) -> Value:
            owner, given = args[0], args[1] if len(args) > 1 else kwargs.get("obj")
            if isinstance(given, Instance):
                return given
            if isinstance(given, Unknown) or not isinstance(given, dict):
                return Unknown(f"{name}(...)", "made from something that is not known")
            return self.machine.call(owner, [], dict(given))

        cls.ns["__init__"] = Native("__init__", initialise, raw=True, method=True)
        for method in ("model_validate", "parse_obj"):
            cls.ns[method] = ClassMethod(Native(method, validate, raw=True))
        return cls

    def complete(self, item: Value) -> None:
        """Normalise a layer's arguments and infer the strategy, as the library does."""
        values = item.d
        for key, known in (("type", TYPES), ("strategy", STRATEGIES), ("actorder", ORDERS)):
            text = values[key]
            if isinstance(text, str):
                values[key] = text.lower()
                if text.lower() not in known:
                    self.refuse(f"{text!r} is no {key}")
        if isinstance(values["actorder"], bool):
            values["actorder"] = "group" if values["actorder"] else None
        size = values["group_size"]
        if values["strategy"] is None:
            values["strategy"] = "tensor" if size is None else "channel" if size == -1 else "group"
        self.check(values, size)

    def check(self, values: dict[str, Value], size: Value) -> None:
        """Combinations that the library refuses."""
        strategy, dynamic = values["strategy"], values["dynamic"]
        positive = isinstance(size, int) and size > 0
        if (strategy in GROUPED) != positive:
            self.refuse("a group size and a group strategy go together")
        if (strategy == "block") != (values["block_structure"] is not None):
            self.refuse("a block structure and a block strategy go together")
        if strategy == "token" and not dynamic:
            self.refuse("quantization per token is dynamic")
        if dynamic and strategy not in ("token", "tensor", *GROUPED):
            self.refuse(f"{strategy} is not dynamic")

    def refuse(self, message: str) -> None:
        """The library's own error."""
        raise self.machine.error("ValueError", message)


def _fill(standins: Standins, module: Module) -> None:
    extra = standins.world.extra
    formats = extra.get("compressed_tensors")
    if formats is None or formats.machine is not standins.machine:
        formats = extra["compressed_tensors"] = Formats(standins)
    module.ns.update(formats.names)


BUILDERS: dict[str, Any] = {
    "compressed_tensors": _fill,
    "compressed_tensors.config": _fill,
    "compressed_tensors.config.base": _fill,
    "compressed_tensors.quantization": _fill,
    "compressed_tensors.quantization.quant_args": _fill,
}
