"""What kernels exist: device images in prebuilt binaries, and advisories kept as data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from sgl_audit.model.source import Diagnostic


class ImageKind(StrEnum):
    """What one device image holds."""

    CUBIN = "cubin"
    PTX = "ptx"
    LTO = "lto-ir"
    HIP = "hip"
    UNKNOWN = "unknown"


class Answer(StrEnum):
    """Three-valued: an unread image never counts as covered, nor as missing."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class DeviceImage:
    """One device image of a fat binary.

    Attributes:
        number: CUDA architecture as in sm_120, None for HIP and where it was not understood.
        variant: "" (plain), "a" (exact architecture), "f" (family), None where not known.
        target: HIP target as the bundle names it ("gfx942:xnack-"), else "".
        basis: which bytes the answer rests on ("fatbin header, cubin e_flags").
        reason: why it was not understood, else "".
    """

    kind: ImageKind
    number: int | None = None
    variant: str | None = ""
    target: str = ""
    basis: str = ""
    reason: str = ""

    @property
    def label(self) -> str:
        """As CUDA names it: sm_90a, compute_90, lto_90, gfx942, or "unknown"."""
        if self.kind is ImageKind.HIP:
            return self.target
        if self.number is None or self.kind is ImageKind.UNKNOWN:
            return "unknown"
        prefix = {ImageKind.PTX: "compute_", ImageKind.LTO: "lto_"}.get(self.kind, "sm_")
        return f"{prefix}{self.number}{'?' if self.variant is None else self.variant}"


@dataclass(frozen=True, slots=True)
class FatBinary:
    """Images of which the driver takes one; usually one per translation unit.

    Attributes:
        section: ELF section it lies in, or "" for a file that is itself the container.
        offset: byte offset in the shared object.
        relocatable: input of a device link, which no driver loads by itself.
    """

    section: str
    offset: int
    images: tuple[DeviceImage, ...]
    relocatable: bool = False


@dataclass(frozen=True, slots=True)
class SharedObject:
    """One library with device code. `size` is in bytes; `name` is its path in the wheel."""

    name: str
    size: int
    fatbins: tuple[FatBinary, ...]

    @property
    def images(self) -> tuple[DeviceImage, ...]:
        """Every image, in file order."""
        return tuple(image for fatbin in self.fatbins for image in fatbin.images)

    @property
    def labels(self) -> tuple[tuple[str, int], ...]:
        """Image label -> how many, sorted by label with numbers in numeric order."""
        counts = Counter(image.label for image in self.images)
        order = {image.label: (image.kind, image.number or 0) for image in self.images}
        return tuple(sorted(counts.items(), key=lambda item: (order[item[0]], item[0])))


@dataclass(frozen=True, slots=True)
class BinaryReport:
    """What a FILE.whl or FILE.so carries.

    Attributes:
        label: file name as reports show it.
        examined: how many libraries were looked at, with or without device code.
        objects: those with device code, in file order.
        diagnostics: what could not be read, or the sentence that there is no device code.
    """

    label: str
    examined: int
    objects: tuple[SharedObject, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def images(self) -> tuple[DeviceImage, ...]:
        """Every image of every library, in file order."""
        return tuple(image for item in self.objects for image in item.images)


@dataclass(frozen=True, slots=True)
class ObjectCoverage:
    """Whether one shared object has code for a capability.

    Attributes:
        covered: fat binaries with an image that runs there.
        total: fat binaries with any image.
    """

    name: str
    answer: Answer
    reason: str
    covered: int
    total: int


@dataclass(frozen=True, slots=True)
class CoverageAnswer:
    """Whether a binary has code for a capability; UNKNOWN also where only part of it has."""

    capability: str
    answer: Answer
    reason: str
    objects: tuple[ObjectCoverage, ...] = ()


class Certainty(StrEnum):
    """How well an advisory is supported."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Outcome(StrEnum):
    """What an advisory says of a capability."""

    WORKS = "works"
    SLOW = "slow"
    FAILS = "fails"
    WRONG = "wrong"


class HitState(StrEnum):
    """Whether an advisory that matches by value applies to this launch."""

    APPLIES = "applies"
    MAY_APPLY = "may apply"
    OUTSIDE = "version outside"


@dataclass(frozen=True, slots=True)
class AdvisoryValue:
    """One SGLang setting that leads to the kernel.

    Attributes:
        value: as text ("true" for a boolean), or "*" for any value of the option.
        stage: "prefill", "decode", or None where both are meant.
        when: further facts, name -> accepted texts; all must hold.
    """

    option: str
    value: str
    stage: str | None = None
    when: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Advisory:
    """One fact that the source cannot tell.

    Attributes:
        library: canonical distribution name, or "hardware" where no version matters.
        versions: PEP 440 specifier of the library, "" for all.
        sglang: PEP 440 specifier of SGLang, "" for all.
        works, fails, wrong, slow: capability names.
        effect: what happens, one short sentence.
        date: ISO day on which the entry was last revised.
        note: limits and corrections, or "".
        origin: file it was read from.
    """

    id: str
    title: str
    library: str
    versions: str
    values: tuple[AdvisoryValue, ...]
    effect: str
    sources: tuple[str, ...]
    certainty: Certainty
    date: str
    works: tuple[str, ...] = ()
    fails: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    slow: tuple[str, ...] = ()
    sglang: str = ""
    note: str = ""
    origin: str = ""

    def outcome(self, capability: str) -> Outcome | None:
        """The worst that is said of the capability, or None where nothing is said."""
        named = (
            (Outcome.WRONG, self.wrong),
            (Outcome.FAILS, self.fails),
            (Outcome.SLOW, self.slow),
            (Outcome.WORKS, self.works),
        )
        return next((outcome for outcome, names in named if capability in names), None)


@dataclass(frozen=True, slots=True)
class AdvisoryHit:
    """An advisory that speaks of this value on this capability.

    Attributes:
        value: the entry of the advisory that matched.
        reason: why the state is what it is ("library version unknown: ...").
    """

    advisory: Advisory
    value: AdvisoryValue
    capability: str
    outcome: Outcome
    state: HitState
    reason: str
