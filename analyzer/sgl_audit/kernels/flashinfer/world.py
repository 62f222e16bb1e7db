"""The world in which FlashInfer's own code is asked: every capability at once, one per device.

Assumes CUDA and cuDNN as the evaluator's defaults; `cuda:N` is a device of compute capability N, so
that one load of the modules answers for all of them. A device without such a number is the current
one, which `asking` sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from packaging.version import Version

from sgl_audit.evaluate.session import Session
from sgl_audit.evaluate.standins import Standins
from sgl_audit.evaluate.values import Instance, Module, Native, Unknown, Value
from sgl_audit.evaluate.world import make_world
from sgl_audit.kernels.flashinfer.library import Library
from sgl_audit.model.source import Distribution

# NVIDIA's published compute capabilities from Turing on, as far as FlashInfer names them; 107 is
# Rubin, for which SGLang has no card yet.
NUMBERS = (75, 80, 86, 87, 89, 90, 100, 103, 107, 110, 120, 121)
LOADED_ON = "sm100"
CURRENT = "flashinfer.current"


def make_session(library: Library) -> Session:
    """A session over the library in which `cuda:N` has capability N."""
    info = library.tree.info
    world = make_world(LOADED_ON, info.distribution or Distribution(info.package, None))
    session = Session(library.program, world)
    standins = session.imports.standins
    standins.builders.update(
        {
            "torch.cuda": _cuda_of(standins.builders["torch.cuda"]),
            "torch.torch_version": _torch_version,
        }
    )
    _cudnn_frontend(session)
    return session


def _cudnn_frontend(session: Session) -> None:
    """`cudnn` is there where the distribution requires its front end, in the assumed version."""
    world, standins = session.world, session.imports.standins
    if not any(pin.name == "nvidia-cudnn-frontend" for pin in world.distribution.requires):
        return

    def fill(standins: Standins, module: Module) -> None:
        backends = standins.machine.imports.load("torch.backends")
        module.ns["backend_version"] = backends.ns["cudnn"].d["version"]

    standins.existing.roots.add("cudnn")
    standins.builders["cudnn"] = fill


def device(session: Session, number: int) -> Value:
    """The device that stands for one compute capability."""
    cls = session.imports.load("torch").ns["device"]
    return session.machine.call(cls, ["cuda", number], {})


@contextmanager
def asking(session: Session, number: int) -> Iterator[None]:
    """Make devices of one capability the current ones; what runs inside is undone."""
    extra = session.world.extra
    before = extra.get(CURRENT)
    extra[CURRENT] = number
    try:
        with session.launch():
            yield
    finally:
        extra[CURRENT] = before


def _number(standins: Standins, given: Value) -> int:
    index = given.d.get("index") if isinstance(given, Instance) else given
    if isinstance(index, int) and index in NUMBERS:
        return index
    return standins.world.extra.get(CURRENT) or standins.world.capability.number


def _cuda_of(base: Any) -> Any:
    def fill(standins: Standins, module: Module) -> None:
        base(standins, module)
        properties = module.ns["get_device_properties"]

        def capability(args: list[Value], kwargs: dict[str, Value]) -> Value:
            given = args[0] if args else kwargs.get("device")
            if isinstance(given, Unknown):
                return given.derive("its compute capability", "capability")
            return divmod(_number(standins, given), 10)

        def of_device(args: list[Value], kwargs: dict[str, Value]) -> Value:
            item = properties.run(args, kwargs)
            found = capability(args, kwargs)
            known = isinstance(found, tuple)
            item.d["major"], item.d["minor"] = found if known else (found, found)
            return item

        for name, run in (
            ("get_device_capability", capability),
            ("get_device_properties", of_device),
        ):
            module.ns[name] = Native(f"torch.cuda.{name}", run, raw=True)

    return fill


def _torch_version(standins: Standins, module: Module) -> None:
    """`TorchVersion` compares like the version it is given."""
    standins.define(module, TorchVersion=lambda text: Version(str(text)))
    module.ns["__version__"] = standins.machine.imports.load("torch").ns["__version__"]
