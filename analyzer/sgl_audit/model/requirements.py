"""What a kernel library's own source requires of the device, per function and backend."""

from __future__ import annotations

from dataclasses import dataclass

from sgl_audit.model.kernels import Answer
from sgl_audit.model.source import Diagnostic, Place


@dataclass(frozen=True, slots=True)
class Support:
    """On which compute capabilities something works, as its source declares it.

    Attributes:
        numbers: capabilities as numbers (120 for sm_120), sorted; None where not known.
        place: the declaration.
        reason: why it is not known, or what the answer rests on; "" for a plain declaration.
    """

    numbers: tuple[int, ...] | None
    place: Place | None = None
    reason: str = ""

    def answer(self, number: int) -> Answer:
        """Whether the capability with that number is supported."""
        if self.numbers is None:
            return Answer.UNKNOWN
        return Answer.YES if number in self.numbers else Answer.NO


@dataclass(frozen=True, slots=True)
class BackendSupport:
    """One backend that a function accepts by name."""

    name: str
    support: Support


@dataclass(frozen=True, slots=True)
class JitGenerator:
    """A function that prepares a module to be compiled on first use.

    Attributes:
        name: defining module and function.
        majors: major versions for which it can be compiled, None where the source names no limit
            or the limit could not be read (`reason` says which).
        targets: exact nvcc architectures it is compiled for ("90a", "120f"), where it names them.
        place: the statement with the limit, else the definition.
    """

    name: str
    majors: tuple[int, ...] | None
    targets: tuple[str, ...]
    place: Place
    reason: str = ""

    @property
    def limited(self) -> bool:
        """Whether the source names a limit that was read."""
        return self.majors is not None or bool(self.targets)

    def may_run(self, number: int) -> bool:
        """False where what it compiles certainly has no code for the capability."""
        if not self.limited:
            return True
        if self.majors is not None and number // 10 in self.majors:
            return True
        return any(_target_runs(target, number) for target in self.targets)


def _target_runs(target: str, number: int) -> bool:
    digits = int(target.rstrip("af"))
    if target.endswith("a"):
        return digits == number
    return digits // 10 == number // 10 and digits <= number


@dataclass(frozen=True, slots=True)
class JitReach:
    """A generator that a function leads to.

    Attributes:
        via: the places where each function of the chain names the next one.
    """

    generator: JitGenerator
    via: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class CapabilityCheck:
    """A refusal in the code itself: `if major not in (10,): raise`.

    Attributes:
        function: the function that holds it; another one where it is called on every path.
        refused: capabilities on which it certainly raises, sorted.
        unknown: capabilities for which the condition could not be evaluated, sorted.
        condition: the source text of the test.
        backend: the backend for which it stands, None for all.
    """

    function: str
    refused: tuple[int, ...]
    unknown: tuple[int, ...]
    condition: str
    place: Place
    backend: str | None = None


@dataclass(frozen=True, slots=True)
class AutoOrder:
    """What `backend="auto"` tries on one capability, best first; None where not known."""

    number: int
    backends: tuple[str, ...] | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FunctionRequirements:
    """What one library function needs.

    Attributes:
        name: defining module and qualified name.
        place: where it is declared (the decorator, else the definition).
        any: capabilities on which at least one backend works.
        declared: whether `any` is the library's own declaration.
        backends: those accepted by name, in declared order.
        auto: order of automatic selection per capability; empty where there is none to read.
        auto_reason: why `auto` is empty although the function has such a choice, else "".
        jit: generators reached; an upper bound, since a module may be compiled and still lack a
            kernel.
        other_kernels: libraries besides nvcc modules that the chain names ("triton", "cudnn"), so
            that the generators are not the whole story.
        checks: refusals that stand in its own code.
    """

    name: str
    place: Place
    any: Support
    declared: bool
    backends: tuple[BackendSupport, ...] = ()
    auto: tuple[AutoOrder, ...] = ()
    auto_reason: str = ""
    jit: tuple[JitReach, ...] = ()
    other_kernels: tuple[str, ...] = ()
    checks: tuple[CapabilityCheck, ...] = ()

    def backend(self, name: str) -> BackendSupport | None:
        """The backend of that name, or None."""
        return next((item for item in self.backends if item.name == name), None)


@dataclass(frozen=True, slots=True)
class KernelRequirements:
    """Everything that a FlashInfer source says of where its functions work.

    Attributes:
        version: of the distribution, None where it does not say.
        numbers: the compute capabilities that were asked, sorted.
        functions: sorted by name.
        generators: every JIT generator with its limit, sorted by name.
        assumptions: facts that an answer rests on ("cuda", "cudnn") with the value taken.
    """

    version: str | None
    numbers: tuple[int, ...]
    functions: tuple[FunctionRequirements, ...]
    generators: tuple[JitGenerator, ...] = ()
    assumptions: tuple[tuple[str, str], ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    def get(self, name: str) -> FunctionRequirements | None:
        """The function of that full name, or None."""
        return next((item for item in self.functions if item.name == name), None)
