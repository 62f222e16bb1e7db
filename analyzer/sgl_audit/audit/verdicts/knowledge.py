"""What is known of kernel libraries: FlashInfer's own source, binaries, advisories, versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sgl_audit.answers import tree_key
from sgl_audit.kernels.advisory_match import library_names
from sgl_audit.model.kernels import Advisory, AdvisoryHit, BinaryReport, HitState
from sgl_audit.model.requirements import FunctionRequirements, KernelRequirements
from sgl_audit.model.source import Diagnostic, SourceInfo, SourceTree

if TYPE_CHECKING:
    from sgl_audit.kernels.flashinfer.reading import Reader

FLASHINFER = "flashinfer-python"


@dataclass(slots=True)
class Knowledge:
    """What verdicts rest on besides the tree itself.

    Attributes:
        pins: distribution -> exact version where it is known.
        flashinfer: FlashInfer's source, or None where it is not read (`missing` says why).
        binaries: what was read of prebuilt wheels, by the name of the package they hold.
    """

    tree: SourceTree
    advisories: tuple[Advisory, ...]
    pins: Mapping[str, str | None]
    flashinfer: SourceTree | None = None
    missing: str = "its source was not read"
    binaries: Mapping[str, BinaryReport] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    _reader: Reader | None = None
    _known: dict[str, FunctionRequirements | None] = field(default_factory=dict)

    @property
    def info(self) -> SourceInfo:
        """What the analysed tree is."""
        return self.tree.info

    @property
    def version(self) -> str:
        """FlashInfer's version as text."""
        return self.pins.get(FLASHINFER) or "(version unknown)"

    @property
    def parts(self) -> tuple[object, ...]:
        """All that verdicts depend on besides the tree, for the names of kept answers."""
        return (
            tree_key(self.flashinfer),
            self.missing,
            self.advisories,
            sorted(self.pins.items()),
            sorted(self.binaries.items()),
            self.diagnostics,
        )

    def concerns(self, hit: AdvisoryHit) -> bool:
        """False for a library that this release does not bring along at all."""
        requires = self.info.distribution.requires
        if hit.state is not HitState.MAY_APPLY or not requires or not hit.advisory.versions:
            return True
        names = library_names(hit.advisory.library)
        # What others bring along (Triton with torch) is there without being required.
        own = hit.advisory.library.startswith("sgl-")
        return not own or any(name in self.pins for name in names)

    def function(self, name: str) -> FunctionRequirements | None:
        """What FlashInfer's source says of a function, by any name that it is exported under.

        None where there is no source, no such function, or nothing is said of it.
        """
        if self.flashinfer is None:
            return None
        if name not in self._known:
            from sgl_audit.kernels.flashinfer.reading import aside

            with aside():
                self._known[name] = self._read(name)
        return self._known[name]

    def requirements(self) -> KernelRequirements | None:
        """What FlashInfer's source requires of the device; None where it is not read."""
        if self.flashinfer is None:
            return None
        from sgl_audit.kernels.flashinfer.reading import aside, read_requirements

        with aside():
            return read_requirements(self.flashinfer)

    def _read(self, name: str) -> FunctionRequirements | None:
        if self._reader is None:
            from sgl_audit.kernels.flashinfer.reading import Reader

            assert self.flashinfer is not None
            self._reader = Reader(self.flashinfer)
        found = self._reader.library.resolve(name)
        return None if found is None else self._reader.function(f"{found[0].name}.{found[1]}")


def pins_of(
    info: SourceInfo, assume: Iterable[tuple[str, str]], flashinfer: SourceTree | None
) -> dict[str, str | None]:
    """Exact versions: what the distribution pins, what is assumed, and what is read."""
    pins: dict[str, str | None] = {pin.name: None for pin in info.distribution.requires}
    for name in pins:
        pins[name] = info.distribution.pin(name)
    for name, value in assume:
        if name == "cudnn":
            pins["nvidia-cudnn"] = value
        elif name.startswith("package."):
            pins[name.removeprefix("package.")] = value
    if flashinfer is not None and flashinfer.info.distribution.version:
        pins[FLASHINFER] = flashinfer.info.distribution.version
    return pins
