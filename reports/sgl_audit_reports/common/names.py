"""Names of capabilities, sources and pinned libraries, as every report writes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import quote

from sgl_audit.model.capability import BY_NAME, CAPABILITIES
from sgl_audit.model.report import Severity
from sgl_audit.model.resolution import Launch
from sgl_audit.model.source import Place, SourceInfo, SourceKind
from sgl_audit_reports.common.text import listed, plural, visible

SEVERITIES: tuple[Severity, ...] = (Severity.ERROR, Severity.WARNING, Severity.NOTE)
_CAPABILITY_ORDER = {capability.name: index for index, capability in enumerate(CAPABILITIES)}
_PINS = (
    ("flashinfer", ("flashinfer-python", "flashinfer")),
    ("sgl-kernel", ("sgl-kernel", "sglang-kernel")),
    ("torch", ("torch",)),
)
_KIND = {
    SourceKind.CHECKOUT: "checkout",
    SourceKind.WHEEL: "wheel",
    SourceKind.PYPI: "PyPI",
    SourceKind.GIT: "git",
    SourceKind.INSTALLED: "installed",
    SourceKind.DEMO: "bundled demonstration tree, not a release",
}


def cards(name: str, limit: int | None = 2) -> str:
    """Card aliases of a capability, or "" where none is known."""
    known = BY_NAME.get(name)
    return listed(known.cards, limit) if known is not None else ""


def capability_label(name: str, limit: int | None = 2) -> str:
    """`sm120 (rtx-pro-6000, rtx-5090, 3 more)`."""
    of_card = cards(name, limit)
    return f"{visible(name)} ({of_card})" if of_card else visible(name)


def launch_label(launch: Launch) -> str:
    """What a launch runs on: `rtx-5090 (sm120)` where a card was named, else as `sm120 (...)`."""
    if launch.card is None:
        return capability_label(launch.capability)
    return f"{visible(launch.card)} ({visible(launch.capability)})"


def launch_column(launch: Launch) -> str:
    """The same as the head of a column: two cards of one capability must not look alike."""
    return visible(launch.card or launch.capability)


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Capability names in the order of the vocabulary, unknown ones last."""
    return tuple(sorted(set(names), key=lambda name: (_CAPABILITY_ORDER.get(name, 999), name)))


def capability_range(names: Sequence[str], asked: Sequence[str]) -> str:
    """Several capabilities in few words: `all 11 capabilities`, `sm75 to sm90, sm120`.

    A range covers what lies between its ends among those asked, nothing else.
    """
    if len(asked) > 3 and set(asked) <= set(names):
        return f"all {len(asked)} capabilities"
    order = in_order([*asked, *names])
    runs: list[list[str]] = []
    for name in order:
        if name not in names:
            runs.append([])
        elif runs:
            runs[-1].append(name)
        else:
            runs.append([name])
    return ", ".join(_run(run) for run in runs if run)


def _run(names: list[str]) -> str:
    shown = [visible(name) for name in names]
    return f"{shown[0]} to {shown[-1]}" if len(shown) > 3 else ", ".join(shown)


def source_heading(info: SourceInfo) -> str:
    """`sglang 0.5.9 (wheel)`, with the label where it adds something."""
    version = info.distribution.version
    name = f"{info.package} {version or '(version unknown)'}"
    kind = _KIND[info.kind]
    commit = f", commit {info.commit[:12]}" if info.commit else ""
    plain = {f"{info.package}=={version}", f"{info.package} {version}", ""}
    # What a wheel's file is called says no more than its name and version.
    usual = info.kind is SourceKind.WHEEL and info.label.startswith(f"{info.package}-{version}-")
    label = "" if usual or info.label in plain or info.label in kind else f" {info.label}"
    return visible(f"{name} ({kind}{label}{commit})")


def pins(info: SourceInfo) -> tuple[tuple[str, str], ...]:
    """The library versions that the distribution pins exactly."""
    found = ((shown, info.distribution.pin(*names)) for shown, names in _PINS)
    return tuple((shown, version) for shown, version in found if version)


def upstream_url(info: SourceInfo, place: Place) -> str | None:
    """Link to the file and line upstream, or None where no https base is known."""
    if info.upstream is None or not info.upstream.startswith("https://"):
        return None
    base = info.upstream if info.upstream.endswith("/") else info.upstream + "/"
    return f"{base}{quote(place.file, safe='/')}#L{place.line}"


def severity_counts(severities: Iterable[Severity]) -> str:
    """`3 errors, 4 warnings, 9 notes`."""
    seen = list(severities)
    return ", ".join(plural(seen.count(severity), severity.value) for severity in SEVERITIES)
