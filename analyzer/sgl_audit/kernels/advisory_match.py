"""Which advisories speak of a value on a capability, and whether they apply to these versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from sgl_audit.model.kernels import Advisory, AdvisoryHit, AdvisoryValue, HitState, Outcome

HARDWARE = "hardware"
# Distributions that were renamed or are published per CUDA version.
_LIBRARY_NAMES = {
    "sgl-kernel": ("sgl-kernel", "sglang-kernel"),
    "sglang-kernel": ("sgl-kernel", "sglang-kernel"),
    "flashinfer-python": ("flashinfer-python", "flashinfer"),
    "aiter": ("aiter", "amd-aiter"),
    "nvidia-cudnn": ("nvidia-cudnn", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13"),
}
_ATTENTION = "attention_backend"
_WORST_FIRST = (Outcome.WRONG, Outcome.FAILS, Outcome.SLOW, Outcome.WORKS)


def matching(
    advisories: Iterable[Advisory],
    *,
    option: str,
    value: object,
    capability: str,
    pins: Mapping[str, str | None],
    sglang_version: str | None,
    facts: Mapping[str, str | None],
) -> tuple[AdvisoryHit, ...]:
    """The advisories that speak of `option` = `value` on `capability`, the worst first.

    Args:
        value: resolved value; booleans count as "true" and "false".
        capability: capability name ("sm120").
        pins: distribution name -> exact version, or None where it is not known.
        facts: what else is known of the launch ("quantization": "NVFP4"); a name that is missing
            or None is unknown, which makes the state MAY_APPLY and never hides an advisory. Say
            "none" for an option that is known to be unset.
    """
    text = str(value).lower() if isinstance(value, bool) else str(value)
    versions = {_canonical(name): version for name, version in pins.items()}
    hits = []
    for advisory in advisories:
        outcome = advisory.outcome(capability)
        found = next(_entries(advisory, option, text, facts), None)
        if outcome is None or found is None:
            continue
        state, reason = _state(advisory, found, versions, sglang_version, facts)
        hits.append(AdvisoryHit(advisory, found, capability, outcome, state, reason))
    states = tuple(HitState)
    hits.sort(
        key=lambda hit: (
            states.index(hit.state),
            _WORST_FIRST.index(hit.outcome),
            hit.advisory.id,
        )
    )
    return tuple(hits)


@lru_cache(maxsize=4096)
def _canonical(name: str) -> str:
    return str(canonicalize_name(name))


def _entries(
    advisory: Advisory, option: str, text: str, facts: Mapping[str, str | None]
) -> Iterator[AdvisoryValue]:
    """Entries that match, those whose further facts are all known first."""
    found = [
        entry
        for entry in advisory.values
        if _same_option(entry, option)
        and entry.value in ("*", text)
        and all(_holds(wanted, facts.get(name)) is not False for name, wanted in entry.when)
    ]
    yield from sorted(found, key=lambda entry: len(_unknown_facts(entry, facts)))


def _same_option(entry: AdvisoryValue, option: str) -> bool:
    """Older releases say nsa_ for dsa_; attention_backend sets prefill and decode at once."""
    asked = option.replace("nsa_", "dsa_", 1) if option.startswith("nsa_") else option
    named = entry.option.replace("nsa_", "dsa_", 1) if entry.option[:4] == "nsa_" else entry.option
    if named != _ATTENTION:
        return asked == named
    stages = (entry.stage,) if entry.stage else ("prefill", "decode")
    return asked in (_ATTENTION, *(f"{stage}_{_ATTENTION}" for stage in stages))


def _state(
    advisory: Advisory,
    entry: AdvisoryValue,
    versions: Mapping[str, str | None],
    sglang_version: str | None,
    facts: Mapping[str, str | None],
) -> tuple[HitState, str]:
    checks = [(advisory.library, advisory.versions, _pinned(advisory.library, versions))]
    if advisory.library == "sglang":
        checks = [("sglang", advisory.versions, sglang_version)]
    if advisory.sglang:
        checks.append(("sglang", advisory.sglang, sglang_version))
    known, unknown = [], []
    for name, specifier, version in checks:
        if not specifier or name == HARDWARE:
            continue
        inside = _inside(specifier, version)
        if inside is False:
            return HitState.OUTSIDE, f"{name} {version} is outside {specifier}"
        words = f"{name} {version} is in {specifier}"
        known.append(words) if inside else unknown.append(
            f"library version unknown: {name}, the advisory is for {specifier}"
        )
    unknown += [f"{name} is not known" for name in _unknown_facts(entry, facts)]
    if unknown:
        return HitState.MAY_APPLY, "; ".join(unknown)
    return HitState.APPLIES, "; ".join(known) or "it holds for every version"


def _pinned(library: str, versions: Mapping[str, str | None]) -> str | None:
    return next((versions[name] for name in library_names(library) if versions.get(name)), None)


def library_names(library: str) -> tuple[str, ...]:
    """The distributions under which a library was published."""
    return _LIBRARY_NAMES.get(library, (library,))


def _inside(specifier: str, version: str | None) -> bool | None:
    """None where the version is missing or unreadable. Pre-releases count: SGLang pins them."""
    if version is None:
        return None
    try:
        return SpecifierSet(specifier).contains(Version(version), prereleases=True)
    except (InvalidVersion, InvalidSpecifier):
        return None


def _holds(wanted: tuple[str, ...], fact: str | None) -> bool | None:
    """Whether a fact is one of the wanted texts or inside one of the wanted ranges."""
    if fact is None:
        return None
    answers = [
        _inside(text, fact) if text[0] in "<>=!~" else text.lower() == fact.lower()
        for text in wanted
    ]
    return True if True in answers else (None if None in answers else False)


def _unknown_facts(entry: AdvisoryValue, facts: Mapping[str, str | None]) -> list[str]:
    return [name for name, wanted in entry.when if _holds(wanted, facts.get(name)) is None]
