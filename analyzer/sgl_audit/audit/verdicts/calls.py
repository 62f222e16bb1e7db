"""What is known of one library call on one capability."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sgl_audit.audit.verdicts.knowledge import Knowledge
from sgl_audit.kernels.binary import covers
from sgl_audit.model.capability import BY_NAME, Vendor
from sgl_audit.model.kernels import Answer
from sgl_audit.model.paths import KernelCall
from sgl_audit.model.requirements import FunctionRequirements, Support
from sgl_audit.model.verdict import Ground, GroundKind, Verdict

# Names of what starts a GEMM or an attention kernel: those are written for an architecture. What
# else a layer calls (activations, alignment, sums) is plain CUDA for every one.
WORK = re.compile(
    r"gemm|mm(?:_|$)|_mm|mla|attn|attention|fmha|xqa|fused_moe|block_scale|scaled|matmul|linear"
    r"|mqa|BatchPrefill|BatchDecode|BatchMLA|flash|marlin|grouped",
    re.IGNORECASE,
)
PLANNING = re.compile(r"\.(?:plan|begin_forward|end_forward|prepare\w*)$|quant|metadata|prepare_")


def decisive(call: KernelCall) -> bool:
    """Whether a call starts a GEMM or an attention kernel."""
    name = call.function.removeprefix(f"{call.library}.")
    return WORK.search(name) is not None and PLANNING.search(name) is None


def grounds_of(call: KernelCall, capability: str, known: Knowledge) -> Iterator[Ground]:
    """What is known of a call; nothing where nothing is."""
    if call.library == "flashinfer":
        yield from flashinfer_grounds(call, capability, known)
    elif call.library == "triton":
        yield Ground(
            GroundKind.LIBRARY,
            Verdict.WORKS,
            f"{call.function} is the tree's own Triton kernel, compiled for the device it runs on",
            call.place,
            "triton",
            call,
        )
    elif call.library == "torch":
        text = f"{call.function} is PyTorch's own"
        yield Ground(GroundKind.LIBRARY, Verdict.WORKS, text, call.place, "torch", call)
    elif call.library in known.binaries:
        yield from binary_grounds(call, capability, known)


def binary_grounds(call: KernelCall, capability: str, known: Knowledge) -> Iterator[Ground]:
    """What the images of a prebuilt library say: without any for the device nothing runs."""
    report = known.binaries[call.library]
    answer = covers(report, BY_NAME[capability])
    if answer.answer is Answer.NO:
        text = f"{report.label} has no code for {capability}: {answer.reason}"
        yield Ground(GroundKind.BINARY, Verdict.NO_KERNEL, text, None, report.label, call)


def flashinfer_grounds(call: KernelCall, capability: str, known: Knowledge) -> Iterator[Ground]:
    """What FlashInfer's own source says of a call."""
    device = BY_NAME[capability]
    name = call.function
    made, _, method = name.rpartition(".")
    if made.rpartition(".")[2][:1].isupper() and method:
        name = made
    function = known.function(name)
    if function is None or device.vendor is not Vendor.NVIDIA:
        return
    backend = call.argument("backend")
    source = f"flashinfer {known.version}"
    for check in function.checks:
        if device.number in check.refused and check.backend in (None, backend):
            text = f"{check.function} refuses {capability}: {check.condition}"
            yield Ground(GroundKind.LIBRARY, Verdict.NO_KERNEL, text, check.place, source, call)
    if function.declared:
        yield from declared(call, function, backend, capability, source)
    else:
        yield from compiled(call, function, capability, source)


def declared(
    call: KernelCall,
    function: FunctionRequirements,
    backend: str | None,
    capability: str,
    source: str,
) -> Iterator[Ground]:
    """What a requirement decorator says."""
    number = BY_NAME[capability].number
    part = function.backend(backend) if backend is not None else None
    support = part.support if part is not None else function.any
    short = function.name.rpartition(".")[2]
    asked = f"{short}(backend={backend})" if part is not None else short
    answer = support.answer(number)
    if answer is Answer.NO:
        text = f"{asked} has kernels for {listed(support)} only"
        yield Ground(GroundKind.LIBRARY, Verdict.NO_KERNEL, text, support.place, source, call)
    elif answer is Answer.YES:
        text = f"{asked} declares {listed(support)}"
        yield Ground(GroundKind.LIBRARY, Verdict.WORKS, text, support.place, source, call)


def compiled(
    call: KernelCall, function: FunctionRequirements, capability: str, source: str
) -> Iterator[Ground]:
    """What the modules that a function compiles on first use are built for."""
    number = BY_NAME[capability].number
    limited = [reach.generator for reach in function.jit if reach.generator.limited]
    able = [generator for generator in limited if generator.may_run(number)]
    short = function.name.rpartition(".")[2]
    whole = len(limited) == len(function.jit)
    if able and whole:
        names = able[0].name.rpartition(".")[2]
        text = f"{short} compiles {names}, which is built for {capability}"
        yield Ground(GroundKind.LIBRARY, Verdict.WORKS, text, able[0].place, source, call)
    elif limited and whole and not able and not function.other_kernels:
        targets = ", ".join(dict.fromkeys(target_text(g.majors, g.targets) for g in limited))
        text = f"{short} is compiled for {targets} only"
        yield Ground(GroundKind.LIBRARY, Verdict.NO_KERNEL, text, limited[0].place, source, call)


def target_text(majors: tuple[int, ...] | None, targets: tuple[str, ...]) -> str:
    """What a module is compiled for, as people say it."""
    parts = [f"SM{major}x" if major > 9 else f"SM{major}{'x'}" for major in majors or ()]
    return ", ".join([*parts, *(f"sm_{target}" for target in targets)])


def listed(support: Support) -> str:
    """The capabilities of a declaration."""
    names = [f"SM{number}" for number in support.numbers or ()]
    return ", ".join(names) if names else "nothing"
