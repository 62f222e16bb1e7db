"""Pinned versions that differ."""

from __future__ import annotations

from collections.abc import Iterator

from sgl_audit.model.review import Change, ChangeKind, ChangeSubject
from sgl_audit.model.source import Distribution, SourceInfo

# Distributions that go on under another name.
_SUCCESSORS = {"sgl-kernel": "sglang-kernel", "flashinfer": "flashinfer-python"}
# What kernels come from, or what decides which of them can be used.
KERNEL_LIBRARIES = (
    "flashinfer-python",
    "sglang-kernel",
    "torch",
    "transformers",
    "flash-attn-4",
    "triton",
    "nvidia-cutlass-dsl",
    "quack-kernels",
    "xgrammar",
    "cuda-python",
)


def pin_changes(old: SourceInfo, new: SourceInfo) -> Iterator[Change]:
    """Requirements of the distribution that differ."""
    before, after = _requirements(old.distribution), _requirements(new.distribution)
    for name in sorted({*before, *after}):
        was, now = before.get(name), after.get(name)
        if was == now:
            continue
        shown = f"{was if was is not None else 'not required'} -> "
        shown += now if now is not None else "not required"
        yield Change(
            ChangeKind.INFORMATIONAL,
            ChangeSubject.PIN,
            name,
            f"{name} {shown}",
            before=was or "",
            after=now or "",
            backend=name in KERNEL_LIBRARIES,
            weight=len(KERNEL_LIBRARIES) - KERNEL_LIBRARIES.index(name)
            if name in KERNEL_LIBRARIES
            else 0,
        )


def _requirements(distribution: Distribution) -> dict[str, str]:
    """Name -> version where it is exact, else the range; unconditional ones only."""
    found: dict[str, str] = {}
    for pin in distribution.requires:
        if pin.extra is None:
            name = _SUCCESSORS.get(pin.name, pin.name)
            found[name] = distribution.pin(pin.name) or pin.specifier or "any version"
    return found


def pins_of(info: SourceInfo) -> dict[str, str | None]:
    """Exact versions by distribution name, as advisories are matched against."""
    return {pin.name: pin.version for pin in info.distribution.requires if pin.extra is None}
