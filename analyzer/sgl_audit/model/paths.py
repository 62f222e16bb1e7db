"""Where a resolved launch ends up: the layers, and the library calls that they make."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sgl_audit.model.source import Place


class Site(StrEnum):
    """Which part of a model makes the calls."""

    EXPERTS = "experts"
    LINEAR = "linear"
    OTHER = "other attention layers"
    PREFILL = "attention prefill"
    DECODE = "attention decode"


@dataclass(frozen=True, slots=True)
class Hop:
    """One function on the way to a call, and the line in it where the way goes on."""

    function: str
    place: Place


@dataclass(frozen=True, slots=True)
class KernelCall:
    """One call that leaves the tree.

    Attributes:
        library: "flashinfer", "sgl_kernel", "triton", "torch", ...
        function: as the library is asked for it ("flashinfer.mm_fp4").
        arguments: keyword arguments that are known text, numbers or switches.
        when: what has to hold besides the launch; empty where the call is certain.
        via: from the layer's method to the function that makes the call.
    """

    library: str
    function: str
    place: Place
    arguments: tuple[tuple[str, str], ...] = ()
    when: tuple[str, ...] = ()
    via: tuple[Hop, ...] = ()

    def argument(self, name: str) -> str | None:
        """The text of one keyword argument, or None."""
        return next((value for key, value in self.arguments if key == name), None)


@dataclass(frozen=True, slots=True)
class LayerPath:
    """What one kind of layer does in this launch.

    Attributes:
        method: class that does the work (a quantization method, an attention back end).
        place: where that class is defined.
        layer: class of the layer, or "".
        runner: the back end that the layer itself settled on, or "".
        asked: run-time settings that were read on the way.
        prepares: calls made once, while the weights are prepared.
        refused: what the layer itself raises in this launch, as text with its place, or "".
        gaps: what could not be followed, each with its reason.
    """

    site: Site
    layer: str
    method: str
    place: Place | None
    runner: str = ""
    asked: tuple[str, ...] = ()
    calls: tuple[KernelCall, ...] = ()
    prepares: tuple[KernelCall, ...] = ()
    refused: str = ""
    refused_place: Place | None = None
    gaps: tuple[str, ...] = ()

    @property
    def certain(self) -> tuple[KernelCall, ...]:
        """Calls that are made whatever is not known."""
        return tuple(call for call in self.calls if not call.when)
