"""Runs laid beside an answer: which count there, and why the others do not."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from sgl_audit.model.evidence import Evidence, JoinedRun
from sgl_audit.probe.command import CPU_ENGINE, without_address
from sgl_audit.probe.masking import MASK

# Paths and places of caches decide nothing.
_DECIDES = re.compile(r"^(?:SGLANG|SGL|FLASHINFER)_(?!.*(?:CACHE|DIR|PATH|LOG|TRACE|PORT)(?:_|$))")


def join(
    runs: Iterable[Evidence],
    version: str | None,
    capabilities: Collection[str],
    argv: Sequence[str] | None = None,
    environment: Iterable[tuple[str, str]] = (),
) -> tuple[JoinedRun, ...]:
    """Every run, those that count first; the order of time within each.

    Args:
        version: of the SGLang that the answer is about.
        argv: of the launch that it is about, where it is about one.
        environment: of that launch.
    """
    variables = dict(environment)
    found = [JoinedRun(run, foreign(run, version, capabilities, argv, variables)) for run in runs]
    return tuple(sorted(found, key=lambda item: bool(item.foreign)))


def foreign(
    run: Evidence,
    version: str | None,
    capabilities: Collection[str],
    argv: Sequence[str] | None,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Why a run does not count, or "" where it does."""
    theirs, device = run.environment.sglang, run.environment.device.capability
    if theirs is None or version is None or theirs != version:
        return f"it ran sglang {theirs or 'of unknown version'}, and this is {version or 'unknown'}"
    if device not in capabilities:
        return f"it ran on {device}, and this is about {', '.join(capabilities)}"
    if argv is not None and _same(run.launch.argv) != _same(argv):
        return "it was another launch"
    if argv is not None:
        return _other_variables(dict(run.launch.environment), environment)
    return ""


def _other_variables(ran: Mapping[str, str], asked: Mapping[str, str]) -> str:
    """SGLang's own variables that one of the two has and the other lacks, or has otherwise."""
    names = {name for name in (*ran, *asked) if _DECIDES.match(name) and name != CPU_ENGINE}
    for name in sorted(names):
        theirs, ours = ran.get(name), asked.get(name)
        if theirs != ours and MASK not in (theirs, ours):
            return f"it ran with {name} {_set(theirs)}, and here it is {_set(ours)}"
    return ""


def _set(value: str | None) -> str:
    return "not set" if value is None else f"set to {value!r}"


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
