"""Stand-ins for what lies outside the tree, in one table.

Every outside name is one of four kinds, decided here and never in an operator:

* known: a stand-in computes it and says what it assumes;
* opaque: it certainly exists, is not None, is true, and equals only itself;
* absent: it does not exist (`hasattr(torch, "npu")` is False, `import vllm` fails);
* unknown: nothing is assumed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sgl_audit.evaluate.standins.exists import Existing
from sgl_audit.evaluate.standins.files import Files
from sgl_audit.evaluate.standins.hub import models_package
from sgl_audit.evaluate.standins.typing_module import Typing
from sgl_audit.evaluate.values import MISSING, Module, Native, Opaque, Unknown, Value

if TYPE_CHECKING:
    from sgl_audit.evaluate.machine import Machine
    from sgl_audit.evaluate.world import World

Builder = Callable[["Standins", Module], None]

# Decorators outside the tree that give back what they get, by the last part of their name.
TRANSPARENT = frozenset(
    [
        "no_grad",
        "inference_mode",
        "compile",
        "disable",
        "override",
        "final",
        "runtime_checkable",
        "deprecated",
        "allow_in_graph",
        "torch_compile",
        "annotate",
        "dont_skip_tracing",
        "assume_constant_result",
        "add_start_docstrings",
        "auto_docstring",
        "unused",
        "export",
        "script",
    ]
)
# Names that certainly do not exist although their module does.
ABSENT = {
    "torch": {
        "npu",
        "hpu",
        "musa",
        "mlu",
        "supa",
        "gcu",
        "privateuseone",
        "float4_e2m1fn_x2_missing",
    },
    "torch.version": {"musa"},
    "torch.ops": {"npu"},
}


class Standins:
    """Modules outside the tree.

    Attributes:
        world: the machine, packages and environment they answer from.
    """

    def __init__(self, machine: Machine, world: World) -> None:
        self.machine = machine
        self.world = world
        self.existing = Existing(self)
        self.typing = Typing(self)
        self.files = Files(self)
        self.builders = _builders()

    def exists(self, name: str) -> bool:
        """Whether a module outside the tree exists."""
        root = name.split(".")[0]
        if name in self.builders:
            return self.existing.root(root)
        if root in sys.stdlib_module_names:
            return True
        return self.existing.root(root) and self.existing.submodule(name)

    def module(self, name: str) -> Module:
        """A new, empty stand-in module."""
        module = Module(name)
        module.state = "loaded"
        module.ns["__package__"] = name
        return module

    def fill(self, module: Module) -> None:
        """Put in what the table knows. The module must be registered: builders load submodules."""
        name = module.name
        builder = self.builders.get(name)
        if builder is None and name.startswith("transformers.models."):
            builder = models_package
        if builder is not None:
            builder(self, module)
        version = self.existing.version_of_module(name)
        if version is not None:
            module.ns.setdefault("__version__", version)
        module.ns["__spec__"] = Opaque(f"{name}.__spec__")
        module.ns["__path__"] = [name]

    def attribute(self, module: Module, name: str) -> Value:
        """A name that a stand-in module does not define: opaque where it may exist."""
        if name in ABSENT.get(module.name, ()):
            return MISSING
        if name == "__version__" and self._has_version(module.name):
            text = f"version of {module.name}"
            return Unknown(text, "no version of it is required", ("version", text), "version")
        if name.startswith("__") and name.endswith("__"):
            return MISSING
        full = f"{module.name}.{name}"
        if full in self.builders:
            return self.machine.imports.load(full)
        if self.existing.absent_name(module.name, name):
            return MISSING
        return self.machine.imports.opaque(full)

    def _has_version(self, name: str) -> bool:
        """Whether a module is the top of an installed distribution."""
        return "." not in name and name not in sys.stdlib_module_names

    def opaque_attribute(self, owner: Opaque, name: str) -> Value:
        """An attribute of an opaque value."""
        if name in ABSENT.get(owner.name, ()):
            return MISSING
        if name in ("__name__", "__qualname__"):
            return owner.name.rpartition(".")[2]
        if name == "__module__":
            return owner.name.rpartition(".")[0]
        if name.startswith("__") and name.endswith("__") and name not in ("__call__", "__init__"):
            return MISSING
        return self.machine.imports.opaque(f"{owner.name}.{name}")

    def is_transparent(self, name: str) -> bool:
        """Whether an outside decorator gives back what it gets."""
        last = name.removesuffix("(...)").rpartition(".")[2]
        return last in TRANSPARENT

    def native(self, name: str, run: Callable[..., Any], raw: bool = False) -> Native:
        """A stand-in function from a Python function on values."""
        return Native(name, lambda args, kwargs: run(*args, **kwargs), raw=raw)

    def define(self, module: Module, raw: bool = False, **functions: Callable[..., Any]) -> None:
        """Put stand-in functions into a module."""
        for name, run in functions.items():
            module.ns[name] = self.native(f"{module.name}.{name}", run, raw)


def _builders() -> dict[str, Builder]:
    from sgl_audit.evaluate.standins import (
        argparse_module,
        compressed_tensors_module,
        containers,
        dataclasses_module,
        enum_module,
        functional,
        hub,
        importing,
        iterators,
        msgspec_module,
        processes,
        pure,
        system,
        torch_module,
        yaml_module,
    )

    table: dict[str, Builder] = {}
    for part in (
        pure,
        iterators,
        functional,
        containers,
        dataclasses_module,
        enum_module,
        msgspec_module,
        importing,
        system,
        processes,
        torch_module,
        argparse_module,
        hub,
        compressed_tensors_module,
        yaml_module,
    ):
        table.update(part.BUILDERS)
    table["typing"] = table["typing_extensions"] = lambda standins, module: standins.typing.fill(
        module
    )
    return table
