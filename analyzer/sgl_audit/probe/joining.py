"""Runs laid beside an answer: which count there, and why the others do not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from sgl_audit.model.evidence import Evidence, JoinedRun
from sgl_audit.probe.command import without_address


def join(
    runs: Iterable[Evidence],
    version: str | None,
    capabilities: Collection[str],
    argv: Sequence[str] | None = None,
) -> tuple[JoinedRun, ...]:
    """Every run, those that count first; the order of time within each.

    Args:
        version: of the SGLang that the answer is about.
        argv: of the launch that it is about, where it is about one.
    """
    found = [JoinedRun(run, foreign(run, version, capabilities, argv)) for run in runs]
    return tuple(sorted(found, key=lambda item: bool(item.foreign)))


def foreign(
    run: Evidence,
    version: str | None,
    capabilities: Collection[str],
    argv: Sequence[str] | None,
) -> str:
    """Why a run does not count, or "" where it does."""
    theirs, device = run.environment.sglang, run.environment.device.capability
    if theirs is None or version is None or theirs != version:
        return f"it ran sglang {theirs or 'of unknown version'}, and this is {version or 'unknown'}"
    if device not in capabilities:
        return f"it ran on {device}, and this is about {', '.join(capabilities)}"
    if argv is not None and _same(run.launch.argv) != _same(argv):
        return "it was another launch"
    return ""


def _same(argv: Sequence[str]) -> frozenset[str]:
    words = without_address(argv)
    flags, current = [], ""
    for word in words:
        if word.startswith("--"):
            flags.append(current)
            current = word.replace("=", " ", 1)
        else:
            current = f"{current} {word}"
    # The order of flags decides nothing, the order of a flag's words does; the device is the
    # capability, which was compared.
    return frozenset(f for f in (*flags, current) if f and not f.startswith("--device "))
