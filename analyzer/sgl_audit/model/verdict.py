"""What is known of one value of one option on one capability, and on what that rests."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sgl_audit.model.paths import KernelCall, Site
from sgl_audit.model.source import Place


class Verdict(StrEnum):
    """What is known of one option value on one capability."""

    WORKS = "works"
    SLOW = "slow"
    UNKNOWN = "unknown"
    WRONG = "wrong results reported"
    NO_KERNEL = "no kernel"
    REFUSED = "refused"

    @property
    def good(self) -> bool:
        """Whether a launch may rest on it."""
        return self in (Verdict.WORKS, Verdict.SLOW)

    @property
    def bad(self) -> bool:
        """Whether something is known against it; unknown is neither good nor bad."""
        return self in (Verdict.WRONG, Verdict.NO_KERNEL, Verdict.REFUSED)


ORDER = tuple(Verdict)


def worst(verdicts: tuple[Verdict, ...]) -> Verdict:
    """The worst of several; unknown where there is none."""
    return max(verdicts, key=ORDER.index, default=Verdict.UNKNOWN)


class GroundKind(StrEnum):
    """What a verdict rests on."""

    OWN = "own gates"
    LIBRARY = "library source"
    BINARY = "binary"
    ADVISORY = "advisory"
    EVIDENCE = "evidence"


@dataclass(frozen=True, slots=True)
class Ground:
    """One thing that speaks for a verdict.

    Attributes:
        says: the verdict it speaks for.
        text: one line for the reader.
        place: where it stands in the tree or the library, or None.
        source: the advisory's id, the library with its version, or "".
        call: the library call that it is about, or None.
    """

    kind: GroundKind
    says: Verdict
    text: str
    place: Place | None = None
    source: str = ""
    call: KernelCall | None = None


@dataclass(frozen=True, slots=True)
class ValueVerdict:
    """The verdict on one value.

    Attributes:
        option: name of the option.
        value: the resolved value as text.
        effective: what the layer itself makes of it, where that differs, else "".
        site: where in the model it decides, or None.
        grounds: the deciding ones first.
        undecided: nobody decides on this capability: the default survives to the layer.
    """

    option: str
    value: str
    capability: str
    verdict: Verdict
    grounds: tuple[Ground, ...] = ()
    site: Site | None = None
    effective: str = ""
    undecided: bool = False

    @property
    def reason(self) -> str:
        """The first ground that speaks for the verdict, as text."""
        return next((g.text for g in self.grounds if g.says is self.verdict), "")

    @property
    def place(self) -> Place | None:
        """Where it shows: the call in the tree, else the place of the ground itself."""
        speaking = [ground for ground in self.grounds if ground.says is self.verdict]
        for ground in (*speaking, *self.grounds):
            if ground.call is not None:
                return ground.call.place
            if ground.place is not None:
                return ground.place
        return None


@dataclass(frozen=True, slots=True)
class FlagAdvice:
    """One flag of a recommendation.

    Attributes:
        option: name of the option.
        flag, value: the words to pass.
        reason: what happens without it.
        place: where that happens.
        cost: what it costs, or "".
        others: further values with their verdicts, best first.
    """

    option: str
    flag: str
    value: str
    reason: str
    place: Place | None = None
    cost: str = ""
    others: tuple[ValueVerdict, ...] = ()


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The smallest change of a launch for which every verdict is good, or the best there is.

    Attributes:
        launch: the arguments as given.
        flags: what to add, in the order in which they are needed; empty where nothing is.
        before: verdicts of the launch as given.
        after: verdicts with the flags.
        complete: whether every verdict with the flags is good.
        remaining: what keeps it from being complete.
        notes: assumptions and what was not read.
    """

    capability: str
    launch: tuple[str, ...]
    flags: tuple[FlagAdvice, ...]
    before: tuple[ValueVerdict, ...]
    after: tuple[ValueVerdict, ...]
    complete: bool
    remaining: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The flags as one line to copy."""
        return " ".join(f"{item.flag} {item.value}" for item in self.flags)
